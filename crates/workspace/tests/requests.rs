//! What an edit needs before it is made: paths that may be used, versions that are right, files that its client has read
//! and that can be replaced without harm.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use emend_edit::patch::{Patch, TextChange, rcs, v4a};
use emend_testkit::Folder;
use emend_workspace::history::undo::Undo;
use emend_workspace::policy::{OnChange, RequireRead};
use emend_workspace::problem::{Again, Code, Kind, Problem};
use emend_workspace::{
    EditContext, Mutex, NotCommitted, Note, Origin, Policy, Readings, Report, Request, RootSpec, Settings,
    Workspace, disk,
};

/// A workspace of one folder, and somebody who reads and edits in it.
struct Client {
    folder: Folder,
    workspace: Workspace,
    readings: Mutex<Readings>,
}

impl Client {
    fn new<const N: usize>(files: [(&str, &str); N]) -> Self {
        Self::with(files, &Settings::default())
    }

    fn with<const N: usize>(files: [(&str, &str); N], settings: &Settings) -> Self {
        let folder = Folder::with(files);
        let roots = [RootSpec { name: None, path: folder.path().to_path_buf() }];
        let policy = Policy::new(settings).unwrap();
        let state = Some(folder.state());
        let workspace =
            Workspace::open_with_policy(disk::for_this_machine(), &roots, state, &policy).unwrap();
        Self { folder, workspace, readings: Mutex::default() }
    }

    /// Reads all of a file.
    fn read(&self, path: &str) {
        let (name, snapshot) = self.workspace.files().read(path).unwrap();
        let lines = snapshot.text.lines().len();
        self.readings.lock().saw(&name, &snapshot, 0..lines, lines);
    }

    fn edit_of(&self, patch: &Patch, versions: &[(&str, &str)]) -> Result<Report, Vec<Problem>> {
        let versions: BTreeMap<String, String> =
            versions.iter().map(|(path, version)| ((*path).into(), (*version).into())).collect();
        let request = Request { patch, versions: &versions };
        let origin = Origin::default();
        let context = EditContext::patient(&self.readings, &origin);
        self.workspace.edit(&request, &context).map_err(NotCommitted::into_problems)
    }

    fn edit(&self, patch: &Patch) -> Result<Report, Vec<Problem>> {
        self.edit_of(patch, &[])
    }

    /// What becomes of an edit: the codes of its problems.
    fn codes(&self, patch: &Patch) -> Vec<Code> {
        self.edit(patch).err().unwrap_or_default().iter().map(Problem::code).collect()
    }
}

fn replace(path: &str, old: &str, new: &str) -> Patch {
    let change = TextChange { old: old.into(), new: new.into(), ..TextChange::default() };
    Patch::replace(path, vec![change]).unwrap()
}

fn write(path: &str, content: &str) -> Patch {
    Patch::write(path, content.into())
}

fn patch(sections: &str) -> Patch {
    v4a::parse(&format!("*** Begin Patch\n{sections}\n*** End Patch")).unwrap()
}

/// The only problem, which is that the file is another by now, and what may be done next.
fn again(outcome: Result<Report, Vec<Problem>>) -> Again {
    let problems = outcome.unwrap_err();
    match &*problems[0].kind {
        Kind::StaleFile { again, .. } if problems.len() == 1 => *again,
        _ => panic!("{problems:?}"),
    }
}

#[test]
fn a_path_that_cannot_be_used_is_refused_with_why() {
    let client = Client::new([("a.txt", "one\n"), (".env", "secret\n")]);
    symlink("a.txt", client.folder.at("link")).unwrap();
    for (path, code) in [
        ("../x", Code::PathOutsideWorkspace),
        (".env", Code::PathForbidden),
        ("a.txt/x", Code::NotAFile),
        (".emend.toml", Code::ReadOnly),
    ] {
        assert_eq!(client.codes(&write(path, "x\n")), [code], "{path}");
        // A version of it does not hide that.
        let problems = client.edit_of(&write(path, "x\n"), &[(path, "0123456789ab")]).unwrap_err();
        assert_eq!(problems[0].code(), code, "{path}");
    }
    assert_eq!(client.codes(&patch("*** Delete File: link")), [Code::NotAFile]);
    let two = patch("*** Add File: ../x\n+x\n*** Add File: .env\n+x\n*** Add File: new\n+x");
    assert_eq!(client.codes(&two), [Code::PathOutsideWorkspace, Code::PathForbidden]);
    assert!(!client.folder.has("new"));
}

#[test]
fn an_edit_is_of_one_root() {
    let folders = [Folder::with([("a.txt", "one\n")]), Folder::with([("b.txt", "one\n")])];
    let root = |at: usize, name: &str| RootSpec { name: Some(name.into()), path: folders[at].path().into() };
    let roots = [root(0, "first"), root(1, "second")];
    let workspace = Workspace::open(disk::for_this_machine(), &roots, Some(folders[0].state())).unwrap();
    let edit = |sections: &str| {
        let (readings, origin) = (Mutex::default(), Origin::default());
        let request = Request { patch: &patch(sections), versions: &BTreeMap::new() };
        let made = workspace.edit(&request, &EditContext::patient(&readings, &origin));
        made.map_err(|why| why.into_problems()[0].code()).map(|report| report.files.len())
    };
    let update = |file: &str| format!("*** Update File: {file}\n@@\n-one\n+two\n");
    let both = [update("first:a.txt"), update("second:b.txt")].concat();
    assert_eq!(edit(both.trim_end()), Err(Code::SeveralRoots));
    assert_eq!((folders[0].text("a.txt"), folders[1].text("b.txt")), ("one\n".into(), "one\n".into()));
    assert_eq!(edit(update("second:b.txt").trim_end()), Ok(1));
    assert_eq!(folders[1].text("b.txt"), "two\n");
}

#[test]
fn a_version_that_a_call_names_is_compared() {
    let settings = Settings { require_mtime_check: Some(false), ..Settings::default() };
    let client = Client::with([("a.txt", "one\n"), ("b.txt", "bee\n")], &settings);
    let now = client.workspace.files().read("a.txt").unwrap().1.text.version().short();
    let edit = replace("a.txt", "one", "two");
    for path in ["a.txt", "./a.txt"] {
        assert_eq!(again(client.edit_of(&edit, &[(path, "0123456789ab")])), Again::NewVersion);
    }
    let problems = client.edit_of(&edit, &[("b.txt", &now)]).unwrap_err();
    assert_eq!(problems[0].code(), Code::InvalidArgument, "it does not touch that file");
    let report = client.edit_of(&edit, &[("./a.txt", &now)]).unwrap();
    assert_eq!((report.mtime_check_passed, client.folder.text("a.txt")), (Some(true), "two\n".into()));
}

#[test]
fn a_file_that_changed_since_it_was_read_is_refused_once() {
    let old = "one\ntwo\nthree\nfour\nfive\n";
    let new = "ONE\ntwo\nthree\nfour\nfive\n";
    let set_up = |settings: &Settings| {
        let client = Client::with([("a.txt", old)], settings);
        client.read("a.txt");
        client.folder.write("a.txt", new);
        client
    };
    let far = replace("a.txt", "five", "FIVE");
    let client = set_up(&Settings::default());
    assert_eq!(again(client.edit(&far)), Again::SameCall);
    client.edit(&far).unwrap();
    let client = set_up(&Settings::default());
    assert_eq!(again(client.edit(&write("a.txt", "all new\n"))), Again::Read);
    assert_eq!(client.codes(&write("a.txt", "all new\n")), [Code::NotRead], "its change is no reading");
    let client = set_up(&Settings { require_mtime_check: Some(false), ..Settings::default() });
    client.edit(&far).unwrap();
    // What lies apart is merged, if the policy has it so.
    let merging = || Settings { on_change: Some(OnChange::Merge), ..Settings::default() };
    let client = set_up(&merging());
    let report = client.edit(&far).unwrap();
    let [Note::ChangedElsewhere { file, diff }] = &report.notes[..] else { panic!("{:?}", report.notes) };
    assert!(file == "a.txt" && diff.contains("-one\n+ONE"), "{diff}");
    assert_eq!(client.folder.text("a.txt"), "ONE\ntwo\nthree\nfour\nFIVE\n");
    let client = set_up(&merging());
    assert_eq!(again(client.edit(&replace("a.txt", "two", "TWO"))), Again::SameCall, "it borders on that");
    let client = set_up(&merging());
    assert_eq!(again(client.edit(&write("a.txt", "all new\n"))), Again::Read);
    assert_eq!(client.folder.text("a.txt"), new);
}

#[test]
fn a_whole_file_is_replaced_or_deleted_by_who_has_read_all_of_it() {
    let client = Client::new([("a.txt", "one\ntwo\n"), ("b.txt", "bee\n")]);
    assert_eq!(client.codes(&write("a.txt", "new\n")), [Code::NotRead]);
    assert_eq!(client.codes(&patch("*** Delete File: b.txt")), [Code::NotRead]);
    let snapshot = client.workspace.files().read("a.txt").unwrap().1;
    client.readings.lock().saw("a.txt", &snapshot, 0..1, 2);
    assert_eq!(client.codes(&write("a.txt", "new\n")), [Code::NotRead], "it has seen a part of it");
    client.read("a.txt");
    client.read("b.txt");
    client.edit(&write("a.txt", "new\n")).unwrap();
    client.edit(&patch("*** Delete File: b.txt")).unwrap();
    // Who wrote all of it knows it.
    client.edit(&write("a.txt", "newer\n")).unwrap();
    client.edit(&write("c.txt", "sea\n")).unwrap();
    client.edit(&write("c.txt", "see\n")).unwrap();
    assert_eq!(client.folder.tree().len(), 2);
}

#[test]
fn every_edit_needs_a_reading_where_the_policy_says_so() {
    let settings = || Settings { require_read: Some(RequireRead::Always), ..Settings::default() };
    let client = Client::with([("a.txt", "one\ntwo\nthree\n")], &settings());
    let edit = replace("a.txt", "three", "3");
    assert_eq!(client.codes(&edit), [Code::NotRead]);
    client.read("a.txt");
    client.edit(&edit).unwrap();
    // One that merges a change has been read too.
    let settings = Settings { on_change: Some(OnChange::Merge), ..settings() };
    let client = Client::with([("a.txt", "one\ntwo\nthree\n")], &settings);
    client.read("a.txt");
    client.folder.write("a.txt", "ONE\ntwo\nthree\n");
    client.edit(&edit).unwrap();
}

#[test]
fn lines_by_number_alone_need_the_version_that_they_are_of() {
    let client = Client::new([("a.txt", "one\ntwo\nthree\n")]);
    client.read("a.txt");
    let by_number = rcs::parse("d2 1\na2 1\n2\n", Some("a.txt")).unwrap();
    assert!(matches!(*client.edit(&by_number).unwrap_err()[0].kind, Kind::NumbersNeedVersion { .. }));
    let version = client.workspace.files().read("a.txt").unwrap().1.text.version().hex();
    client.edit_of(&by_number, &[("a.txt", &version)]).unwrap();
    assert_eq!(client.folder.text("a.txt"), "one\n2\nthree\n");
}

#[test]
fn several_new_files_share_the_folders_that_one_of_them_makes() {
    let client = Client::new([("a.txt", "one\n")]);
    client
        .edit(&patch("*** Add File: new/deep/a\n+a\n*** Add File: new/deep/b\n+b\n*** Add File: new/c\n+c"))
        .unwrap();
    for name in ["a", "b", "c"] {
        let path = if name == "c" { "new/c".to_owned() } else { format!("new/deep/{name}") };
        assert_eq!(client.folder.text(&path), format!("{name}\n"));
    }
}

#[test]
fn a_file_that_is_named_twice_has_one_version() {
    let client = Client::new([("a.txt", "one\n")]);
    let version = client.workspace.files().read("a.txt").unwrap().1.text.version().hex();
    let other = "0".repeat(version.len());
    let edit = replace("a.txt", "one", "two");
    let two = client.edit_of(&edit, &[("a.txt", &version), ("./a.txt", &other)]).unwrap_err();
    assert!(matches!(&*two[0].kind, Kind::InvalidArgument { name, .. } if name == "versions"), "{two:?}");
    assert_eq!(client.folder.text("a.txt"), "one\n");
    client.edit_of(&edit, &[("a.txt", &version), ("./a.txt", &version)]).unwrap();
    assert_eq!(client.folder.text("a.txt"), "two\n");
}

#[test]
fn a_folder_of_gits_is_neither_changed_nor_made() {
    let files = [("repo/objects/x", "x\n"), ("repo/refs/x", "x\n"), ("half/objects/x", "x\n")];
    let client = Client::new(files);
    assert_eq!(client.codes(&write("repo/HEAD", "ref: x\n")), [Code::ReadOnly]);
    assert_eq!(client.codes(&write("half/HEAD", "ref: x\n")), [] as [Code; 0]);
    assert_eq!(client.codes(&write("half/refs/x", "x\n")), [Code::ReadOnly], "it would be one then");
    let all = "*** Add File: new/HEAD\n+x\n*** Add File: new/objects/x\n+x\n*** Add File: new/refs/x\n+x";
    assert_eq!(client.codes(&patch(all)), [Code::ReadOnly; 3]);
    let root = all.replace("new/", "");
    assert_eq!(client.codes(&patch(&root)), [Code::ReadOnly; 3]);
    client.folder.write("repo/HEAD", "ref: x\n");
    assert_eq!(client.codes(&replace("repo/objects/x", "x", "y")), [Code::ReadOnly]);
    assert_eq!(client.codes(&patch("*** Move File: repo/HEAD -> head")), [Code::ReadOnly]);
}

#[test]
fn what_is_read_only_or_has_other_names_is_left_alone() {
    let set_up = |settings: &Settings| {
        let client = Client::with([("a.txt", "one\n"), ("b.txt", "one\n")], settings);
        fs::set_permissions(client.folder.at("b.txt"), fs::Permissions::from_mode(0o444)).unwrap();
        fs::hard_link(client.folder.at("a.txt"), client.folder.at("other.txt")).unwrap();
        client
    };
    let client = set_up(&Settings::default());
    assert_eq!(client.codes(&replace("a.txt", "one", "two")), [Code::HardLinked]);
    assert_eq!(client.codes(&replace("b.txt", "one", "two")), [Code::ReadOnly]);
    let moved = "*** Update File: a.txt\n*** Move to: c.txt\n@@\n-one\n+two";
    assert_eq!(client.codes(&patch(moved)), [Code::HardLinked]);
    // To have another name, or none, does not part its names.
    client.edit(&patch("*** Move File: a.txt -> c.txt")).unwrap();
    client.read("c.txt");
    client.edit(&patch("*** Delete File: c.txt")).unwrap();
    assert_eq!(client.folder.text("other.txt"), "one\n");

    let client = set_up(&Settings { write_read_only: Some(true), ..Settings::default() });
    client.edit(&replace("b.txt", "one", "two")).unwrap();
    assert_eq!(fs::metadata(client.folder.at("b.txt")).unwrap().mode() & 0o777, 0o444);

    let client = set_up(&Settings { write_in_place: Some(true), ..Settings::default() });
    let both = "*** Update File: a.txt\n@@\n-one\n+two\n*** Update File: other.txt\n@@\n-one\n+three";
    assert_eq!(client.codes(&patch(both)), [Code::HardLinked; 2]);
    client.edit(&replace("a.txt", "one", "two")).unwrap();
    assert_eq!(client.folder.text("other.txt"), "two\n");
}

#[test]
fn a_file_keeps_its_mode_and_one_that_is_renamed_stays_the_file_that_it_is() {
    let client = Client::new([("a.sh", "one\n"), ("b.sh", "one\n")]);
    fs::set_permissions(client.folder.at("a.sh"), fs::Permissions::from_mode(0o751)).unwrap();
    let of = |name: &str| fs::metadata(client.folder.at(name)).unwrap();
    client.edit(&replace("a.sh", "one", "two")).unwrap();
    assert_eq!(of("a.sh").mode() & 0o777, 0o751);
    let before = of("a.sh").ino();
    client.edit(&patch("*** Move File: a.sh -> new/c.sh")).unwrap();
    assert_eq!((of("new/c.sh").ino(), of("new/c.sh").mode() & 0o777), (before, 0o751));
    let moved = "*** Update File: new/c.sh\n*** Move to: d.sh\n@@\n-two\n+three";
    client.edit(&patch(moved)).unwrap();
    assert_eq!((client.folder.text("d.sh"), of("d.sh").mode() & 0o777), ("three\n".into(), 0o751));
}

#[test]
fn an_edit_of_many_files_can_be_taken_back() {
    let client =
        Client::new([("a.txt", "one\n"), ("b.txt", "bee\n"), ("c.txt", "sea\n"), ("d.txt", "dee\n")]);
    let before = client.folder.tree();
    client.read("b.txt");
    let report = client.edit(&patch(
        "*** Update File: a.txt\n@@\n-one\n+two\n*** Delete File: b.txt\n*** Add File: new/n.txt\n+n\n*** Move File: \
         c.txt -> see.txt\n*** Update File: d.txt\n*** Move to: e.txt\n@@\n-dee\n+ee",
    ));
    assert!(report.unwrap().is_recorded);
    let after = client.folder.tree();
    let undo = |client: &Client| {
        let origin = Origin::default();
        let context = EditContext::patient(&client.readings, &origin);
        client.workspace.undo(&Undo { edit: None, path: None }, &context)
    };
    undo(&client).unwrap();
    let mut back = client.folder.tree();
    back.remove("new/");
    assert_eq!(back, before);
    assert_ne!(after, before);
}

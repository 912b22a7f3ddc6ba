//! The edits that faults are injected into: the files before, the call, and the expected result. The result is made
//! with plain calls, so that it does not depend on Emend.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use emend_testkit::{Entries, Folder, Launch, entries};
use serde_json::{Value, json};

/// The state folder, where it is inside the workspace.
const STATE: &str = "state/";

/// The two states in which an edit may leave the files.
pub(super) struct States {
    pub(super) old: Entries,
    pub(super) new: Entries,
}

/// An edit with all its facts.
pub(super) struct Scenario {
    pub(super) name: &'static str,
    /// Whether `.emend` in the workspace holds the staged and displaced files.
    own_folder: bool,
    /// The server that recovers after a kill.
    pub(super) finder: Finder,
    before: fn(&Folder),
    after: fn(&Folder),
    /// The file that the client reads first, which is needed before a file may be deleted.
    pub(super) reads: &'static str,
    pub(super) tool: &'static str,
    pub(super) arguments: fn() -> Value,
    /// The files of the edit: the name in the answer, and all paths of each.
    pub(super) files: &'static [(&'static str, &'static [&'static str])],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finder {
    /// A server that is started after the kill.
    NextStart,
    /// A server that runs all the time and makes its next edit.
    OtherServer,
}

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "one",
        own_folder: false,
        finder: Finder::NextStart,
        before: one_before,
        after: one_after,
        reads: "steady.txt",
        tool: "str_replace",
        arguments: || json!({"path": "change.txt", "old_string": "two", "new_string": "TWO"}),
        files: &[("change.txt", &["change.txt"])],
    },
    Scenario { name: "several", own_folder: false, ..SEVERAL },
    Scenario { name: "several-in-own-folder", own_folder: true, ..SEVERAL },
    Scenario { name: "several-beside-another", finder: Finder::OtherServer, ..SEVERAL },
];

const SEVERAL: Scenario = Scenario {
    name: "",
    own_folder: false,
    finder: Finder::NextStart,
    before: several_before,
    after: several_after,
    reads: "gone.txt",
    tool: "apply_patch",
    arguments: || json!({"patch": PATCH}),
    files: &[
        ("change.txt", &["change.txt"]),
        ("gone.txt", &["gone.txt"]),
        ("new/folder/new.txt", &["new/folder/new.txt", "new/folder/"]),
        ("new/name.txt", &["new/name.txt", "old/name.txt"]),
        ("turned.txt", &["turned.txt", "old/turn.txt"]),
        ("run.sh", &["run.sh"]),
    ],
};

const PATCH: &str = "\
diff --git a/change.txt b/change.txt
--- a/change.txt
+++ b/change.txt
@@ -1,3 +1,3 @@
 one
-two
+TWO
 three
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
--- a/gone.txt
+++ /dev/null
@@ -1,2 +0,0 @@
-gone one
-gone two
diff --git a/new/folder/new.txt b/new/folder/new.txt
new file mode 100644
--- /dev/null
+++ b/new/folder/new.txt
@@ -0,0 +1,2 @@
+new one
+new two
diff --git a/old/name.txt b/new/name.txt
similarity index 100%
rename from old/name.txt
rename to new/name.txt
diff --git a/old/turn.txt b/turned.txt
similarity index 60%
rename from old/turn.txt
rename to turned.txt
--- a/old/turn.txt
+++ b/turned.txt
@@ -1,3 +1,3 @@
 turn one
-turn two
+turned two
 turn three
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
";

fn one_before(folder: &Folder) {
    folder.write("steady.txt", "count = 0\n");
    folder.write("change.txt", "one\ntwo\nthree\n");
    mode(&folder.at("change.txt"), 0o640);
    // Where the system refuses these, the server has nothing to carry over and makes no such calls.
    let _ = std::os::unix::fs::chown(folder.at("change.txt"), Some(1), Some(1));
    let attribute = emend_testkit::entries::ATTRIBUTE;
    let _ =
        rustix::fs::setxattr(folder.at("change.txt"), attribute, b"kept", rustix::fs::XattrFlags::empty());
}

fn one_after(folder: &Folder) {
    folder.write("change.txt", "one\nTWO\nthree\n");
}

fn several_before(folder: &Folder) {
    one_before(folder);
    folder.write("gone.txt", "gone one\ngone two\n");
    folder.write("old/name.txt", "name one\nname two\n");
    folder.write("old/turn.txt", "turn one\nturn two\nturn three\n");
    folder.write("old/stays.txt", "stays\n");
    folder.write("run.sh", "#!/bin/sh\n");
    mode(&folder.at("run.sh"), 0o644);
}

fn several_after(folder: &Folder) {
    one_after(folder);
    let _ = fs::remove_file(folder.at("gone.txt"));
    folder.write("new/folder/new.txt", "new one\nnew two\n");
    let _ = fs::rename(folder.at("old/name.txt"), folder.at("new/name.txt"));
    let _ = fs::rename(folder.at("old/turn.txt"), folder.at("turned.txt"));
    folder.write("turned.txt", "turn one\nturned two\nturn three\n");
    mode(&folder.at("run.sh"), 0o755);
}

fn mode(path: &Path, bits: u32) {
    let _ = fs::set_permissions(path, fs::Permissions::from_mode(bits));
}

impl Scenario {
    /// Creates a workspace as it is before the edit.
    pub(super) fn folder(&self) -> Folder {
        let folder = Folder::new();
        (self.before)(&folder);
        folder
    }

    /// The expected states before and after the edit.
    pub(super) fn states(&self) -> States {
        let folder = self.folder();
        let old = Self::look(&folder);
        (self.after)(&folder);
        States { old, new: Self::look(&folder) }
    }

    /// The entries of the workspace, without Emend's own.
    pub(super) fn look(folder: &Folder) -> Entries {
        let mut found = entries(folder.path());
        // Any edit may create `.emend` if the state folder fails, and one scenario has its state folder here.
        found.retain(|path, _| !path.starts_with(".emend/") && !path.starts_with(STATE));
        found
    }

    /// A server for this folder.
    pub(super) fn launch(&self, emend: &Path, folder: &Folder) -> Launch {
        // Emend stages nothing in a state folder inside the workspace; it uses `.emend`.
        let state = if self.own_folder { folder.at(STATE) } else { folder.state() };
        Launch::new(emend).workspace(folder.path()).state(state)
    }
}

//! What only Windows does: other names for a file, files that another program holds, and what a file has besides content.

use std::fs;
use std::fs::File;
use std::os::windows::fs::OpenOptionsExt;

use emend_testkit::Folder;
use serde_json::json;

use crate::refused::{check_refused, check_refused_by};
use crate::{launch, serve};

#[test]
fn a_name_of_which_windows_makes_another_is_refused() {
    let folder = Folder::with([("a.txt", "classified\n"), ("sub/b.txt", "classified\n")]);
    for path in [
        // Devices, in every folder and with any ending.
        "NUL",
        "nul.txt",
        "sub/CON",
        "sub\\aux .c",
        "COM1",
        "lpt9.log",
        "com\u{b9}",
        "CONIN$",
        // Streams of a file, and of a folder.
        "a.txt:hidden",
        "a.txt::$DATA",
        "sub::$INDEX_ALLOCATION/b.txt",
        // What is dropped at the end of a name.
        "a.txt.",
        "sub./b.txt",
        "sub /b.txt",
        // Characters that no name has.
        "a?txt",
        "a*",
        "sub/<b>",
        // Relative to what only the process knows.
        "C:a.txt",
        "\\a.txt",
        "/a.txt",
        // Devices by their paths.
        "\\\\.\\C:\\Windows\\win.ini",
        "\\\\?\\Volume{00000000-0000-0000-0000-000000000000}\\a.txt",
        "\\\\?\\GLOBALROOT\\Device\\Null",
        "//./NUL",
    ] {
        check_refused(&folder, path, "invalid-argument");
    }
}

#[test]
fn what_is_outside_is_refused_however_it_is_written() {
    let folder = Folder::with([("a.txt", "a\n")]);
    fs::write(folder.beside("secret.txt"), "classified\n").unwrap();
    let absolute = folder.beside("secret.txt").to_str().unwrap().to_owned();
    for path in [
        "..\\secret.txt",
        "../secret.txt",
        "sub\\..\\..\\secret.txt",
        "C:\\Windows\\win.ini",
        "c:/windows/win.ini",
        "\\\\?\\C:\\Windows\\win.ini",
        "\\\\server\\share\\a.txt",
        "\\\\?\\UNC\\server\\share\\a.txt",
        "file:///C:/Windows/win.ini",
        "file://server/share/a.txt",
        &absolute,
    ] {
        check_refused(&folder, path, "path-outside-workspace");
    }
}

#[test]
fn a_file_is_found_however_its_path_is_written_and_keeps_its_name() {
    let folder = Folder::with([("Sub/File.txt", "0\n")]);
    let mut client = serve(&folder);
    let absolute = folder.at("Sub\\File.txt").to_str().unwrap().to_owned();
    let slashes = absolute.replace('\\', "/");
    let written = [
        "Sub/File.txt".to_owned(),
        "Sub\\File.txt".to_owned(),
        "sub\\FILE.TXT".to_owned(),
        "SUB/file.txt".to_owned(),
        ".\\Sub\\..\\sub/file.txt".to_owned(),
        absolute.clone(),
        absolute.to_uppercase(),
        slashes.clone(),
        format!("\\\\?\\{absolute}"),
        format!("file:///{slashes}"),
        format!("file:///{}", slashes.replacen(':', "%3A", 1)),
    ];
    for (number, path) in written.iter().enumerate() {
        assert_eq!(client.read(path).meta["emend/path"], "Sub/File.txt", "{path}");
        client.replace(path, &number.to_string(), &(number + 1).to_string()).ok();
        let names: Vec<String> = folder.tree().into_keys().collect();
        assert_eq!(names, ["Sub/File.txt"], "{path}");
    }
    assert_eq!(folder.text("Sub/File.txt"), format!("{}\n", written.len()));
}

/// The short name of a file or folder, which the system has made up; `None` where it makes none.
fn short_name(folder: &Folder, name: &str) -> Option<String> {
    let listed = std::process::Command::new("cmd")
        .args(["/C", "dir", "/x", "/a"])
        .arg(folder.path())
        .output()
        .unwrap();
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let line = listed.lines().find_map(|line| line.trim_end().strip_suffix(name))?;
    let short = line.split_whitespace().next_back()?;
    short.contains('~').then(|| short.to_owned())
}

#[test]
fn a_short_name_is_the_long_one_to_every_rule_and_keeps_it() {
    let folder = Folder::with([
        ("a.txt", "a\n"),
        ("private plans of ours/b.txt", "classified\n"),
        (".git-credentials", "classified\n"),
        ("a long name.text", "one\n"),
        ("a folder with a long name/a long name.text", "one\n"),
    ]);
    // Some disks make none. The rules for how such names look are tested on every system.
    let Some(private) = short_name(&folder, "private plans of ours") else { return };
    let start = |folder: &Folder| launch(folder).argument("--forbid").argument("private plans of ours/");
    let forbidden = [
        short_name(&folder, ".git-credentials").unwrap(),
        format!("{private}/b.txt"),
        format!("{private}/b.txt").to_lowercase(),
        format!("{private}\\new.txt"),
        private,
    ];
    for path in forbidden {
        check_refused_by(start, &folder, &path, "path-forbidden");
    }
    let (file, inner) = (
        short_name(&folder, "a long name.text").unwrap(),
        short_name(&folder, "a folder with a long name").unwrap(),
    );
    let mut client = serve(&folder);
    let before: Vec<String> = folder.tree().into_keys().collect();
    for (path, long) in [
        (&file, "a long name.text"),
        (&format!("{inner}/{file}"), "a folder with a long name/a long name.text"),
        (&format!("{inner}/a long name.text"), "a folder with a long name/a long name.text"),
    ] {
        assert_eq!(client.read(path).meta["emend/path"], long, "{path}");
        let old = folder.text(long).trim().to_owned();
        client.replace(path, &old, &format!("{old} more")).ok();
    }
    assert_eq!(folder.text("a folder with a long name/a long name.text"), "one more more\n");
    assert_eq!(folder.tree().into_keys().collect::<Vec<_>>(), before);
}

#[test]
fn a_long_path_is_edited() {
    let folder = Folder::new();
    let deep = vec!["a folder with a long name".to_owned(); 12].join("/");
    let path = format!("{deep}/file.txt");
    let mut client = serve(&folder);
    client.call("write_file", json!({"path": path, "content": "one\n"})).ok();
    client.replace(&path, "one", "two").ok();
    assert!(folder.at(&path).to_str().unwrap().len() > 300);
    assert_eq!(folder.text(&path), "two\n");
}

#[test]
fn a_file_that_another_program_does_not_share_is_left_alone_and_that_is_told() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let mut client = serve(&folder);
    client.read("a.txt");
    // It may be read meanwhile, and neither written, renamed nor removed.
    const FILE_SHARE_READ: u32 = 1;
    let held = File::options().read(true).share_mode(FILE_SHARE_READ).open(folder.at("a.txt")).unwrap();
    let refused = client.replace("a.txt", "one", "two").refused("io-error");
    assert!(refused.text.contains("holds the file and does not share it"), "{}", refused.text);
    assert!(refused.text.contains("Nothing was changed"), "{}", refused.text);
    assert_eq!(folder.text("a.txt"), "one\n");
    drop(held);
    client.replace("a.txt", "one", "two").ok();
    assert_eq!(folder.text("a.txt"), "two\n");
}

#[test]
fn a_file_that_another_program_lets_go_soon_is_edited() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let mut client = serve(&folder);
    client.read("a.txt");
    let held = File::options().read(true).share_mode(1).open(folder.at("a.txt")).unwrap();
    client.send_call("str_replace", json!({"path": "a.txt", "old_string": "one", "new_string": "two"}));
    // The edit waits for two seconds.
    std::thread::sleep(std::time::Duration::from_millis(200));
    drop(held);
    drop(client.close());
    assert_eq!(folder.text("a.txt"), "two\n");
}

#[test]
fn a_search_does_not_wait_for_each_of_many_files_that_another_program_holds() {
    let names: Vec<String> = (0..60).map(|number| format!("{number}.txt")).collect();
    let folder = Folder::new();
    names.iter().for_each(|name| folder.write(name, "one\n"));
    let mut client = serve(&folder);
    let hold = |name: &String| File::options().read(true).share_mode(0).open(folder.at(name)).unwrap();
    let held: Vec<File> = names[1..].iter().map(hold).collect();
    // Two seconds for each would be more than a client waits.
    let found = client.call("search_text", json!({"pattern": "one"})).ok();
    assert!(found.text.contains("0.txt"), "{}", found.text);
    drop(held);
}

#[test]
fn a_reader_does_not_keep_a_file_from_being_edited_and_goes_on_with_the_old_one() {
    use std::io::Read;
    let folder = Folder::with([("a.txt", "one\n")]);
    let mut client = serve(&folder);
    client.read("a.txt");
    let mut reader = File::open(folder.at("a.txt")).unwrap();
    client.replace("a.txt", "one", "two").ok();
    let mut old = String::new();
    reader.read_to_string(&mut old).unwrap();
    assert_eq!((old.as_str(), folder.text("a.txt").as_str()), ("one\n", "two\n"));
}

#[test]
fn a_read_only_file_is_refused_and_stays_read_only_where_the_user_lets_it_be_written() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let read_only = |is: bool| {
        let mut permissions = folder.at("a.txt").metadata().unwrap().permissions();
        permissions.set_readonly(is);
        fs::set_permissions(folder.at("a.txt"), permissions).unwrap();
    };
    read_only(true);
    let mut client = serve(&folder);
    client.read("a.txt");
    client.replace("a.txt", "one", "two").refused("read-only");
    drop(client);
    let mut client = launch(&folder).argument("--write-read-only").legacy();
    client.read("a.txt");
    client.replace("a.txt", "one", "two").ok();
    assert_eq!(folder.text("a.txt"), "two\n");
    assert!(folder.at("a.txt").metadata().unwrap().permissions().readonly());
    client.call("undo_edit", json!({})).ok();
    assert_eq!(folder.text("a.txt"), "one\n");
    assert!(folder.at("a.txt").metadata().unwrap().permissions().readonly());
    read_only(false);
}

/// Skipped under Wine, whose disks have no streams.
#[test]
fn an_alternate_stream_stays_with_its_file() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let zone = folder.at("a.txt:Zone.Identifier");
    fs::write(&zone, "[ZoneTransfer]\r\nZoneId=3\r\n").unwrap();
    let mut client = serve(&folder);
    client.read("a.txt");
    client.replace("a.txt", "one", "two").ok();
    assert_eq!(folder.text("a.txt"), "two\n");
    assert_eq!(fs::read(&zone).unwrap(), b"[ZoneTransfer]\r\nZoneId=3\r\n");
}

/// Skipped under Wine, which makes no junctions.
#[test]
fn a_junction_out_of_the_workspace_is_refused() {
    let folder = Folder::with([("a.txt", "a\n")]);
    fs::create_dir(folder.beside("outside")).unwrap();
    fs::write(folder.beside("outside").join("secret.txt"), "classified\n").unwrap();
    let (link, target) = (folder.at("junction"), folder.beside("outside"));
    let made = std::process::Command::new("cmd").args(["/C", "mklink", "/J"]).args([link, target]).status();
    assert!(made.unwrap().success());
    for path in ["junction/secret.txt", "junction\\secret.txt", "junction/new.txt"] {
        check_refused(&folder, path, "path-outside-workspace");
    }
}

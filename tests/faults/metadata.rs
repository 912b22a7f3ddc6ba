//! Metadata of files: it stays through an edit, an undo and a failure. Files that are not edited are not touched at
//! all.

#![cfg(unix)]

use std::fs::{self, Metadata};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use emend_testkit::Folder;
use rustix::fs::{Gid, Uid, XattrFlags};
use serde_json::json;

use crate::serve;

const ATTRIBUTE: &str = "user.emend-test";
const ACL: &str = "system.posix_acl_access";

fn attribute(path: &Path, name: &str) -> Option<Vec<u8>> {
    let mut value = [0; 256];
    let len = rustix::fs::getxattr(path, name, &mut value[..]).ok()?;
    Some(value[..len].to_vec())
}

/// `user::rw-, user:1234:r--, group::r--, mask::r--, other::---`, as the kernel has it.
fn acl() -> Vec<u8> {
    let entries: [(u16, u16, u32); 5] =
        [(0x01, 6, u32::MAX), (0x02, 4, 1234), (0x04, 4, u32::MAX), (0x10, 4, u32::MAX), (0x20, 0, u32::MAX)];
    let mut bytes = 2u32.to_le_bytes().to_vec();
    for (tag, permissions, id) in entries {
        bytes.extend(tag.to_le_bytes());
        bytes.extend(permissions.to_le_bytes());
        bytes.extend(id.to_le_bytes());
    }
    bytes
}

#[test]
fn attributes_acls_and_owners_stay() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let path = folder.at("a.txt");
    let has_attributes = rustix::fs::setxattr(&path, ATTRIBUTE, b"kept", XattrFlags::empty()).is_ok();
    let has_acls = rustix::fs::setxattr(&path, ACL, &acl(), XattrFlags::empty()).is_ok();
    let is_root = rustix::process::geteuid().is_root();
    if is_root {
        let (uid, gid) = (Uid::from_raw(1234), Gid::from_raw(2345));
        rustix::fs::chown(&path, Some(uid), Some(gid)).unwrap();
    }
    let check = |what: &str| {
        if has_attributes {
            assert_eq!(attribute(&path, ATTRIBUTE).as_deref(), Some(&b"kept"[..]), "{what}");
        }
        if has_acls {
            assert_eq!(attribute(&path, ACL), Some(acl()), "{what}");
        }
        if is_root {
            let metadata = fs::metadata(&path).unwrap();
            assert_eq!((metadata.uid(), metadata.gid()), (1234, 2345), "{what}");
        }
    };
    let mut client = serve(&folder);
    client.replace("a.txt", "one", "two").ok();
    check("after an edit");
    client.call("undo_edit", json!({})).ok();
    check("after an undo");
    client.read("a.txt");
    client.patch("*** Delete File: a.txt").ok();
    client.call("undo_edit", json!({})).ok();
    check("after a deletion that was taken back");
}

/// Everything by which somebody would see that a file was touched.
fn stamp(path: &Path) -> (u64, i64, i64, i64, i64, u32) {
    let m: Metadata = fs::metadata(path).unwrap();
    (m.ino(), m.mtime(), m.mtime_nsec(), m.ctime(), m.ctime_nsec(), m.mode())
}

#[test]
fn files_beside_an_edited_one_are_not_touched() {
    let folder = Folder::with([("a.txt", "one\n"), ("b.txt", "bee\n"), ("sub/c.txt", "sea\n")]);
    let before = ["b.txt", "sub/c.txt"].map(|name| stamp(&folder.at(name)));
    let mut client = serve(&folder);
    client.read("b.txt");
    client.replace("a.txt", "one", "two").ok();
    client.patch("*** Update File: a.txt\n@@\n-two\n+three\n*** Add File: sub/d.txt\n+new").ok();
    client
        .patch("*** Update File: a.txt\n@@\n-three\n+four\n*** Update File: b.txt\n@@\n-no\n+yes")
        .refused("hunk-context-mismatch");
    assert_eq!(["b.txt", "sub/c.txt"].map(|name| stamp(&folder.at(name))), before);
}

#[test]
fn a_new_file_has_the_mode_that_the_umask_leaves() {
    // The server inherits the umask of this process.
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    let Some(umask) = line.and_then(|umask| u32::from_str_radix(umask.trim(), 8).ok()) else { return };
    let folder = Folder::new();
    let mut client = serve(&folder);
    client.call("write_file", json!({"path": "sub/n.txt", "content": "n\n"})).ok();
    let mode = |name: &str| fs::metadata(folder.at(name)).unwrap().permissions().mode() & 0o777;
    let left = |mode: u32| mode & !umask;
    assert_eq!((mode("sub/n.txt"), mode("sub")), (left(0o666), left(0o777)));
}

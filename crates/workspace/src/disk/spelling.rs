//! Spellings of a name: on disks that ignore case or the composition of accents (APFS, HFS+, NTFS, FAT), one name in a
//! folder answers to several.

use std::ffi::OsStr;
use std::io;

use cap_std::fs::Dir;

use super::Disk;

/// Returns whether two different names are spellings of one entry of a folder, and not two names (hard links) of a file.
/// Only the folder's own list tells: it has one of them.
pub(super) fn is_one_entry(disk: &dyn Disk, one: (&Dir, &OsStr), other: (&Dir, &OsStr)) -> io::Result<bool> {
    let identity = |dir: &Dir, name: &OsStr| disk.stat(dir, name).map(|stat| (stat.device, stat.inode));
    let is_same = |one: &OsStr, of: &Dir, other: &OsStr, dir: &Dir| {
        Ok::<_, io::Error>(identity(of, one)? == identity(dir, other)?)
    };
    let here = OsStr::new(".");
    if one.1 == other.1 || !is_same(here, one.0, here, other.0)? || !is_same(one.1, one.0, other.1, other.0)?
    {
        return Ok(false);
    }
    let names = disk.names(one.0)?;
    let is_listed = |name: &OsStr| names.iter().any(|listed| listed == name);
    Ok(!(is_listed(one.1) && is_listed(other.1)))
}

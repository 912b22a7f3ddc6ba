//! Paths as clients write them, and what each system takes them for.
//!
//! Windows makes other names of some: `NUL` is a device in every folder, `a.txt.` is `a.txt`, `a.txt:b` is a stream of
//! `a.txt`, and `C:a.txt` is in whatever folder the process has on that drive. The calls of the disk make nothing of them,
//! so such a file would have a name that no other program finds. So they are refused, each with what is wrong with it. The
//! rules are pure and tested on every system; they apply on Windows.

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

/// Returns the path that a written one means on this system; the error says why it means none. `is_root` tells the names of
/// roots, which may stand before a colon.
pub(crate) fn understood(
    written: &str,
    is_root: impl Fn(&str) -> bool,
) -> Result<Cow<'_, str>, &'static str> {
    if cfg!(windows) {
        return on_windows(written, is_root).map(Cow::Owned);
    }
    Ok(written.strip_prefix("file://").unwrap_or(written).into())
}

/// Returns the path that a written one means on Windows, with backslashes.
fn on_windows(written: &str, is_root: impl Fn(&str) -> bool) -> Result<String, &'static str> {
    let plain = match strip_start(written, "file:") {
        Some(uri) => of_uri(uri)?,
        None => written.to_owned(),
    };
    let path = plain.replace('/', "\\");
    let path = plain_path(&path);
    let (start, names) = match path.split_once(':') {
        Some((root, rest)) if is_root(root) => (format!("{root}:"), rest),
        Some((drive, rest)) if drive.len() == 1 && drive.starts_with(|c: char| c.is_ascii_alphabetic()) => {
            if !rest.starts_with('\\') {
                return Err(
                    "it is relative to the current folder of a drive; write it from the drive's root on, or from \
                            the workspace",
                );
            }
            (format!("{}:", drive.to_ascii_uppercase()), rest)
        }
        _ => match path.strip_prefix(r"\\") {
            Some(device) if device.starts_with(['.', '?']) => return Err("it names a device, not a file"),
            Some(share) => (r"\\".to_owned(), share),
            None if path.starts_with('\\') => {
                return Err(
                    "it begins at the root of an unnamed drive; write the drive before it, or a path from the \
                            workspace",
                );
            }
            None => (String::new(), &*path),
        },
    };
    names.split('\\').try_for_each(check_name)?;
    Ok(format!("{start}{names}"))
}

/// Removes the prefix of paths that the system is to take literally. Here all are.
fn plain_path(path: &str) -> Cow<'_, str> {
    let Some(literal) = path.strip_prefix(r"\\?\") else { return path.into() };
    let bytes = literal.as_bytes();
    match strip_start(literal, r"UNC\") {
        Some(share) => format!(r"\\{share}").into(),
        None if bytes.len() > 2 && bytes[0].is_ascii_alphabetic() && bytes[1..3] == *b":\\" => literal.into(),
        None => path.into(),
    }
}

/// Returns the path without links, in the form in which people and other programs write it.
pub fn canonical(path: &Path) -> std::io::Result<PathBuf> {
    path.canonicalize().map(plain)
}

/// Returns a path of the system in the form in which people and other programs write it.
pub(crate) fn plain(path: PathBuf) -> PathBuf {
    match path.to_str() {
        Some(written) if cfg!(windows) => plain_path(written).as_ref().into(),
        _ => path,
    }
}

/// Returns the part of a path below a folder. It only decides what is meant: on Windows, letter case does not matter.
pub(crate) fn beneath<'a>(path: &'a Path, folder: &Path) -> Option<&'a Path> {
    if !cfg!(windows) {
        return path.strip_prefix(folder).ok();
    }
    let mut rest = path.components();
    let folded = |component: Component<'_>| component.as_os_str().to_string_lossy().to_lowercase();
    let is_next = |wanted: Component<'_>| rest.next().is_some_and(|found| folded(found) == folded(wanted));
    if folder.components().all(is_next) { Some(rest.as_path()) } else { None }
}

/// Returns the path in the rest of a `file:` URI.
fn of_uri(rest: &str) -> Result<String, &'static str> {
    let rest = rest.strip_prefix("//").ok_or("a URI of a file begins with file:///")?;
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let path = decoded(path).ok_or("it is no valid URI: after each % come two digits of a UTF-8 text")?;
    let after_slash = path.strip_prefix('/').unwrap_or(&path);
    let has_drive = after_slash.get(1..2) == Some(":");
    match host {
        "" | "localhost" if has_drive => Ok(after_slash.to_owned()),
        "" | "localhost" => Ok(path),
        // Two slashes instead of three.
        drive if drive.len() == 2 && drive.ends_with(':') => Ok(format!("{drive}{path}")),
        host => Ok(format!("//{host}{path}")),
    }
}

fn decoded(written: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(written.len());
    let mut rest = written.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                (digit(rest.next()?)? * 16 + digit(rest.next()?)?) as u8
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

/// Removes a start, whatever its letter case.
fn strip_start<'a>(text: &'a str, start: &str) -> Option<&'a str> {
    let (head, rest) = text.split_at_checked(start.len())?;
    head.eq_ignore_ascii_case(start).then_some(rest)
}

/// The number of UTF-16 units that a name may have.
const LONGEST: usize = 255;

/// Refuses a name of which Windows makes another one, or which it cannot have.
fn check_name(name: &str) -> Result<(), &'static str> {
    if matches!(name, "" | "." | "..") {
        return Ok(());
    }
    if name.contains(':') {
        return Err(
            "a colon in a name stands for a stream beside a file's content, and only the content is edited",
        );
    }
    if name.contains(['<', '>', '"', '|', '?', '*']) || name.contains(|c: char| c < ' ') {
        return Err("a name on Windows has none of the characters < > \" | ? * and no control characters");
    }
    if name.ends_with(['.', ' ']) {
        return Err("a name on Windows has no dot and no blank at its end");
    }
    if is_device(name) {
        return Err("this name belongs to a device on Windows, in every folder and with any ending");
    }
    if name.encode_utf16().count() > LONGEST {
        return Err("a name has at most 255 characters");
    }
    Ok(())
}

/// Returns whether Windows takes a name for a device, whatever comes after its first dot.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end_matches(' ').to_ascii_uppercase();
    if matches!(&*stem, "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$" | "CLOCK$") {
        return true;
    }
    let number = stem.strip_prefix("COM").or_else(|| stem.strip_prefix("LPT"));
    let mut letters = number.into_iter().flat_map(str::chars);
    // Some superscripts are digits to it too.
    let is_number =
        letters.next().is_some_and(|c| c.is_ascii_digit() || matches!(c, '\u{b9}' | '\u{b2}' | '\u{b3}'));
    is_number && letters.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn windows(written: &str) -> Result<String, &'static str> {
        on_windows(written, |name| matches!(name, "docs" | "x"))
    }

    #[test]
    fn paths_are_understood_in_every_way_in_which_clients_write_them() {
        for (written, meant) in [
            ("src/main.rs", r"src\main.rs"),
            (r"src\main.rs", r"src\main.rs"),
            (r"C:\ws\a.txt", r"C:\ws\a.txt"),
            ("c:/ws/a.txt", r"C:\ws\a.txt"),
            (r"\\?\C:\ws\a.txt", r"C:\ws\a.txt"),
            ("//?/C:/ws/a.txt", r"C:\ws\a.txt"),
            (r"\\server\share\a.txt", r"\\server\share\a.txt"),
            (r"\\?\UNC\server\share\a.txt", r"\\server\share\a.txt"),
            ("//server/share/a.txt", r"\\server\share\a.txt"),
            ("file:///C:/ws/a%20b.txt", r"C:\ws\a b.txt"),
            ("file:///c%3A/ws/gr%C3%BCn.txt", "C:\\ws\\gr\u{fc}n.txt"),
            ("FILE://localhost/C:/ws/a", r"C:\ws\a"),
            ("file://C:/ws/a", r"C:\ws\a"),
            ("file://server/share/a", r"\\server\share\a"),
            ("docs:a/b.txt", r"docs:a\b.txt"),
            // A root of one letter is no drive.
            ("x:a.txt", "x:a.txt"),
            ("../up/./a", r"..\up\.\a"),
            (".env", ".env"),
            ("a.b.c", "a.b.c"),
        ] {
            assert_eq!(windows(written).as_deref(), Ok(meant), "{written}");
        }
    }

    #[test]
    fn what_windows_would_take_for_something_else_is_refused_with_the_reason() {
        for (reason, all) in [
            (
                "device on Windows",
                &[
                    "NUL",
                    "nul.txt",
                    "src/CON",
                    "aux .c",
                    "com1",
                    "COM\u{b9}.log",
                    "LPT9",
                    "a/prn/b",
                    "conin$",
                    "C:/ws/nul",
                    "Clock$",
                ][..],
            ),
            ("no dot and no blank", &["a.txt.", "a ", "dir./a.txt", "dir /a", "...", "C:/ws./a"]),
            ("stream", &["a.txt:b", "a.txt::$DATA", "dir:x/a", "C:/ws/a:b", "docs:a:b"]),
            ("has none of the characters", &["a?b", "a*", "<a>", "a|b", "a\"b", "a\tb", "a\u{1}"]),
            (
                "names a device",
                &[r"\\.\COM1", r"\\.\PhysicalDrive0", r"\\?\Volume{1}\a", r"\\?\GLOBALROOT\x"],
            ),
            ("current folder of a drive", &["C:a.txt", "c:", "C:../a"]),
            ("unnamed drive", &[r"\a.txt", "/ws/a.txt", "file:///ws/a"]),
            ("URI", &["file:a", "file:///C:/%zz", "file:///C:/%ff", "file:/C:/a"]),
        ] {
            for written in all {
                let why = windows(written).expect_err(written);
                assert!(why.contains(reason), "{written}: {why}");
            }
        }
        assert!(windows(&"n".repeat(255)).is_ok() && windows(&"n".repeat(256)).is_err());
        for fine in ["com", "com10", "null", "console.log", "nul_.txt", "lpt", "auxiliary", "a.nul", "COMX"] {
            assert!(windows(fine).is_ok(), "{fine}");
        }
    }

    #[test]
    fn a_literal_path_is_written_as_people_do() {
        for (path, plain) in [
            (r"\\?\C:\ws", r"C:\ws"),
            (r"\\?\UNC\server\share", r"\\server\share"),
            (r"\\?\Volume{1}\ws", r"\\?\Volume{1}\ws"),
            (r"C:\ws", r"C:\ws"),
            ("/ws", "/ws"),
        ] {
            assert_eq!(plain_path(path), plain);
        }
    }
}

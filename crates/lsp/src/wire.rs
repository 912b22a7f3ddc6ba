//! The encoding of the protocol: messages in their frames, and files as URIs.
//!
//! `lsp-server` writes messages. This module reads them, because a server may announce any length or send an endless
//! header: memory grows only with what has arrived, up to a limit.

use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use lsp_server::Message;
use lsp_types::Uri;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};

/// The longest line of a message header, in bytes.
const HEADER_LINE: u64 = 1024;
/// How many lines a message header may have.
const HEADER_LINES: usize = 16;

/// The characters that are not escaped in a URI.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// Reads one message and its length; `None` at the end of the stream.
pub(crate) fn read(from: &mut impl BufRead, limit: usize) -> io::Result<Option<(Message, usize)>> {
    let Some(length) = read_header(from)? else { return Ok(None) };
    if length > limit {
        return Err(invalid(&format!("a message of {length} bytes, where {limit} are the limit")));
    }
    let mut body = Vec::new();
    from.take(length as u64).read_to_end(&mut body)?;
    if body.len() < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    // The error of the JSON parser names a position, never the text.
    let message =
        serde_json::from_slice(&body).map_err(|error| invalid(&format!("no LSP message: {error}")))?;
    Ok(Some((message, length)))
}

fn read_header(from: &mut impl BufRead) -> io::Result<Option<usize>> {
    let mut length = None;
    for at in 0..HEADER_LINES {
        let mut line = Vec::new();
        from.take(HEADER_LINE).read_until(b'\n', &mut line)?;
        if line.is_empty() && at == 0 {
            return Ok(None);
        }
        let Some(line) = line.strip_suffix(b"\n") else { return Err(invalid("no header of an LSP message")) };
        let line = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)).into_owned();
        if line.is_empty() {
            return length.map(Some).ok_or_else(|| invalid("a message without its Content-Length"));
        }
        let Some((name, value)) = line.split_once(':') else {
            return Err(invalid("no header of an LSP message"));
        };
        if name.eq_ignore_ascii_case("Content-Length") {
            length = Some(value.trim().parse().map_err(|_| invalid("a Content-Length that is no number"))?);
        }
    }
    Err(invalid("a header without an end"))
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Returns the URI of a file, or `None` if its name cannot stand in one.
pub(crate) fn uri(path: &Path) -> Option<Uri> {
    #[cfg(windows)]
    let path = std::path::PathBuf::from(format!("/{}", path.to_str()?.replace('\\', "/")));
    let encoded = percent_encode(path.as_os_str().as_encoded_bytes(), PLAIN);
    Uri::from_str(&format!("file://{encoded}")).ok()
}

/// Returns the file of a URI. Servers spell the URI of one file in several ways, so paths are compared and URIs never.
pub(crate) fn path(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let encoded = &rest[rest.find('/')?..];
    let bytes: Vec<u8> = percent_decode_str(encoded).collect();
    path_of(bytes)
}

#[cfg(unix)]
fn path_of(bytes: Vec<u8>) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt;
    Some(std::ffi::OsString::from_vec(bytes).into())
}

#[cfg(not(unix))]
fn path_of(bytes: Vec<u8>) -> Option<PathBuf> {
    let path = String::from_utf8(bytes).ok()?;
    // `/c:/folder/file`, whose drive some servers write in lower case.
    let (drive, rest) = path.strip_prefix('/')?.split_at_checked(1)?;
    Some(PathBuf::from(drive.to_ascii_uppercase() + &rest.replace('/', "\\")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: usize = 100;

    fn refused(text: &str) -> String {
        read(&mut text.as_bytes(), LIMIT).expect_err("refused").to_string()
    }

    #[test]
    fn a_message_is_read_with_any_headers() {
        let body = r#"{"method":"exit"}"#;
        let text = format!("Content-Type: x\r\ncontent-length:{}\r\n\r\n{body}rest", body.len());
        let (message, length) = read(&mut text.as_bytes(), LIMIT).expect("read").expect("one");
        assert!(matches!(message, Message::Notification(told) if told.method == "exit"));
        assert_eq!(length, body.len());
        assert!(read(&mut "".as_bytes(), LIMIT).expect("the end").is_none());
    }

    #[test]
    fn what_is_announced_takes_no_memory() {
        assert!(refused("Content-Length: 18446744073709551615\r\n\r\n").contains("the limit"));
        assert!(refused("Content-Length: 99999999999999999999\r\n\r\n").contains("no number"));
        assert!(refused(&"x".repeat(5000)).contains("no header"));
        assert!(refused(&"a: b\r\n".repeat(5000)).contains("without an end"));
        assert!(refused("\r\n").contains("without its Content-Length"));
        assert!(refused("Content-Length: 2\r\n\r\n[]").contains("no LSP message"));
        assert!(read(&mut "Content-Length: 50\r\n\r\n{".as_bytes(), LIMIT).is_err());
    }

    #[test]
    fn a_file_has_many_uris_and_each_means_it() {
        let file = Path::new("/a b/ü#%.ts");
        let ours = uri(file).expect("a URI");
        assert_eq!(ours.as_str(), "file:///a%20b/%C3%BC%23%25.ts");
        for spelt in [ours.as_str(), "file://localhost/a%20b/%c3%bc%23%25.ts", "file:///a b/ü%23%25.ts"] {
            assert_eq!(path(spelt).as_deref(), Some(file), "{spelt}");
        }
        assert_eq!(path("untitled:/a"), None);
    }
}

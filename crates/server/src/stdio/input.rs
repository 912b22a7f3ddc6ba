//! A buffered input that can read ahead, so that its end is known before the bytes in front of it are used.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt};

/// The bytes that are read at once.
const CHUNK: usize = 64 * 1024;
/// The bytes that are read ahead: more than a pipe holds, so that the end of a closed pipe is always seen.
const READ_AHEAD: usize = 256 * 1024;

/// A buffered input that can read ahead.
pub(super) struct Input<R> {
    from: R,
    bytes: Vec<u8>,
    taken: usize,
    /// Whether nothing comes after the buffered bytes.
    pub(super) is_over: bool,
}

impl<R: AsyncRead + Unpin> Input<R> {
    pub(super) fn new(from: R) -> Self {
        Self { from, bytes: Vec::new(), taken: 0, is_over: false }
    }

    /// Returns the next bytes; none at the end.
    pub(super) async fn fill(&mut self) -> &[u8] {
        if self.taken == self.bytes.len() && !self.is_over {
            self.read().await;
        }
        &self.bytes[self.taken..]
    }

    /// Returns whether the input has ended and every byte is used.
    pub(super) fn has_ended(&self) -> bool {
        self.is_over && self.taken == self.bytes.len()
    }

    /// Marks the next `bytes` as used.
    pub(super) fn consume(&mut self, bytes: usize) {
        self.taken += bytes;
    }

    /// Reads ahead until enough is buffered or the input has ended. Cancel-safe.
    pub(super) async fn look_ahead(&mut self) {
        while !self.is_over && self.bytes.len() - self.taken < READ_AHEAD {
            self.read().await;
        }
    }

    /// Reads more bytes. An error counts as the end of the input.
    async fn read(&mut self) {
        self.bytes.drain(..self.taken);
        self.taken = 0;
        self.bytes.reserve(CHUNK);
        let read: io::Result<usize> = self.from.read_buf(&mut self.bytes).await;
        self.is_over = !matches!(read, Ok(1..));
    }
}

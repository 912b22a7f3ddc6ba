//! Bytes that come in, of which some may be read ahead of their turn: so the end is known before it is reached.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt};

/// How much is read at once.
const CHUNK: usize = 64 * 1024;
/// How much is read ahead: more than a pipe holds, so that the end of an input is seen by which nothing more can come.
const READ_AHEAD: usize = 256 * 1024;

/// See the module.
pub(super) struct Input<R> {
    from: R,
    bytes: Vec<u8>,
    taken: usize,
    /// Whether nothing comes after these bytes.
    pub(super) is_over: bool,
}

impl<R: AsyncRead + Unpin> Input<R> {
    pub(super) fn new(from: R) -> Self {
        Self { from, bytes: Vec::new(), taken: 0, is_over: false }
    }

    /// What comes next; nothing at the end.
    pub(super) async fn fill(&mut self) -> &[u8] {
        if self.taken == self.bytes.len() && !self.is_over {
            self.read().await;
        }
        &self.bytes[self.taken..]
    }

    /// Whether nothing comes any more.
    pub(super) fn has_ended(&self) -> bool {
        self.is_over && self.taken == self.bytes.len()
    }

    /// So many bytes of that are used.
    pub(super) fn consume(&mut self, bytes: usize) {
        self.taken += bytes;
    }

    /// Reads on without need, until enough is there or it is over. May be dropped at any time.
    pub(super) async fn look_ahead(&mut self) {
        while !self.is_over && self.bytes.len() - self.taken < READ_AHEAD {
            self.read().await;
        }
    }

    /// An input that cannot be read is over.
    async fn read(&mut self) {
        self.bytes.drain(..self.taken);
        self.taken = 0;
        self.bytes.reserve(CHUNK);
        let read: io::Result<usize> = self.from.read_buf(&mut self.bytes).await;
        self.is_over = !matches!(read, Ok(1..));
    }
}

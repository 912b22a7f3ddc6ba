//! The standard input and output of this process, which never delay its end.
//!
//! A pipe is read asynchronously, through a file description of its own, so that other handles on it keep blocking.
//! Everything else (a terminal, a socket pair as Node creates it, a file) is read by a thread for which the end of the
//! process does not wait, since a blocking read lasts as long as the other side is silent.

use std::io::{self, Read};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::thread;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::mpsc;

/// The bytes that are read at once.
const CHUNK: usize = 64 * 1024;

/// The stack size of the reading thread.
const STACK: usize = 256 * 1024;

/// Opens standard input.
pub(super) fn input() -> io::Result<Box<dyn AsyncRead + Send + Unpin>> {
    #[cfg(target_os = "linux")]
    if let Some(pipe) = pipe::input() {
        return Ok(Box::new(pipe));
    }
    Ok(Box::new(Threaded::read(io::stdin())?))
}

/// Opens standard output. Its owner bounds how long the end of the runtime waits for unread output.
pub(super) fn output() -> Box<dyn AsyncWrite + Send + Unpin> {
    #[cfg(target_os = "linux")]
    if let Some(pipe) = pipe::output() {
        return Box::new(pipe);
    }
    Box::new(tokio::io::stdout())
}

#[cfg(target_os = "linux")]
mod pipe {
    use std::fs::File;
    use std::os::fd::{AsFd, BorrowedFd};
    use std::os::unix::fs::FileTypeExt;

    use tokio::net::unix::pipe::{OpenOptions, Receiver, Sender};

    pub(super) fn input() -> Option<Receiver> {
        is_pipe(std::io::stdin().as_fd()).then(|| OpenOptions::new().open_receiver("/proc/self/fd/0").ok())?
    }

    pub(super) fn output() -> Option<Sender> {
        is_pipe(std::io::stdout().as_fd()).then(|| OpenOptions::new().open_sender("/proc/self/fd/1").ok())?
    }

    /// Returns whether a handle is a pipe. A terminal must not be reopened: that may make it the controlling terminal.
    fn is_pipe(handle: BorrowedFd<'_>) -> bool {
        let metadata = handle.try_clone_to_owned().and_then(|handle| File::from(handle).metadata());
        metadata.is_ok_and(|metadata| metadata.file_type().is_fifo())
    }
}

/// An input that is read by a thread.
struct Threaded {
    chunks: mpsc::Receiver<io::Result<Vec<u8>>>,
    chunk: Vec<u8>,
    taken: usize,
}

impl Threaded {
    /// Starts the thread, which reads at most one chunk ahead of those in the channel.
    fn read(mut from: impl Read + Send + 'static) -> io::Result<Self> {
        let (send, chunks) = mpsc::channel(1);
        let read = move || {
            loop {
                let mut chunk = vec![0; CHUNK];
                let read = match from.read(&mut chunk) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    read => read,
                };
                let is_over = !matches!(read, Ok(1..));
                let read = read.map(|length| {
                    chunk.truncate(length);
                    chunk
                });
                if send.blocking_send(read).is_err() || is_over {
                    return;
                }
            }
        };
        thread::Builder::new().name("standard input".into()).stack_size(STACK).spawn(read)?;
        Ok(Self { chunks, chunk: Vec::new(), taken: 0 })
    }
}

impl AsyncRead for Threaded {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.taken == self.chunk.len() {
            match ready!(self.chunks.poll_recv(context)) {
                Some(chunk) => (self.chunk, self.taken) = (chunk?, 0),
                None => return Poll::Ready(Ok(())),
            }
        }
        let rest = &self.chunk[self.taken..];
        let length = rest.len().min(buffer.remaining());
        buffer.put_slice(&rest[..length]);
        self.taken += length;
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    #[tokio::test]
    async fn everything_that_is_read_comes_in_and_then_the_end() {
        let all: Vec<u8> = (0..CHUNK * 3 + 7).map(|at| at as u8).collect();
        let mut threaded = Threaded::read(io::Cursor::new(all.clone())).unwrap();
        let mut read = Vec::new();
        threaded.read_to_end(&mut read).await.unwrap();
        assert_eq!(read, all);
        assert_eq!(threaded.read(&mut [0; 8]).await.unwrap(), 0);
    }
}

//! Where connections come from: a port, or a socket in the file system for a proxy on this machine.

use std::io;
use std::pin::Pin;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};

/// A connection that is being made ready, as by TLS, while others are accepted.
pub type Establishing<S> = Pin<Box<dyn Future<Output = io::Result<S>> + Send>>;

/// Where connections come from.
pub trait Listen: Send + Sync {
    /// A connection.
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    /// Accepts the next connection.
    fn accept(&self) -> impl Future<Output = io::Result<Establishing<Self::Stream>>> + Send;
}

/// Sends what is written at once. Else, the second segment of a response waits 40 ms for the acknowledgement of the first.
pub(super) fn without_delay(stream: &TcpStream) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY");
    }
}

impl Listen for TcpListener {
    type Stream = TcpStream;

    async fn accept(&self) -> io::Result<Establishing<TcpStream>> {
        let (stream, _) = Self::accept(self).await?;
        without_delay(&stream);
        Ok(Box::pin(std::future::ready(Ok(stream))))
    }
}

#[cfg(unix)]
impl Listen for tokio::net::UnixListener {
    type Stream = tokio::net::UnixStream;

    async fn accept(&self) -> io::Result<Establishing<Self::Stream>> {
        let (stream, _) = Self::accept(self).await?;
        Ok(Box::pin(std::future::ready(Ok(stream))))
    }
}

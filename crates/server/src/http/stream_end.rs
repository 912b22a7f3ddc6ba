//! The end of streams: what a token has opened ends when the token does, however long the client would listen, and what comes
//! from another server ends when the workspace has moved on.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use bytes::Bytes;
use http_body_util::BodyExt;
use http_body_util::combinators::BoxBody;
use hyper::body::{Frame, SizeHint};

/// The body of a response. After an error the connection is closed.
pub(super) type Body = BoxBody<Bytes, io::Error>;

/// The body of a stream that something ends. Its client opens another, with a token that is good.
struct EndingBody<E> {
    body: Body,
    end: Pin<Box<E>>,
    has_ended: bool,
}

/// Returns the body, which ends at this time at the latest.
pub(super) fn end_at(body: Body, end: Option<Instant>) -> Body {
    match end {
        Some(end) => end_when(body, tokio::time::sleep_until(end.into())),
        None => body,
    }
}

/// Returns the body, which ends when this is done, at the latest.
pub(super) fn end_when(body: Body, end: impl Future + Send + Sync + 'static) -> Body {
    EndingBody { body, end: Box::pin(end), has_ended: false }.boxed()
}

impl<E: Future> hyper::body::Body for EndingBody<E> {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if self.has_ended || self.end.as_mut().poll(context).is_ready() {
            self.has_ended = true;
            return Poll::Ready(None);
        }
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.has_ended || self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        match self.has_ended {
            true => SizeHint::with_exact(0),
            // It may end before the body has all been sent.
            false => SizeHint::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use hyper::body::Body as _;

    use super::*;

    /// A stream on which nothing comes.
    struct Silent;

    impl hyper::body::Body for Silent {
        type Data = Bytes;
        type Error = io::Error;

        fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
            Poll::Pending
        }
    }

    #[tokio::test]
    async fn a_stream_ends_with_its_token_also_where_nothing_comes() {
        let begun = Instant::now();
        let end = begun + Duration::from_millis(20);
        let mut stream = end_at(Silent.boxed(), Some(end));
        assert!(!stream.is_end_stream());
        assert!(stream.frame().await.is_none() && begun.elapsed() >= Duration::from_millis(20));
        assert!(stream.is_end_stream() && stream.frame().await.is_none());
        let mut open = end_at(Silent.boxed(), None);
        assert!(tokio::time::timeout(Duration::from_millis(50), open.frame()).await.is_err());
    }
}

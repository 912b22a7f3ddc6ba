//! The end of streams: what a token has opened ends when the token does, however long the client would listen.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use bytes::Bytes;
use http_body_util::BodyExt;
use http_body_util::combinators::BoxBody;
use hyper::body::{Frame, SizeHint};
use tokio::time::Sleep;

/// The body of a response.
pub(super) type Body = BoxBody<Bytes, Infallible>;

/// The body of a stream that ends at a time. Its client opens another, with a token that is good.
struct EndingBody {
    body: Body,
    end: Pin<Box<Sleep>>,
    has_ended: bool,
}

/// Returns the body, which ends at this time at the latest.
pub(super) fn end_at(body: Body, end: Option<Instant>) -> Body {
    match end {
        Some(end) => {
            let end = Box::pin(tokio::time::sleep_until(end.into()));
            EndingBody { body, end, has_ended: false }.boxed()
        }
        None => body,
    }
}

impl hyper::body::Body for EndingBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
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
        type Error = Infallible;

        fn poll_frame(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
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

//! Messages as lines on standard input and output.
//!
//! rmcp has such a transport too, but that one is silent about a line that is no message, and a client that waits
//! for an answer would wait for ever. Here every line gets one, except what is no request: answering those could
//! go on without end if the other side did the same.

mod standard;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{ErrorData, RequestId};
use rmcp::service::{RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::{RoleServer, ServiceExt};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;
use tokio::task::JoinSet;

use crate::handler::Emend;
use crate::malformed;

/// The longest message: a file of the largest size, with every byte of it escaped.
const LONGEST_MESSAGE: usize = 6 * 64 * 1024 * 1024;
/// How much of the buffer stays for the next message.
const KEPT_BUFFER: usize = 1024 * 1024;
/// How long an answer may still take to be read once the input has ended, and rmcp has waited for what was under way.
const LAST_WORD: Duration = Duration::from_secs(1);

/// Serves one client over standard input and output until it goes.
pub async fn serve_stdio(emend: Emend) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let lines = Lines::new(standard::input()?, standard::output(), LONGEST_MESSAGE);
    let service = match emend.serve(lines).await {
        Ok(service) => service,
        // A client that goes before it has said all of its greeting has gone, and nothing has failed.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    service.waiting().await?;
    Ok(())
}

/// A message on each line.
struct Lines<R, W> {
    input: BufReader<R>,
    line: Vec<u8>,
    longest: usize,
    /// Whether the rest of a line that is too long is being passed over.
    skipping: bool,
    /// `None` once it is closed.
    output: Arc<Mutex<Option<W>>>,
    /// Answers to what is no message, on their way.
    replies: JoinSet<()>,
}

/// What was read.
enum Read {
    Line,
    TooLong,
    End,
}

impl<R, W> Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    fn new(input: R, output: W, longest: usize) -> Self {
        Self {
            input: BufReader::new(input),
            line: Vec::new(),
            longest,
            skipping: false,
            output: Arc::new(Mutex::new(Some(output))),
            replies: JoinSet::new(),
        }
    }

    /// Reads into `line` up to the end of it. May be dropped at any time and called again.
    async fn read(&mut self) -> Read {
        loop {
            let Ok(available) = self.input.fill_buf().await else { return Read::End };
            if available.is_empty() {
                // The last line may lack its end.
                let rest = !self.line.is_empty() && !self.skipping;
                return if rest { Read::Line } else { Read::End };
            }
            let end = memchr::memchr(b'\n', available);
            let taken = end.unwrap_or(available.len());
            let fits = self.line.len() + taken <= self.longest;
            if fits && !self.skipping {
                self.line.extend_from_slice(&available[..taken]);
            }
            self.input.consume(end.map_or(taken, |end| end + 1));
            let was_skipping = self.skipping;
            self.skipping = (was_skipping || !fits) && end.is_none();
            match (fits && !was_skipping, end) {
                (true, Some(_)) => return Read::Line,
                (true, None) => {}
                (false, _) if was_skipping => {}
                (false, _) => {
                    self.line = Vec::new();
                    return Read::TooLong;
                }
            }
        }
    }

    /// Answers without the service. In a task of its own, since receiving may be dropped halfway.
    fn reply(&mut self, id: Option<RequestId>, error: ErrorData) {
        let sending = send(Arc::clone(&self.output), TxJsonRpcMessage::<RoleServer>::error(error, id));
        self.replies.spawn(async move {
            // A client that is gone needs no answer.
            let _ = sending.await;
        });
    }

    /// The message on the line; or its answer is on the way, if it gets one.
    fn message(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let line = self.line.trim_ascii();
        if line.is_empty() {
            return None;
        }
        let message = serde_json::from_slice(line);
        let refused = message.is_err().then(|| malformed::answer(line)).flatten();
        self.line.clear();
        self.line.shrink_to(KEPT_BUFFER);
        if let Some((id, error)) = refused {
            tracing::debug!(error = %error.message, "a line that is no message");
            self.reply(id, error);
        }
        message.ok()
    }
}

async fn send<W: AsyncWrite + Unpin>(
    output: Arc<Mutex<Option<W>>>,
    message: TxJsonRpcMessage<RoleServer>,
) -> io::Result<()> {
    let mut line = serde_json::to_vec(&message)?;
    line.push(b'\n');
    let mut output = output.lock().await;
    let output = output.as_mut().ok_or(io::ErrorKind::NotConnected)?;
    output.write_all(&line).await?;
    output.flush().await
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        send(Arc::clone(&self.output), message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            // One after another, so that a flood of them is held up by whoever sends it.
            while self.replies.join_next().await.is_some() {}
            match self.read().await {
                Read::Line => {
                    if let Some(message) = self.message() {
                        return Some(message);
                    }
                }
                Read::TooLong => {
                    let message =
                        format!("A message has at most {} bytes; this one was not read.", self.longest);
                    self.reply(None, ErrorData::invalid_request(message, None));
                }
                Read::End => return None,
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        // Whoever writes has it; that may be to somebody who does not read.
        match tokio::time::timeout(LAST_WORD, self.output.lock()).await {
            Ok(mut output) => drop(output.take()),
            Err(_) => tracing::debug!("the last answers were not read"),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

    /// What is received of this, and what is answered right away.
    async fn through(input: &str, longest: usize) -> (Vec<Value>, Vec<Value>) {
        let (mut theirs, ours) = tokio::io::duplex(1 << 20);
        let mut lines = Lines::new(input.as_bytes(), ours, longest);
        let mut received = Vec::new();
        while let Some(message) = lines.receive().await {
            received.push(serde_json::to_value(&message).unwrap());
        }
        drop(lines);
        let mut written = String::new();
        tokio::io::AsyncReadExt::read_to_string(&mut theirs, &mut written).await.unwrap();
        (received, written.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
    }

    #[tokio::test]
    async fn messages_come_line_by_line_also_without_a_last_end() {
        let (received, answered) = through(&format!("{LIST}\r\n\n  \n{LIST}"), 1_000).await;
        assert_eq!(received.len(), 2);
        assert_eq!(answered, Vec::<Value>::new());
    }

    #[tokio::test]
    async fn what_is_no_message_is_answered_and_the_next_one_is_received() {
        for (line, code, id) in [
            (r#"{"jsonrpc":"2.0","id":1,"#, -32700, None),
            ("hello", -32700, None),
            (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"x":"\ud800"}}"#, -32700, Some(7)),
            ("[]", -32600, None),
            ("7", -32600, None),
            (r#"{"id":4}"#, -32600, Some(4)),
            (r#"{"id":4,"method":"tools/list"}"#, -32600, Some(4)),
            (r#"{"jsonrpc":"2.0","id":{},"method":"tools/list"}"#, -32600, None),
        ] {
            let (received, answered) = through(&format!("{line}\n{LIST}\n"), 1_000).await;
            assert_eq!(received.len(), 1, "{line}");
            let [answer] = &answered[..] else { panic!("{line}: {answered:?}") };
            assert_eq!(answer["error"]["code"], code, "{line}");
            assert_eq!(answer["id"].as_i64(), id, "{line}");
        }
    }

    #[tokio::test]
    async fn replies_and_notifications_that_nobody_understands_are_passed_over() {
        for line in [r#"{"error":{},"id":null}"#, r#"{"method":"notifications/x","params":7}"#] {
            let (_, answered) = through(&format!("{line}\n"), 1_000).await;
            assert_eq!(answered, Vec::<Value>::new(), "{line}");
        }
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_passed_over_as_a_whole() {
        for length in [101, 8_192, 100_000] {
            let long = "x".repeat(length);
            let (received, answered) = through(&format!("{long}\n{LIST}\n{long}\n{LIST}"), 100).await;
            assert_eq!(received.len(), 2, "{length}");
            let codes: Vec<i64> =
                answered.iter().filter_map(|answer| answer["error"]["code"].as_i64()).collect();
            assert_eq!(codes, [-32600, -32600], "{length}");
        }
    }
}

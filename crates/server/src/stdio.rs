//! Messages as lines on standard input and output.
//!
//! rmcp's own transport ignores a line that is no message, so a client that waits for its response would wait for ever.
//! Here every such line gets an error response, unless it is itself a response or a notification: answering those could
//! go on without end if the other side did the same.

mod input;
mod standard;
mod unwritten;

use std::collections::VecDeque;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::{RoleServer, ServiceExt};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::Mutex;
use tokio::task::JoinSet;

use self::input::Input;
use self::unwritten::{Unwritten, Writing};
use crate::handler::Emend;
use crate::malformed;

/// The longest message: a file of the largest size with every byte escaped.
const LONGEST_MESSAGE: usize = 6 * 64 * 1024 * 1024;
/// The capacity of the buffer that is kept for the next message.
const KEPT_BUFFER: usize = 1024 * 1024;
/// The number of requests whose responses are not written yet; as many as one token has over HTTP.
const REQUESTS: usize = 256;
/// The bytes of unwritten responses above which no more requests are taken. Running requests may still add to them.
const UNWRITTEN_BYTES: usize = 64 * 1024 * 1024;
/// The number of requests that are held while reading goes on, for cancellations and for responses to our own requests.
const HELD_REQUESTS: usize = 64;
/// The bytes of requests that are held.
const HELD_BYTES: usize = 256 * 1024;
/// The time that a held request waits once the input has ended: a little longer than an edit waits for a lock.
const LAST_TURN: Duration = Duration::from_secs(15);
/// The time that a response being written still gets when the transport is closed.
const END_PATIENCE: Duration = Duration::from_secs(1);

/// Serves one client over standard input and output until it closes the input.
pub async fn serve_stdio(emend: Emend) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    serve_over(emend, standard::input()?, standard::output()).await
}

/// Serves one client over these until it closes the input.
pub(crate) async fn serve_over(
    emend: Emend,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let lines = Lines::new(input, output, LONGEST_MESSAGE);
    let service = match emend.serve(lines).await {
        Ok(service) => service,
        // A client that leaves before it has initialized is no error.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    service.waiting().await?;
    Ok(())
}

/// The transport, with a message on each line.
struct Lines<R, W> {
    input: Input<R>,
    line: Vec<u8>,
    longest: usize,
    /// Whether the rest of a line that is too long is being skipped.
    is_skipping: bool,
    /// The requests that wait until others are answered, with the lengths of their lines.
    held: VecDeque<(RxJsonRpcMessage<RoleServer>, usize)>,
    unwritten: Arc<Unwritten>,
    /// The time that held requests wait once the input has ended.
    last_turn: Duration,
    /// The output; `None` once the transport is closed.
    output: Arc<Mutex<Option<W>>>,
    /// The tasks that write the error responses to lines that are no messages.
    replies: JoinSet<()>,
}

/// The result of reading a line.
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
            input: Input::new(input),
            line: Vec::new(),
            longest,
            is_skipping: false,
            held: VecDeque::new(),
            unwritten: Unwritten::new(REQUESTS, UNWRITTEN_BYTES),
            last_turn: LAST_TURN,
            output: Arc::new(Mutex::new(Some(output))),
            replies: JoinSet::new(),
        }
    }

    /// Reads into `self.line` up to its end. Cancel-safe.
    async fn read(&mut self) -> Read {
        loop {
            let available = self.input.fill().await;
            if available.is_empty() {
                // The last line may lack its line ending.
                let has_rest = !self.line.is_empty() && !self.is_skipping;
                return if has_rest { Read::Line } else { Read::End };
            }
            let end = memchr::memchr(b'\n', available);
            let taken = end.unwrap_or(available.len());
            let fits = self.line.len() + taken <= self.longest;
            if fits && !self.is_skipping {
                self.line.extend_from_slice(&available[..taken]);
            }
            self.input.consume(end.map_or(taken, |end| end + 1));
            let was_skipping = self.is_skipping;
            self.is_skipping = (was_skipping || !fits) && end.is_none();
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

    /// Sends an error response without the service, in a task of its own, since `receive` may be cancelled halfway.
    fn reply(&mut self, id: Option<RequestId>, error: ErrorData) {
        let message = TxJsonRpcMessage::<RoleServer>::error(error, id);
        let sending = send(Arc::clone(&self.output), message, None);
        self.replies.spawn(async move {
            // A client that is gone needs no response.
            let _ = sending.await;
        });
    }

    /// Returns the next held request, if there is room for it.
    fn next_held(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        if !self.unwritten.has_room() {
            return None;
        }
        let (mut message, _) = self.held.pop_front()?;
        self.unwritten.receive(&mut message);
        Some(message)
    }

    /// Returns whether reading pauses until a held request can be taken.
    fn is_held_up(&self) -> bool {
        let bytes = self.held.iter().map(|(_, length)| length).sum::<usize>();
        !self.held.is_empty()
            && (self.held.len() >= HELD_REQUESTS || bytes >= HELD_BYTES || self.input.has_ended())
    }

    /// Receives an uncounted message, which need not wait for held requests. A cancellation removes its held request.
    fn receive_uncounted(&mut self, message: &mut RxJsonRpcMessage<RoleServer>) {
        if let Some(id) = unwritten::cancelled_request(message) {
            self.held.retain(|(held, _)| !matches!(held, JsonRpcMessage::Request(held) if held.id == *id));
        }
        self.unwritten.receive(message);
    }

    /// Returns the message, unless it is a request whose id another one has that is not answered yet: rmcp would send one
    /// response for both. The refusal names no id, since the first request still waits for its own response.
    fn with_new_id(&mut self, message: RxJsonRpcMessage<RoleServer>) -> Option<RxJsonRpcMessage<RoleServer>> {
        let JsonRpcMessage::Request(request) = &message else { return Some(message) };
        let is_same = |held: &RxJsonRpcMessage<RoleServer>| matches!(held, JsonRpcMessage::Request(held) if held.id == request.id);
        if !self.unwritten.has(&request.id) && !self.held.iter().any(|(held, _)| is_same(held)) {
            return Some(message);
        }
        let message = format!(
            "A request with the id {} is not answered yet, so this one was not carried out. Send it with another id.",
            request.id
        );
        self.reply(None, ErrorData::invalid_request(message, None));
        None
    }

    /// Parses the line into a message. If it is none, an error response is sent where it gets one.
    fn parse_line(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
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

/// Waits for `awaited`, but only as long as `limit` once the input has ended: a client that sends no more may not read
/// either. Returns whether it completed.
async fn wait_while_open<R: AsyncRead + Unpin>(
    input: &mut Input<R>,
    limit: Duration,
    awaited: impl Future<Output = ()>,
) -> bool {
    let mut awaited = pin!(awaited);
    tokio::select! {
        biased;
        () = &mut awaited => return true,
        () = input.look_ahead() => {}
    }
    if input.is_over {
        return tokio::time::timeout(limit, awaited).await.is_ok();
    }
    awaited.await;
    true
}

async fn send<W: AsyncWrite + Unpin>(
    output: Arc<Mutex<Option<W>>>,
    message: TxJsonRpcMessage<RoleServer>,
    mut writing: Option<Writing>,
) -> io::Result<()> {
    let mut line = serde_json::to_vec(&message)?;
    // The message is not kept beside its line while that waits.
    drop(message);
    line.push(b'\n');
    if let Some(writing) = &mut writing {
        writing.add_bytes(line.len());
    }
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
        let writing = self.unwritten.send(&message);
        send(Arc::clone(&self.output), message, Some(writing))
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(message) = self.next_held() {
                return Some(message);
            }
            // Error responses are written before reading goes on, so that a flood of bad lines slows its sender down.
            let replied = async { while self.replies.join_next().await.is_some() {} };
            if !wait_while_open(&mut self.input, self.last_turn, replied).await {
                return None;
            }
            let unwritten = Arc::clone(&self.unwritten);
            if self.is_held_up() {
                if !wait_while_open(&mut self.input, self.last_turn, unwritten.wait_for_room()).await {
                    return None;
                }
                continue;
            }
            let has_held = !self.held.is_empty();
            let read = tokio::select! {
                biased;
                () = unwritten.wait_for_room(), if has_held => continue,
                read = self.read() => read,
            };
            match read {
                Read::Line => {
                    let length = self.line.len();
                    match self.parse_line().and_then(|message| self.with_new_id(message)) {
                        Some(message) if Unwritten::is_counted(&message) => {
                            self.held.push_back((message, length));
                        }
                        Some(mut message) => {
                            self.receive_uncounted(&mut message);
                            return Some(message);
                        }
                        None => {}
                    }
                }
                Read::TooLong => {
                    let message =
                        format!("A message has at most {} bytes; this one was not read.", self.longest);
                    self.reply(None, ErrorData::invalid_request(message, None));
                }
                Read::End if self.held.is_empty() => return None,
                Read::End => {}
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        // A writer holds the lock, perhaps for a client that does not read.
        match tokio::time::timeout(END_PATIENCE, self.output.lock()).await {
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
    const OTHER: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;

    /// Returns the messages that are received from this input, and the error responses to it.
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
    async fn a_request_with_the_id_of_one_that_has_no_answer_yet_is_refused() {
        let other = LIST.replace(":1,", ":\"1\",");
        let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
        let (received, answered) =
            through(&format!("{LIST}\n{other}\n{LIST}\n{cancel}\n{LIST}\n"), 1_000).await;
        assert_eq!(received.len(), 4, "{received:?}");
        let [refused] = &answered[..] else { panic!("{answered:?}") };
        assert!(refused.get("id").is_none_or(Value::is_null), "it is no answer to the first: {refused}");
        assert_eq!(refused["error"]["code"], -32_600);
        assert!(refused["error"]["message"].as_str().unwrap().contains("id 1 "), "{refused}");
    }

    #[tokio::test]
    async fn messages_come_line_by_line_also_without_a_last_end() {
        let (received, answered) = through(&format!("{LIST}\r\n\n  \n{OTHER}"), 1_000).await;
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
            let (received, answered) = through(&format!("{long}\n{LIST}\n{long}\n{OTHER}"), 100).await;
            assert_eq!(received.len(), 2, "{length}");
            let codes: Vec<i64> =
                answered.iter().filter_map(|answer| answer["error"]["code"].as_i64()).collect();
            assert_eq!(codes, [-32600, -32600], "{length}");
        }
    }

    /// Returns the output of a future that is ready at once.
    async fn now<T>(future: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            yielded = future => Some(yielded),
            () = std::future::ready(()) => None,
        }
    }

    fn list(id: usize) -> String {
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/list\"}}\n")
    }

    fn cancelled(id: usize) -> String {
        let notification = "\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"";
        format!("{{{notification},\"params\":{{\"requestId\":{id}}}}}\n")
    }

    fn answer(id: usize) -> TxJsonRpcMessage<RoleServer> {
        let id = RequestId::Number(id.try_into().unwrap());
        TxJsonRpcMessage::<RoleServer>::error(ErrorData::internal_error("", None), Some(id))
    }

    #[tokio::test]
    async fn no_more_requests_are_taken_while_nobody_reads_the_answers() {
        let (mut theirs, ours) = tokio::io::duplex(8);
        let mut input: String = (0..REQUESTS).map(list).collect();
        input += &cancelled(0);
        input.extend((REQUESTS..REQUESTS + 3).map(list));
        let mut lines = Lines::new(input.as_bytes(), ours, 1_000);
        for _ in 0..REQUESTS {
            assert!(now(lines.receive()).await.is_some());
        }
        // The cancellation is received, and has removed a held request.
        assert!(now(lines.receive()).await.is_some());
        assert!(lines.held.is_empty());
        assert!(now(lines.receive()).await.is_some());
        assert!(now(lines.receive()).await.is_none());
        let writing = tokio::spawn(lines.send(answer(1)));
        tokio::task::yield_now().await;
        assert!(!writing.is_finished());
        assert!(now(lines.receive()).await.is_none(), "its answer was not read");
        while tokio::io::AsyncReadExt::read_u8(&mut theirs).await.unwrap() != b'\n' {}
        writing.await.unwrap().unwrap();
        assert!(now(lines.receive()).await.flatten().is_some());
        assert!(now(lines.receive()).await.is_none());
        // The client reads nothing, and the input has ended.
        lines.last_turn = Duration::from_millis(1);
        assert!(lines.receive().await.is_none());
    }

    #[tokio::test]
    async fn what_ends_a_request_that_has_had_no_turn_is_read_and_that_one_is_dropped() {
        let (_theirs, ours) = tokio::io::duplex(8);
        let mut input: String = (0..REQUESTS + 3).map(list).collect();
        input += &cancelled(REQUESTS + 1);
        let mut lines = Lines::new(input.as_bytes(), ours, 1_000);
        for _ in 0..REQUESTS {
            assert!(now(lines.receive()).await.is_some());
        }
        assert!(matches!(now(lines.receive()).await, Some(Some(JsonRpcMessage::Notification(_)))));
        let waiting = lines.held.iter().map(|(held, _)| serde_json::to_value(held).unwrap()["id"].clone());
        assert_eq!(waiting.collect::<Vec<_>>(), [REQUESTS, REQUESTS + 2]);
    }

    #[tokio::test]
    async fn no_more_requests_are_taken_while_many_bytes_of_answers_wait() {
        let (mut theirs, ours) = tokio::io::duplex(8);
        let input: String = (0..3).map(list).collect();
        let mut lines = Lines::new(input.as_bytes(), ours, 1_000);
        lines.unwritten = Unwritten::new(REQUESTS, 20);
        assert!(now(lines.receive()).await.is_some());
        let writing = tokio::spawn(lines.send(answer(0)));
        tokio::task::yield_now().await;
        assert!(now(lines.receive()).await.is_none());
        while tokio::io::AsyncReadExt::read_u8(&mut theirs).await.unwrap() != b'\n' {}
        writing.await.unwrap().unwrap();
        assert!(now(lines.receive()).await.flatten().is_some());
    }

    #[tokio::test]
    async fn a_handler_that_panics_keeps_no_place() {
        let (_theirs, ours) = tokio::io::duplex(1 << 20);
        let input: String = [1, 2].map(list).concat();
        let mut lines = Lines::new(input.as_bytes(), ours, 1_000);
        lines.unwritten = Unwritten::new(1, UNWRITTEN_BYTES);
        let first = lines.receive().await;
        let handler = async move {
            let _request = first;
            panic!("as a handler may");
        };
        assert!(now(lines.receive()).await.is_none());
        assert!(tokio::spawn(handler).await.is_err());
        assert!(now(lines.receive()).await.flatten().is_some());
    }

    #[tokio::test]
    async fn who_sends_no_more_and_reads_nothing_is_not_awaited_for_ever() {
        // The client does not read the error response to the bad line.
        let (_theirs, ours) = tokio::io::duplex(8);
        let mut lines = Lines::new(&b"hello\n"[..], ours, 1_000);
        lines.last_turn = Duration::from_millis(1);
        assert!(lines.receive().await.is_none());
    }

    #[tokio::test]
    async fn the_answers_to_questions_come_in_however_many_requests_wait_for_them() {
        let (_theirs, ours) = tokio::io::duplex(1 << 20);
        let (mut client, input) = tokio::io::duplex(1 << 20);
        let mut lines = Lines::new(input, ours, 1_000);
        let requests: String = (0..REQUESTS + 2).map(list).collect();
        client.write_all(requests.as_bytes()).await.unwrap();
        for _ in 0..REQUESTS {
            assert!(now(lines.receive()).await.is_some());
        }
        assert!(now(lines.receive()).await.is_none());
        let question: TxJsonRpcMessage<RoleServer> = serde_json::from_value(serde_json::json!({
            "jsonrpc": "2.0", "id": 0, "method": "elicitation/create",
            "params": {"message": "?", "requestedSchema": {"type": "object", "properties": {}}},
        }))
        .unwrap();
        lines.send(question).await.unwrap();
        // One of the requests waits for a person, so another one is taken.
        assert!(now(lines.receive()).await.is_some());
        assert!(now(lines.receive()).await.is_none());
        // The person's response comes after a request that is held.
        client
            .write_all(b"{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"action\":\"accept\"}}\n")
            .await
            .unwrap();
        assert!(matches!(lines.receive().await, Some(JsonRpcMessage::Response(_))));
        assert!(now(lines.receive()).await.is_none());
        // The request of the question gets its response.
        lines.send(answer(7)).await.unwrap();
        assert!(now(lines.receive()).await.is_none(), "there is one more than usual");
        lines.send(answer(8)).await.unwrap();
        assert!(now(lines.receive()).await.flatten().is_some());
    }
}

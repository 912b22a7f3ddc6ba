//! A client in this process, for the pages on which a person reviews edits: it speaks with the server as every other client
//! does, so that a call from there takes no other path.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use emend_threads::Mutex as Guarded;
use rmcp::model::JsonObject;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::sync::{Mutex, oneshot};

use crate::handler::Emend;
use crate::review_page;
use crate::stdio;

/// The bytes that are under way in each direction.
const BUFFER: usize = 256 * 1024;

type Waiting = Arc<Guarded<HashMap<u64, oneshot::Sender<Value>>>>;

/// A client in the process of its server.
#[derive(Debug)]
pub struct InProcess {
    output: Mutex<WriteHalf<DuplexStream>>,
    waiting: Waiting,
    last: AtomicU64,
}

impl InProcess {
    /// Connects a person's page to a server of its own, under this name.
    pub async fn connect(emend: Emend, name: &str) -> io::Result<Self> {
        let (here, there) = tokio::io::duplex(BUFFER);
        let (input, output) = tokio::io::split(there);
        tokio::spawn(async move {
            if let Err(error) = stdio::serve_over(emend.for_a_person(), input, output).await {
                tracing::warn!("the page's server ended: {error}");
            }
        });
        let (input, output) = tokio::io::split(here);
        let waiting = Waiting::default();
        tokio::spawn(receive(input, Arc::clone(&waiting)));
        let client = Self { output: Mutex::new(output), waiting, last: AtomicU64::new(0) };
        let hello = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"extensions": review_page::declaration()},
            "clientInfo": {"name": name, "version": env!("CARGO_PKG_VERSION")},
        });
        client.request("initialize", hello).await?;
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await?;
        Ok(client)
    }

    /// Calls a tool and returns its result, or the error of the protocol as one.
    pub async fn call(&self, tool: &str, arguments: JsonObject) -> io::Result<Value> {
        let answer = self.request("tools/call", json!({"name": tool, "arguments": arguments})).await?;
        Ok(match answer.get("result") {
            Some(result) => result.clone(),
            None => {
                let text =
                    answer["error"]["message"].as_str().unwrap_or("the server gave no answer").to_owned();
                json!({"isError": true, "content": [{"type": "text", "text": text}]})
            }
        })
    }

    async fn request(&self, method: &str, params: Value) -> io::Result<Value> {
        let id = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let (sender, answer) = oneshot::channel();
        self.waiting.lock().insert(id, sender);
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await?;
        answer.await.map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))
    }

    async fn send(&self, message: &Value) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        self.output.lock().await.write_all(&line).await
    }
}

/// Hands each answer to who waits for it. When the server has ended, nobody is left waiting.
async fn receive(input: ReadHalf<DuplexStream>, waiting: Waiting) {
    let mut lines = BufReader::new(input).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        let sender = message["id"].as_u64().and_then(|id| waiting.lock().remove(&id));
        if let Some(sender) = sender {
            let _ = sender.send(message);
        }
    }
    waiting.lock().clear();
}

//! The peers of a client: a server with one tool, and a listener that checks for a TLS handshake.

use std::io::{BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use agentwire_test_support::http::Message;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::load::http::form::SESSION_REVISION;

/// How long a client may take to connect, and to send its first byte.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The first byte of a TLS handshake: its record type.
const HANDSHAKE: u8 = 0x16;

/// A server on a thread of this process. Its sessions have no id, and its answers are JSON. It runs until the process exits.
pub(super) struct Server {
    address: SocketAddr,
    calls: Arc<AtomicUsize>,
}

impl Server {
    pub(super) fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let (address, calls) = (listener.local_addr()?, Arc::new(AtomicUsize::new(0)));
        let counter = calls.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let counter = counter.clone();
                // The end of a connection is not an error.
                thread::spawn(move || drop(serve(&stream, &counter)));
            }
        });
        Ok(Self { address, calls })
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// How often the tool was called.
    pub(super) fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }
}

/// Serves one connection until it ends.
fn serve(stream: &TcpStream, calls: &AtomicUsize) -> Result<()> {
    let mut reader = BufReader::new(stream);
    while let Some(request) = Message::request(&mut reader)? {
        let (status, body) = match request.method() {
            "POST" => answer(&serde_json::from_slice(&request.body)?, calls),
            "DELETE" => ("204 No Content", None),
            _ => ("405 Method Not Allowed", None),
        };
        let text = body.map(|body| body.to_string()).unwrap_or_default();
        let kind = if text.is_empty() { "" } else { "content-type: application/json\r\n" };
        let length = if status.starts_with("204") {
            String::new()
        } else {
            format!("content-length: {}\r\n", text.len())
        };
        write!(&mut &*stream, "HTTP/1.1 {status}\r\n{kind}{length}\r\n{text}")?;
    }
    Ok(())
}

/// The status for a message of the client, and the response to a request.
fn answer(message: &Value, calls: &AtomicUsize) -> (&'static str, Option<Value>) {
    let Some(id) = message.get("id") else { return ("202 Accepted", None) };
    let outcome = match message["method"].as_str() {
        Some("initialize") => Ok(json!({
            "protocolVersion": SESSION_REVISION,
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "stand-in", "version": "0.1.0" },
        })),
        Some("tools/call") => {
            calls.fetch_add(1, Ordering::SeqCst);
            sum(&message["params"])
                .map(|sum| json!({ "content": [{ "type": "text", "text": sum.to_string() }] }))
        }
        _ => Err(json!({ "code": -32601, "message": "Method not found" })),
    };
    let (member, value) = match outcome {
        Ok(result) => ("result", result),
        Err(error) => ("error", error),
    };
    ("200 OK", Some(json!({ "jsonrpc": "2.0", "id": id, member: value })))
}

fn sum(params: &Value) -> Result<i64, Value> {
    let number = |name: &str| params["arguments"][name].as_i64();
    let numbers =
        Some(params).filter(|params| params["name"] == "add").and_then(|_| number("a").zip(number("b")));
    numbers.map(|(a, b)| a + b).ok_or_else(|| json!({ "code": -32602, "message": "Invalid params" }))
}

/// A listener that never answers.
pub(super) struct TlsListener {
    address: SocketAddr,
    first: thread::JoinHandle<Result<u8>>,
}

impl TlsListener {
    pub(super) fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        Ok(Self { address, first: thread::spawn(move || first_byte(&listener)) })
    }

    pub(super) fn url(&self) -> String {
        format!("https://{}/mcp", self.address)
    }

    /// Waits for a client; true when it begins with a TLS handshake.
    pub(super) fn begins_tls(self) -> Result<bool> {
        let first = self.first.join().map_err(|_| anyhow::anyhow!("the listener panicked"))?;
        Ok(first? == HANDSHAKE)
    }
}

fn first_byte(listener: &TcpListener) -> Result<u8> {
    listener.set_nonblocking(true)?;
    let begun = std::time::Instant::now();
    let mut stream = loop {
        match listener.accept() {
            Ok((stream, _)) => break stream,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                ensure!(begun.elapsed() < TIMEOUT, "no client connected");
                thread::sleep(Duration::from_millis(5));
            }
            Err(error) => return Err(error.into()),
        }
    };
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    let mut first = [0];
    stream.read_exact(&mut first).context("the client sent nothing")?;
    Ok(first[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tool_adds_and_its_calls_are_counted() {
        let calls = AtomicUsize::new(0);
        let call = |arguments: Value| {
            let params = json!({ "name": "add", "arguments": arguments });
            answer(&json!({ "id": 1, "method": "tools/call", "params": params }), &calls).1.unwrap()
        };
        assert_eq!(call(json!({ "a": 40, "b": 2 }))["result"]["content"][0]["text"], "42");
        assert_eq!(call(json!({ "a": 40 }))["error"]["code"], -32602);
        assert_eq!(calls.load(Ordering::SeqCst), 2);
        assert_eq!(answer(&json!({ "method": "notifications/initialized" }), &calls), ("202 Accepted", None));
    }
}

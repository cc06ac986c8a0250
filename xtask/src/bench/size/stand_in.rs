//! The other end of a client: a server with one tool, of which the client's first call is all that matters, and a listener
//! that hears whether TLS is spoken.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::super::http::form::SESSION_REVISION;

/// How long a client may take before it connects, or to say something then.
const PATIENCE: Duration = Duration::from_secs(20);

/// The longest body that a client may send.
const LONGEST: usize = 64 * 1024;

/// The first byte of a handshake in TLS: the type of its record.
const HANDSHAKE: u8 = 0x16;

/// A server in a thread of ours, in sessions without a name and with answers in JSON. It stays for as long as we do.
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
                // A client that goes away is no error.
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
    while let Some((method, body)) = read(&mut reader)? {
        let (status, body) = match method.as_str() {
            "POST" => answer(&serde_json::from_slice(&body)?, calls),
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

/// The next request: its method and its body; none where the connection ends.
fn read(reader: &mut impl BufRead) -> Result<Option<(String, Vec<u8>)>> {
    let (mut line, mut length) = (String::new(), 0);
    reader.read_line(&mut line)?;
    let Some(method) = line.split_whitespace().next().map(str::to_owned) else { return Ok(None) };
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse()?;
        }
    }
    ensure!(length <= LONGEST, "a body of {length} bytes");
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some((method, body)))
}

/// What a message of the client gets: the status, and the answer if it asks.
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

/// A listener that answers nothing.
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

    /// Waits for a client and says whether it begins as TLS does.
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
                ensure!(begun.elapsed() < PATIENCE, "nobody connected");
                thread::sleep(Duration::from_millis(5));
            }
            Err(error) => return Err(error.into()),
        }
    };
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut first = [0];
    stream.read_exact(&mut first).context("the client said nothing")?;
    Ok(first[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_whole_and_the_next_one_after_it() {
        let mut bytes: &[u8] =
            b"POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}DELETE /mcp HTTP/1.1\r\nhost: a\r\n\r\n";
        assert_eq!(read(&mut bytes).unwrap(), Some(("POST".to_owned(), b"{}".to_vec())));
        assert_eq!(read(&mut bytes).unwrap(), Some(("DELETE".to_owned(), Vec::new())));
        assert_eq!(read(&mut bytes).unwrap(), None);
        assert!(read(&mut &b"POST / HTTP/1.1\r\ncontent-length: 65537\r\n\r\n"[..]).is_err());
    }

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

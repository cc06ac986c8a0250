//! The parts of a recording: its header and its events.

use std::time::Duration;

use agentwire_jsonrpc::RawJson;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::json_text::encoded;

/// The version of the format.
pub const FORMAT: u32 = 1;

/// The most events of a recording. Each takes about 200 bytes of memory beside its texts.
pub(crate) const EVENT_LIMIT: usize = 2_000_000;

/// The kept bytes of a line beyond the limit: 4 KiB.
pub(crate) const KEPT_OF_LONG_LINE: usize = 4 << 10;

/// A protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Protocol {
    /// The Agent Client Protocol.
    Acp,
    /// The Model Context Protocol.
    Mcp,
}

/// The transport of the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum TransportKind {
    /// Lines on stdin and stdout.
    Stdio,
    /// Streamable HTTP.
    Http,
    /// HTTP+SSE.
    Sse,
}

/// A side of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Side {
    /// The client, in both protocols.
    Client,
    /// The agent of ACP.
    Agent,
    /// The server of MCP. A recorder treats it as an agent, and writes the name that belongs to the protocol.
    Server,
}

impl Side {
    /// Whether it is the client. The agent and the server are the same side.
    pub fn is_client(self) -> bool {
        self == Self::Client
    }

    pub(crate) fn name(self, protocol: Option<Protocol>) -> &'static str {
        match (self, protocol) {
            (Self::Client, _) => "client",
            (Self::Agent, _) | (Self::Server, Some(Protocol::Acp)) => "agent",
            (Self::Server, _) => "server",
        }
    }
}

/// The first line of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Header {
    /// The protocol. `None` if no message shows it.
    pub protocol: Option<Protocol>,
    /// The transport of the messages.
    pub transport: Option<TransportKind>,
    /// The wall-clock time of the start, in RFC 3339.
    pub started: Option<String>,
}

/// A line of a recording.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Event {
    /// The time since the start. `None` in a recording without times.
    pub at: Option<Duration>,
    /// The side that caused the event.
    pub from: Side,
    /// The number of the HTTP exchange that it belongs to.
    pub exchange: Option<u64>,
    /// The kind of the event.
    pub kind: EventKind,
}

/// The kind of an event.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum EventKind {
    /// A JSON-RPC message, or a batch of them.
    Message(RawJson),
    /// A line, a body or the data of an event that is not a JSON object or array.
    Text(Line),
    /// A message that could not be read, of which only the reason is known.
    Unreadable(String),
    /// A line of stderr.
    Stderr(Line),
    /// The head of a request or of a response over HTTP.
    Http(HttpHead),
    /// The side has closed its stream.
    Closed,
    /// The process has ended.
    Exit(Exit),
}

/// A line of any bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Line {
    /// The bytes, without the line's end. Of a line beyond the recorder's limit these are the first 4 KiB.
    pub bytes: Vec<u8>,
    /// The length of the whole line. It is greater than that of `bytes` if the line was cut.
    pub length: u64,
}

impl Line {
    /// A whole line.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        Self { length: bytes.len() as u64, bytes }
    }

    /// Whether the line was not cut.
    pub fn is_whole(&self) -> bool {
        self.length == self.bytes.len() as u64
    }
}

/// The end of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Exit {
    /// Its exit code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    /// The signal that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
}

impl Exit {
    /// The end with a code, or by a signal.
    pub fn new(code: Option<i32>, signal: Option<i32>) -> Self {
        Self { code, signal }
    }
}

/// The head of a request (method and path) or of a response (status).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HttpHead {
    /// The method of a request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The path and the query of a request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The status of a response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The selected headers, in lower case.
    #[serde(default)]
    pub headers: Vec<(String, String)>,
}

impl Event {
    /// An event outside of HTTP exchanges.
    pub fn new(at: impl Into<Option<Duration>>, from: Side, kind: EventKind) -> Self {
        Self { at: at.into(), from, exchange: None, kind }
    }

    /// The event as a line of a recording, without the line's end.
    pub fn to_line(&self, protocol: Option<Protocol>) -> String {
        let mut line = String::from("{");
        if let Some(at) = self.at {
            line.push_str(&format!("\"at\":{}.{:03},", at.as_millis(), at.subsec_micros() % 1000));
        }
        line.push_str(&format!("\"from\":\"{}\",", self.from.name(protocol)));
        if let Some(exchange) = self.exchange {
            line.push_str(&format!("\"exchange\":{exchange},"));
        }
        match &self.kind {
            EventKind::Message(message) => {
                line.push_str("\"message\":");
                line.push_str(message.as_str());
            }
            EventKind::Text(text) => push_line(&mut line, "text", text),
            EventKind::Stderr(text) => push_line(&mut line, "stderr", text),
            EventKind::Unreadable(why) => line.push_str(&format!("\"unreadable\":{}", encoded(why))),
            EventKind::Http(head) => line.push_str(&format!("\"http\":{}", json(head))),
            EventKind::Closed => line.push_str("\"closed\":true"),
            EventKind::Exit(exit) => line.push_str(&format!("\"exit\":{}", json(exit))),
        }
        line.push('}');
        line
    }

    /// The approximate memory of the event, in bytes.
    pub(crate) fn size(&self) -> usize {
        const ENVELOPE: usize = 256;
        ENVELOPE
            + match &self.kind {
                EventKind::Message(message) => message.len(),
                EventKind::Text(line) | EventKind::Stderr(line) => line.bytes.len(),
                EventKind::Unreadable(why) => why.len(),
                EventKind::Http(head) => {
                    head.path.as_ref().map_or(0, String::len)
                        + head.headers.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>()
                }
                EventKind::Closed | EventKind::Exit(_) => 0,
            }
    }
}

fn push_line(out: &mut String, name: &str, line: &Line) {
    match str::from_utf8(&line.bytes) {
        Ok(text) => out.push_str(&format!("\"{name}\":{}", encoded(text))),
        Err(_) => out.push_str(&format!("\"{name}\":{{\"base64\":\"{}\"}}", STANDARD.encode(&line.bytes))),
    }
    if line.length > line.bytes.len() as u64 {
        out.push_str(&format!(",\"length\":{}", line.length));
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("the value has string keys and no failing members")
}

impl Header {
    /// The header as the first line of a recording.
    pub fn to_line(&self) -> String {
        let mut line = format!("{{\"recording\":{FORMAT}");
        if let Some(protocol) = &self.protocol {
            line.push_str(&format!(",\"protocol\":{}", json(protocol)));
        }
        if let Some(transport) = &self.transport {
            line.push_str(&format!(",\"transport\":{}", json(transport)));
        }
        if let Some(started) = &self.started {
            line.push_str(&format!(",\"started\":{}", encoded(started)));
        }
        line.push('}');
        line
    }
}

/// The protocol of a message, shown by the type of the version in `initialize`, or by a method that only one protocol has.
pub(crate) fn protocol_of(message: &RawJson) -> Option<Protocol> {
    let method: String = message.member("method")?.decode().ok()?;
    match method.as_str() {
        "initialize" => {
            let version = message.member("params")?.member("protocolVersion")?;
            Some(if version.as_str().starts_with('"') { Protocol::Mcp } else { Protocol::Acp })
        }
        "server/discover" => Some(Protocol::Mcp),
        method if method.starts_with("session/") => Some(Protocol::Acp),
        method => {
            const MCP: [&str; 6] =
                ["tools/", "resources/", "prompts/", "notifications/", "completion/", "logging/"];
            MCP.iter().any(|start| method.starts_with(start)).then_some(Protocol::Mcp)
        }
    }
}

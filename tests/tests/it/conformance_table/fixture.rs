//! The fixture, and how to ask it for a revision.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::pin::Pin;
use std::process::{Child, Command, Stdio};
use std::task::{Context, Poll};
use std::thread;

use agentwire_jsonrpc::{Frame, Message};
use agentwire_mcp_client::schema::Revision;
use agentwire_transport::{Packet, Transport, TransportError};
use futures::{Sink, Stream};
use serde_json::Value;

/// A transport on which a session is asked for in one revision: clients offer the newest that they know.
pub(super) struct Asking {
    pub(super) transport: Box<dyn Transport>,
    pub(super) revision: Revision,
}

impl Stream for Asking {
    type Item = Result<Packet, TransportError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Pin::new(&mut self.transport).poll_next(cx)
    }
}

impl Sink<Packet> for Asking {
    type Error = TransportError;

    fn poll_ready(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Pin::new(&mut self.transport).poll_ready(cx)
    }

    fn start_send(mut self: Pin<&mut Self>, packet: Packet) -> Result<(), TransportError> {
        let packet = match &packet {
            Packet::Frame { frame: Frame::Single(Message::Request(request)), .. }
                if request.method == "initialize" =>
            {
                let text = packet.into_json().expect("it is a frame");
                let mut hello: Value = serde_json::from_str(&text).expect("it is JSON");
                hello["params"]["protocolVersion"] = self.revision.as_str().into();
                Packet::from_json(&hello.to_string())
            }
            _ => packet,
        };
        Pin::new(&mut self.transport).start_send(packet)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Pin::new(&mut self.transport).poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Pin::new(&mut self.transport).poll_close(cx)
    }
}

/// The fixture on the network.
pub(super) struct Listening {
    process: Child,
    origin: String,
}

impl Listening {
    pub(super) fn start(program: &Path) -> Self {
        let mut process = Command::new(program)
            .arg("127.0.0.1:0")
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it was built");
        let mut stderr = BufReader::new(process.stderr.take().expect("it is a pipe"));
        let mut line = String::new();
        stderr.read_line(&mut line).expect("it says where it listens");
        // Its later output is read, so that it never blocks on a full pipe.
        thread::spawn(move || stderr.read_to_end(&mut Vec::new()));
        let url = line.trim_end().strip_prefix("listening on ").unwrap_or_else(|| panic!("{line}"));
        let origin = url.strip_suffix("/mcp").unwrap_or_else(|| panic!("{line}")).to_owned();
        Self { process, origin }
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.origin)
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        // It may have ended by itself, which the table shows.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

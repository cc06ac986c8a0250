//! ACP over WebSocket. A client's handshake is written byte by byte, so that a check sees the response.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use ring::digest;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

use super::connect::Duplex;
use super::http::{HttpRequest, HttpTarget};
use super::process::MAX_LINE;
use super::received::{Received, deliver, forge};
use crate::fault::{Faults, Head, Incoming};
use crate::trace::{Part, Sender, Trace};
use crate::verdict::{Outcome, Stop, ensure};

/// How long an agent may leave a frame unread.
const WRITE_TIME: Duration = Duration::from_secs(20);

type Frames = WebSocketStream<Box<dyn Duplex>>;

/// A conversation over WebSocket. Dropping it closes the socket.
pub(crate) struct WebSocket {
    /// The response to the handshake, where the suite is the client.
    pub(crate) head: Option<Head>,
    sink: Option<SplitSink<Frames, Message>>,
    trace: Trace,
    faults: Faults,
    injected: mpsc::Sender<Received>,
    reading: AbortHandle,
}

/// The GET that begins a WebSocket, and its key.
pub(crate) fn handshake(target: &HttpTarget) -> Outcome<(HttpRequest, String)> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| Stop::inconclusive(error.to_string()))?;
    let key = STANDARD.encode(bytes);
    let request = target
        .over_http1()
        .request("GET")
        .header("connection", "Upgrade")
        .header("upgrade", "websocket")
        .header("sec-websocket-version", "13")
        .header("sec-websocket-key", &key);
    Ok((request, key))
}

/// The answer to the key of a handshake, as RFC 6455 has it.
pub(crate) fn accept_key(key: &str) -> String {
    let text = format!("{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    STANDARD.encode(digest::digest(&digest::SHA1_FOR_LEGACY_USE_ONLY, text.as_bytes()))
}

impl WebSocket {
    /// Connects, and waits for the response to the handshake.
    pub(crate) async fn open(
        target: &HttpTarget,
        (trace, faults): (&Trace, &Faults),
        received: mpsc::Sender<Received>,
    ) -> Outcome<Self> {
        let (request, key) = handshake(target)?;
        let mut tcp = target.tcp().await?;
        tcp.announce(&request.head_text(), b"");
        tcp.write(&request.head_bytes()).await?;
        let head = tcp.head().await?;
        let what = "status 101 as the response to the handshake of a WebSocket";
        ensure!(head.status == 101, what, "status {}", head.status);
        let accept = head.header("sec-websocket-accept");
        let what = "the `Sec-WebSocket-Accept` that the key of the handshake asks for";
        ensure!(accept == Some(accept_key(&key).as_str()), what, "{accept:?}");
        let (stream, read) = tcp.into_parts();
        let mut socket = Self::over(stream, read, Role::Client, (trace, faults), received).await;
        socket.head = Some(head);
        Ok(socket)
    }

    /// The side of an agent that the suite plays, after the handshake.
    pub(crate) async fn of_agent(
        stream: Box<dyn Duplex>,
        (trace, faults): (&Trace, &Faults),
        received: mpsc::Sender<Received>,
    ) -> Self {
        Self::over(stream, Vec::new(), Role::Server, (trace, faults), received).await
    }

    async fn over(
        stream: Box<dyn Duplex>,
        read: Vec<u8>,
        role: Role,
        (trace, faults): (&Trace, &Faults),
        received: mpsc::Sender<Received>,
    ) -> Self {
        let limit = usize::try_from(MAX_LINE).ok();
        let config = WebSocketConfig::default().max_message_size(limit).max_frame_size(limit);
        let frames = Frames::from_partially_read(stream, read, role, Some(config)).await;
        let (sink, stream) = frames.split();
        let reading = tokio::spawn(read_frames(stream, trace.clone(), faults.clone(), received.clone()));
        Self {
            head: None,
            sink: Some(sink),
            trace: trace.clone(),
            faults: faults.clone(),
            injected: received,
            reading: reading.abort_handle(),
        }
    }

    /// Ends the conversation as a program that exits.
    pub(crate) fn close(&mut self) {
        self.sink = None;
        self.reading.abort();
        // A check that has not read all knows of the end by its own doing.
        let _received = self.injected.try_send(Received::Closed);
    }

    /// Sends a message in a text frame.
    pub(crate) async fn send(&mut self, message: &Value) -> Outcome {
        self.send_frame(Part::TextFrame, message.to_string().as_bytes()).await
    }

    /// Sends each line in a text frame.
    pub(crate) async fn send_bytes(&mut self, bytes: &[u8]) -> Outcome {
        for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            self.send_frame(Part::TextFrame, line).await?;
        }
        Ok(())
    }

    /// Sends a message in a binary frame.
    pub(crate) async fn send_binary(&mut self, message: &Value) -> Outcome {
        self.send_frame(Part::BinaryFrame, message.to_string().as_bytes()).await
    }

    async fn send_frame(&mut self, kind: Part, bytes: &[u8]) -> Outcome {
        self.trace.add(Sender::Suite, kind, bytes);
        let message: Option<Value> = serde_json::from_slice(bytes).ok();
        let (kept, forged) = message.map_or((false, Vec::new()), |message| self.faults.outgoing(&message));
        if !kept {
            let frame = match kind {
                Part::BinaryFrame => Message::binary(bytes.to_vec()),
                _ => Message::text(String::from_utf8_lossy(bytes).into_owned()),
            };
            let Some(sink) = &mut self.sink else {
                return Err(Stop::inconclusive("the conversation was ended before"));
            };
            match tokio::time::timeout(WRITE_TIME, sink.send(frame)).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => {
                    return Err(Stop::failed(
                        "the program reads the WebSocket",
                        format!("writing failed: {error}"),
                    ));
                }
                Err(_) => {
                    return Err(Stop::failed("the program reads the WebSocket", "it read nothing for 20 s"));
                }
            }
        }
        forge(forged, &self.trace, &self.injected).await;
        Ok(())
    }
}

impl Drop for WebSocket {
    fn drop(&mut self) {
        self.reading.abort();
    }
}

/// Reads frames up to the end.
async fn read_frames(
    mut stream: SplitStream<Frames>,
    trace: Trace,
    faults: Faults,
    received: mpsc::Sender<Received>,
) {
    loop {
        let arrived = match stream.next().await {
            Some(Ok(Message::Text(text))) => {
                Incoming::Frame { is_text: true, bytes: text.as_str().as_bytes().to_vec() }
            }
            Some(Ok(Message::Binary(bytes))) => Incoming::Frame { is_text: false, bytes: bytes.to_vec() },
            Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => continue,
            Some(Ok(Message::Close(_)) | Err(_)) | None => Incoming::Closed,
        };
        let ends = matches!(arrived, Incoming::Closed);
        if !deliver(arrived, "WebSocket", (&trace, &faults), &received).await || ends {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::accept_key;

    #[test]
    fn a_key_has_the_answer_of_the_rfc() {
        assert_eq!(accept_key("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }
}

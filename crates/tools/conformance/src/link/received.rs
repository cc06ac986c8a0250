//! The messages that a check receives from its subject, and the queue that passes them on.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::http::HttpResponse;
use crate::fault::{Faults, Incoming};
use crate::trace::{Part, Sender, Trace};
use crate::verdict::Stop;

/// How many messages of a subject wait for a check before the suite reads no further.
pub(crate) const QUEUE: usize = 4096;
/// The most bytes that a verdict shows of a line that is not JSON.
const SHOWN: usize = 200;
/// How long an event stream may be silent: a check ends long before.
const SILENCE: Duration = Duration::from_secs(600);

/// A message with the HTTP request that brought it.
#[derive(Debug, Clone)]
pub(crate) struct Arrived {
    pub(crate) message: Value,
    /// The number of the HTTP request; 0 elsewhere.
    pub(crate) stream: u32,
}

/// Something that a check receives.
#[derive(Debug, Clone)]
pub(crate) enum Received {
    /// A message, or a batch of them.
    Message {
        message: Value,
        /// The HTTP request that brought it; 0 elsewhere.
        stream: u32,
    },
    /// A line that is not JSON.
    Text(Vec<u8>),
    /// An HTTP response without a message, with a status that is not a success.
    Status { status: u16, body: String },
    /// An error of the connection.
    Broken(Stop),
    /// The end of the conversation.
    Closed,
}

impl Received {
    pub(crate) fn of_line(line: Vec<u8>) -> Self {
        match serde_json::from_slice(&line) {
            Ok(message) => Self::Message { message, stream: 0 },
            Err(_) => Self::Text(line),
        }
    }
}

/// The part of a verdict about lines that are not JSON, after the message that did not come.
pub(crate) fn unreadable(lines: &[Vec<u8>]) -> String {
    let Some(first) = lines.first() else { return String::new() };
    let shown = String::from_utf8_lossy(first.get(..SHOWN).unwrap_or(first));
    let (count, are) = (lines.len(), if lines.len() == 1 { "line is" } else { "lines are" });
    format!("; {count} {are} not JSON, the first: `{shown}`")
}

/// The response to a request: a result or an error object.
pub(crate) fn reply_to(request: &Value, answer: Result<Value, Value>) -> Value {
    let id = request.get("id").cloned().unwrap_or_default();
    match answer {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
    }
}

/// Lets messages that a fault forges arrive.
pub(crate) async fn forge(forged: Vec<Value>, trace: &Trace, received: &mpsc::Sender<Received>) {
    for message in forged {
        trace.add(Sender::Subject, Part::Line, message.to_string().as_bytes());
        // The check may have ended.
        let _received = received.send(Received::Message { message, stream: 0 }).await;
    }
}

/// Passes on messages that a fault forged, and that are written down already.
pub(super) async fn forward(forged: Vec<Value>, received: &mpsc::Sender<Received>) {
    for message in forged {
        // The check may have ended.
        let _received = received.send(Received::Message { message, stream: 0 }).await;
    }
}

/// Passes on the messages of an event stream, up to its end.
pub(super) async fn forward_events(response: &mut HttpResponse, received: &mpsc::Sender<Received>) {
    while let Some(arrived) = next_in(response).await {
        if received.send(arrived).await.is_err() {
            return;
        }
    }
}

/// The next message of an event stream, or why it is read no further; nothing at its end.
pub(super) async fn next_in(response: &mut HttpResponse) -> Option<Received> {
    let stream = response.head.exchange;
    loop {
        match response.event_or_silence(SILENCE).await {
            Ok(Some(Some(event))) if event.is_message() => {
                return Some(match serde_json::from_str(&event.data) {
                    Ok(message) => Received::Message { message, stream },
                    Err(_) => Received::Text(event.data.into_bytes()),
                });
            }
            Ok(Some(Some(_))) => {}
            Ok(_) => return None,
            Err(stop) => return Some(Received::Broken(stop)),
        }
    }
}

/// Reads the body of a response that is not an event stream. Nothing is received of an empty one whose status is a success.
pub(super) async fn read_body(response: &mut HttpResponse) -> Option<Received> {
    let (status, stream) = (response.status(), response.head.exchange);
    let bytes = match response.bytes().await {
        Ok(bytes) => bytes,
        Err(stop) => return Some(Received::Broken(stop)),
    };
    match serde_json::from_slice::<Value>(&bytes) {
        Ok(message) if message.is_object() || message.is_array() => {
            Some(Received::Message { message, stream })
        }
        // A fault may have lost the message, and forged another.
        _ if bytes.is_empty() && (200..300).contains(&status) => None,
        _ => Some(Received::Status { status, body: String::from_utf8_lossy(&bytes).into_owned() }),
    }
}

/// Passes something that arrived by itself through the fault to the trace and to the check. Returns whether the check goes on
/// and more may be received.
pub(super) async fn deliver(
    arrived: Incoming,
    end: &str,
    (trace, faults): (&Trace, &Faults),
    received: &mpsc::Sender<Received>,
) -> bool {
    let forged_as = if matches!(arrived, Incoming::Frame { .. }) { Part::TextFrame } else { Part::Line };
    for incoming in faults.incoming(arrived) {
        let message = match incoming {
            Incoming::Line(line) => {
                trace.add(Sender::Subject, Part::Line, &line);
                within_limit(trace, line)
            }
            Incoming::Frame { is_text: true, bytes } => {
                trace.add(Sender::Subject, Part::TextFrame, &bytes);
                within_limit(trace, bytes)
            }
            Incoming::Frame { is_text: false, bytes } => {
                // It is not a message.
                trace.add(Sender::Subject, Part::BinaryFrame, &bytes);
                continue;
            }
            Incoming::Forged(message) => {
                trace.add(Sender::Subject, forged_as, message.to_string().as_bytes());
                Received::Message { message, stream: 0 }
            }
            Incoming::Closed => {
                trace.add(Sender::Subject, Part::End, end.as_bytes());
                Received::Closed
            }
            _ => continue,
        };
        let is_last = matches!(message, Received::Broken(_));
        if received.send(message).await.is_err() || is_last {
            return false;
        }
    }
    true
}

/// Parses a line. Fails if the subject has sent too much.
fn within_limit(trace: &Trace, line: Vec<u8>) -> Received {
    match trace.expect_within_limit() {
        Ok(()) => Received::of_line(line),
        Err(stop) => Received::Broken(stop),
    }
}

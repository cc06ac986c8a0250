//! What a check receives from its subject, and how it is passed on.

use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc;

use super::http::HttpResponse;
use crate::trace::{Part, Sender, Trace};
use crate::verdict::Stop;

/// How many messages of a subject wait for a check before the suite reads no further.
pub(crate) const QUEUE: usize = 4096;
/// How long an event stream may be silent: a check ends long before.
const SILENCE: Duration = Duration::from_secs(600);

/// Something that a check receives.
#[derive(Debug, Clone)]
pub(crate) enum Received {
    /// A message, or a batch of them.
    Message {
        message: Value,
        /// The HTTP request that brought it; 0 elsewhere.
        stream: u32,
    },
    /// A line that is no JSON.
    Text(Vec<u8>),
    /// An HTTP response that is no message, with a status that is no success.
    Status { status: u16, body: String },
    /// What went wrong below.
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
    let stream = response.head.exchange;
    while let Ok(Some(Some(event))) = response.event_or_silence(SILENCE).await {
        if !event.is_message() {
            continue;
        }
        let arrived = match serde_json::from_str(&event.data) {
            Ok(message) => Received::Message { message, stream },
            Err(_) => Received::Text(event.data.into_bytes()),
        };
        if received.send(arrived).await.is_err() {
            return;
        }
    }
}

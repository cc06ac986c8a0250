//! The readiness of a session's client, at this node and in the record of the session.
//!
//! A client sends `notifications/initialized` to one node. The service of each other node gets it once as well: from the record, or
//! before the first request that only a ready client sends. So each node passes through these states:
//!
//! ```text
//!                   receive               note_record(true)
//!     Opened ─────────────────▶ Ready ──────────────────────▶ Recorded
//!        │                        ▲                               │
//!        │                        └───────────────────────────────┘
//!        ▼                               note_record(false)
//!     `ping` and answers pass
//! ```
//!
//! - *Opened*: the service has not received `notifications/initialized`.
//! - *Ready*: the service has received it, or has it in the inbox. The record lacks it, and the tick of the node stores it there. A
//!   session whose id is sealed has no record, so this is its last state.
//! - *Recorded*: the record has it too, so a node that loads the session begins as *Ready*. A store that fails over may lose it again.

use std::sync::atomic::{AtomicU8, Ordering};

use agentwire_jsonrpc::{Frame, Message};
use agentwire_mcp_wire::method;

use crate::server::nodes::record::message::{initialized, messages};

const OPENED: u8 = 0;
const READY: u8 = 1;
const RECORDED: u8 = 2;

/// The readiness of a session's client: *Opened*, *Ready* or *Recorded*.
#[derive(Debug, Default)]
pub(crate) struct Readiness(AtomicU8);

/// A frame of the client, split into a notification that the service gets first and the rest.
#[derive(Debug)]
pub(crate) struct ReceivedFrame {
    /// The notification for the service.
    pub(crate) first: Option<Message>,
    /// The frame without a repeated notification. `None` if nothing is left.
    pub(crate) rest: Option<Frame>,
}

impl Readiness {
    /// Changes *Opened* to *Ready* on `notifications/initialized`, or on a request other than `ping`, which a client may send
    /// before it is ready. Called for each frame of the client, under the lock of its session.
    pub(crate) fn receive(&self, frame: Frame) -> ReceivedFrame {
        let is_opened = self.0.load(Ordering::SeqCst) == OPENED;
        if !messages(&frame)
            .any(|message| is_initialized(message) || is_opened && needs_ready_client(message))
        {
            return ReceivedFrame { first: None, rest: Some(frame) };
        }
        let (sent, rest) = split(frame);
        let is_first = self.change(OPENED, READY);
        ReceivedFrame { first: is_first.then(|| sent.unwrap_or_else(initialized)), rest }
    }

    /// Changes *Ready* to *Recorded* if the record has `notifications/initialized`, and *Recorded* to *Ready* if not. *Opened*
    /// stays.
    pub(crate) fn note_record(&self, has_initialized: bool) {
        let (from, to) = if has_initialized { (READY, RECORDED) } else { (RECORDED, READY) };
        self.change(from, to);
    }

    /// Whether the state is *Ready*: the record lacks the notification that the service has received.
    pub(crate) fn is_unrecorded(&self) -> bool {
        self.0.load(Ordering::SeqCst) == READY
    }

    fn change(&self, from: u8, to: u8) -> bool {
        self.0.compare_exchange(from, to, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }
}

/// Takes `notifications/initialized` out of a frame.
fn split(frame: Frame) -> (Option<Message>, Option<Frame>) {
    match frame {
        Frame::Single(message) if is_initialized(&message) => (Some(message), None),
        Frame::Batch(batch) => {
            let (mut sent, mut rest) = (None, Vec::with_capacity(batch.len()));
            for message in batch {
                match message {
                    Ok(message) if is_initialized(&message) => sent = Some(message),
                    message => rest.push(message),
                }
            }
            (sent, (!rest.is_empty()).then_some(Frame::Batch(rest)))
        }
        frame => (None, Some(frame)),
    }
}

fn is_initialized(message: &Message) -> bool {
    matches!(message, Message::Notification(notification) if notification.method == method::INITIALIZED)
}

fn needs_ready_client(message: &Message) -> bool {
    matches!(message, Message::Request(request) if request.method != method::PING)
}

#[cfg(test)]
mod tests {
    use super::*;

    const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    const LIST: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;

    /// The texts of the notification to the service, and of the rest.
    fn receive(readiness: &Readiness, frame: &str) -> (Option<String>, Option<String>) {
        let ReceivedFrame { first, rest } = readiness.receive(Frame::parse(frame.into()));
        let text = |frame: Frame| {
            let mut text = Vec::new();
            frame.write(&mut text);
            String::from_utf8(text).unwrap()
        };
        (first.map(|first| text(Frame::Single(first))), rest.map(text))
    }

    fn received(first: Option<&str>, rest: Option<&str>) -> (Option<String>, Option<String>) {
        (first.map(Into::into), rest.map(Into::into))
    }

    #[test]
    fn first_message_of_a_ready_client_notifies_the_service_once() {
        let batch = format!("[{PING},{INITIALIZED},{LIST}]");
        let rest = format!("[{PING},{LIST}]");
        let frames = [
            (INITIALIZED, None),
            (LIST, Some(LIST)),
            (&*batch, Some(&*rest)),
            (&*format!("[{LIST}]"), Some(&*format!("[{LIST}]"))),
            (&*format!("[{INITIALIZED}]"), None),
        ];
        for (frame, rest) in frames {
            let readiness = Readiness::default();
            assert_eq!(receive(&readiness, frame), received(Some(INITIALIZED), rest), "{frame}");
            assert!(readiness.is_unrecorded());
            assert_eq!(receive(&readiness, frame), received(None, rest), "{frame} again");
        }
    }

    #[test]
    fn messages_that_any_client_sends_leave_it_opened() {
        let readiness = Readiness::default();
        let answer = r#"{"jsonrpc":"2.0","id":"s","result":{}}"#;
        let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
        for frame in [PING, answer, cancel, &format!("[{PING},{answer}]")] {
            assert_eq!(receive(&readiness, frame), received(None, Some(frame)));
        }
        readiness.note_record(true);
        assert!(!readiness.is_unrecorded());
        assert_eq!(receive(&readiness, LIST), received(Some(INITIALIZED), Some(LIST)));
    }

    #[test]
    fn a_ready_client_is_recorded_until_the_store_loses_it() {
        let readiness = Readiness::default();
        readiness.note_record(false);
        assert!(!readiness.is_unrecorded(), "the service has not been told");
        receive(&readiness, LIST);
        for has_initialized in [false, true, true, false, true] {
            readiness.note_record(has_initialized);
            assert_eq!(readiness.is_unrecorded(), !has_initialized);
            assert_eq!(receive(&readiness, INITIALIZED), received(None, None), "it is received once");
        }
    }
}

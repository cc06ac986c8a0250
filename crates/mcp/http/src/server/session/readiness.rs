//! That the client of a session is ready, which it may have told another node alone.

use std::sync::Arc;

use agentwire_jsonrpc::{Frame, Message};
use agentwire_mcp_wire::method;

use crate::server::Head;
use crate::server::nodes::message::{initialized, messages};
use crate::server::session::Session;
use crate::server::session::remote::packet;
use crate::server::session::state::SessionState;

impl Session {
    /// Whether its service has been told that the client is ready, or is about to be.
    pub(crate) fn is_initialized(&self) -> bool {
        self.lock().initialized
    }

    /// Tells the service of a session of several nodes once that the client is ready: before the first request other than `ping`,
    /// which a client may send before it is ready. Called when a frame is taken. Returns the frame without what says it again; none
    /// where nothing is left.
    pub(super) fn initialize_once(
        &self,
        state: &mut SessionState,
        frame: Frame,
        head: Option<&Arc<Head>>,
    ) -> Option<Frame> {
        let is_of_one_node = self.shared.is_none() && self.sealed.is_none();
        if is_of_one_node || state.initialized && !messages(&frame).any(is_initialized) {
            return Some(frame);
        }
        let (said, rest) = match frame {
            Frame::Single(message) if is_initialized(&message) => (Some(message), None),
            Frame::Single(message) if is_of_ready_client(&message) => (None, Some(Frame::Single(message))),
            Frame::Batch(batch) if batch.iter().flatten().any(shows_ready_client) => {
                let (mut said, mut rest) = (None, Vec::with_capacity(batch.len()));
                for message in batch {
                    match message {
                        Ok(message) if is_initialized(&message) => said = Some(message),
                        message => rest.push(message),
                    }
                }
                (said, (!rest.is_empty()).then_some(Frame::Batch(rest)))
            }
            frame => return Some(frame),
        };
        if std::mem::replace(&mut state.initialized, true) {
            return rest;
        }
        // The record has it already where the client has said it here and the store was there.
        if let Some(shared) = self.shared()
            && shared.expect_initialized()
        {
            shared.set_unstored(true);
        }
        let said = Frame::Single(said.unwrap_or_else(initialized));
        if rest.is_none() {
            return Some(said);
        }
        state.inbox.push_back((packet(said, head), None));
        rest
    }
}

fn shows_ready_client(message: &Message) -> bool {
    is_initialized(message) || is_of_ready_client(message)
}

fn is_initialized(message: &Message) -> bool {
    matches!(message, Message::Notification(notification) if notification.method == method::INITIALIZED)
}

/// Whether a client sends the message only once it is ready.
fn is_of_ready_client(message: &Message) -> bool {
    matches!(message, Message::Request(request) if request.method != method::PING)
}

//! Handles the messages of other nodes that concern the sessions of an endpoint.

use std::sync::Weak;

use agentwire_jsonrpc::RawJson;
use agentwire_store::{BusEvent, BusMessage, NodeListener, SessionId};

use crate::server::endpoint::endpoint_core::EndpointCore;
use crate::server::nodes::address;
use crate::server::nodes::record::change::refresh;

/// Receives the messages of other nodes for the sessions of an endpoint.
#[derive(Debug)]
pub(crate) struct BusListener(pub(crate) Weak<EndpointCore>);

impl NodeListener for BusListener {
    fn on_event(&self, event: &BusEvent) {
        let Some(core) = self.0.upgrade() else { return };
        match event {
            BusEvent::Message(BusMessage::SessionEnded(id)) => {
                if let Some(session) = core.sessions.get(*id) {
                    core.sessions.end(&session);
                    core.sessions.forget(*id);
                }
            }
            BusEvent::Message(BusMessage::SessionChanged(id)) => {
                if let Some(session) = core.sessions.get(*id) {
                    session.shared().iter().for_each(|shared| shared.set_stale());
                    let sessions = core.sessions.clone();
                    core.resources.spawn(async move { refresh(&sessions, &session).await });
                }
            }
            BusEvent::Message(BusMessage::Client(id, message)) => receive(&core, *id, message),
            BusEvent::Message(BusMessage::Listens(id, listening)) => {
                if let Some(session) = core.sessions.get(*id) {
                    session.other_listens(*listening, &core.resources);
                }
            }
            BusEvent::Message(BusMessage::ListenerLeft(id, node, keeps)) => {
                if let Some(session) = core.sessions.get(*id) {
                    session.other_left((*node, *keeps), &core.resources);
                }
            }
            BusEvent::Message(BusMessage::Server(id, message)) => {
                if let Some(session) = core.sessions.get(*id) {
                    session.send_kept(message, &core.resources);
                }
            }
            // The next tick reads the records of all sessions again.
            BusEvent::Missed => {
                for session in core.sessions.all() {
                    session.shared().iter().for_each(|shared| shared.set_stale());
                    session.repeat_claim(&core.resources);
                }
            }
            _ => {}
        }
    }
}

/// Passes a message of the client, which another node has forwarded, to its session.
fn receive(core: &EndpointCore, id: SessionId, message: &RawJson) {
    if let Some((node, session)) = core.resources.config.shared_node().zip(core.sessions.get(id))
        && let Some(frame) = address::received(node.id(), message)
    {
        session.take_forwarded(frame, &core.resources);
    }
}

//! Exchanges messages with other nodes about which of them delivers notifications of changes for every client.

use agentwire_jsonrpc::{Frame, Message, RawJson};
use agentwire_store::{BusMessage, ListenClaim, Node, NodeId};

use crate::server::endpoint::resources::Resources;
use crate::server::nodes::delivery::Reaction;
use crate::server::nodes::record::message::text;
use crate::server::nodes::record::shared::SharedSession;
use crate::server::session::Session;
use crate::server::session::state::SessionState;

impl SharedSession {
    /// Whether this node delivers a frame that belongs to no request.
    pub(crate) fn delivers(&self, frame: &Frame) -> bool {
        !is_for_every_client(frame) || !self.delivery.lock().is_elsewhere()
    }
}

impl Session {
    /// Notifies other nodes that the client has opened a GET here.
    pub(crate) fn claim_delivery(&self, resources: &Resources) {
        if let Some((node, shared)) = resources.config.shared_node().zip(self.shared()) {
            let listening = shared.delivery.lock().claim(node.id());
            self.publish(BusMessage::Listens(self.id, listening), node, resources);
        }
    }

    /// Repeats the claim if a GET is open here: other nodes may have missed it, and this node may have missed the end of a newer
    /// GET.
    pub(crate) fn repeat_claim(&self, resources: &Resources) {
        if let Some((node, shared)) = resources.config.shared_node().zip(self.shared())
            && self.lock().listener().is_some()
        {
            let own = shared.delivery.lock().own(node.id());
            self.publish(BusMessage::Listens(self.id, own), node, resources);
        }
    }

    /// Handles a claim: the client has opened a GET at another node, or still has one open there.
    pub(crate) fn other_listens(&self, other: ListenClaim, resources: &Resources) {
        let Some((node, shared)) = resources.config.shared_node().zip(self.shared()) else { return };
        let mut state = self.lock();
        let listens = state.listener().is_some();
        let reaction = shared.delivery.lock().yield_to(other, node.id(), listens);
        match reaction {
            Reaction::Nothing => {}
            Reaction::Claim(own) => self.publish(BusMessage::Listens(self.id, own), node, resources),
            Reaction::Yield { deliverer, hands_over } => {
                let kept = take_for_every_client(&mut state);
                drop(state);
                let (bus, id) = (node.stores().bus.clone(), self.id);
                resources.spawn(async move {
                    // If the GET there is an old one, its node waits for this message.
                    let _lost = bus.send(other.node, BusMessage::ListenerLeft(id, deliverer, false)).await;
                    for message in if hands_over { kept } else { Vec::new() } {
                        let _lost = bus.send(other.node, BusMessage::Server(id, message)).await;
                    }
                });
            }
        }
    }

    /// Notifies other nodes, once, that no GET is open here any more.
    pub(crate) fn note_left(&self, resources: &Resources) {
        if let Some((node, shared)) = resources.config.shared_node().zip(self.shared())
            && self.lock().listener().is_none()
            && shared.delivery.lock().ends()
        {
            self.publish(BusMessage::ListenerLeft(self.id, node.id(), true), node, resources);
        }
    }

    /// Handles the message that the client has no GET open at another node any more.
    pub(crate) fn other_left(&self, other: (NodeId, bool), resources: &Resources) {
        let Some((node, shared)) = resources.config.shared_node().zip(self.shared()) else { return };
        let listens = self.lock().listener().is_some();
        if let Reaction::Claim(own) = shared.delivery.lock().end_of(other, node.id(), listens) {
            self.publish(BusMessage::Listens(self.id, own), node, resources);
        }
    }

    /// Sends the client a notification that another node has kept for it.
    pub(crate) fn send_kept(&self, message: &RawJson, resources: &Resources) {
        let frame = Frame::parse(message.as_str().into());
        if is_for_every_client(&frame) {
            self.send(frame, None, resources);
        }
    }

    /// Notifies other nodes that this one does not deliver any more, if it did.
    pub(crate) fn end_delivery(&self, resources: &Resources) {
        if let Some((node, shared)) = resources.config.shared_node().zip(self.shared())
            && shared.delivery.lock().leave()
        {
            self.publish(BusMessage::ListenerLeft(self.id, node.id(), false), node, resources);
        }
    }

    /// Sends a message to all nodes, or queues it if the store fails. If the message is lost, two nodes may both deliver.
    fn publish(&self, message: BusMessage, node: &Node, resources: &Resources) {
        let node = node.clone();
        resources.spawn(async move {
            if node.publish(message.clone()).await.is_err() {
                node.announce(message);
            }
        });
    }
}

/// Takes out the kept notifications that the service of each node sends.
fn take_for_every_client(state: &mut SessionState) -> Vec<RawJson> {
    let mut taken = Vec::new();
    for frame in std::mem::take(&mut state.unsent) {
        match &frame {
            Frame::Single(message) if is_for_every_client(&frame) => taken.extend(text(message)),
            _ => state.unsent.push_back(frame),
        }
    }
    state.unsent_size = state.unsent.iter().map(Frame::size_hint).sum();
    taken
}

/// Whether the services of all nodes send a frame, because what it reports has changed for every client.
fn is_for_every_client(frame: &Frame) -> bool {
    match frame {
        Frame::Single(Message::Notification(notification)) => {
            let method = &*notification.method;
            method == "notifications/resources/updated" || method.ends_with("/list_changed")
        }
        _ => false,
    }
}

//! Which node delivers what the servers of all nodes send to the client of a session for one change: a message is sent on one stream
//! only.
//!
//! Each node that has the session has a service of its own, so each gets such a notification. The node where the client has opened the
//! newest GET delivers it, and keeps it while no GET is open. It yields to a node where a newer GET is opened, and sends what it has
//! kept there.

use std::time::{SystemTime, UNIX_EPOCH};

use agentwire_jsonrpc::{Frame, Message, RawJson};
use agentwire_store::{BusMessage, Listening, Node, NodeId};

use crate::server::nodes::message::text;
use crate::server::resources::Resources;
use crate::server::session::Session;
use crate::server::session::state::SessionState;

/// Which node delivers, as far as this one knows.
#[derive(Debug)]
pub(super) struct Delivery {
    place: Place,
    /// The newest GET that this node knows of.
    newest: Listening,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Here,
    Other,
    /// The node that did has ended, and no GET has been opened since: each node keeps what there is.
    Nowhere,
}

/// What is to be done where another node listens.
enum Reaction {
    Nothing,
    /// The GET here is newer.
    Claim(Listening),
    /// Another node delivers from now on. What is kept goes there, unless each node has kept the same.
    Yield {
        hands_over: bool,
    },
}

impl Delivery {
    /// The node that opens a session delivers at first.
    pub(super) fn new(is_opener: bool) -> Self {
        let place = if is_opener { Place::Here } else { Place::Other };
        Self { place, newest: Listening { since: 0, node: NodeId::new(0) } }
    }

    /// The client has opened a GET here.
    fn claim(&mut self, node: NodeId) -> Listening {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = u64::try_from(now.as_micros()).unwrap_or(u64::MAX);
        // Where a clock is behind, a GET is still newer than those that are known.
        let since = now.max(self.newest.since.saturating_add(1));
        *self = Self { place: Place::Here, newest: Listening { since, node } };
        self.newest
    }

    fn yield_to(&mut self, other: Listening, listens: bool) -> Reaction {
        if self.place == Place::Here && listens && other < self.newest {
            return Reaction::Claim(self.newest);
        }
        self.newest = self.newest.max(other);
        match std::mem::replace(&mut self.place, Place::Other) {
            Place::Here => Reaction::Yield { hands_over: true },
            Place::Nowhere => Reaction::Yield { hands_over: false },
            Place::Other => Reaction::Nothing,
        }
    }

    /// A node that has delivered does not any more.
    fn end_of(&mut self, other: NodeId, node: NodeId, listens: bool) -> Reaction {
        if self.place != Place::Other || self.newest.node != other {
            return Reaction::Nothing;
        }
        self.place = Place::Nowhere;
        if listens { Reaction::Claim(self.claim(node)) } else { Reaction::Nothing }
    }
}

impl Session {
    /// Whether another node delivers a frame.
    pub(super) fn is_delivered_elsewhere(&self, frame: &Frame) -> bool {
        let Some(shared) = &self.shared else { return false };
        is_for_every_client(frame) && shared.delivery.lock().place == Place::Other
    }

    /// Tells other nodes that the client listens here.
    pub(super) fn claim_delivery(&self, resources: &Resources) {
        if let Some((node, shared)) = resources.config.shared_node().zip(self.shared()) {
            let listening = shared.delivery.lock().claim(node.id());
            self.publish(BusMessage::Listens(self.id, listening), node, resources);
        }
    }

    /// Tells other nodes again that the client listens here, if it does: they may have missed it.
    pub(crate) fn repeat_claim(&self, resources: &Resources) {
        if let Some((node, shared)) = resources.config.shared_node().zip(self.shared())
            && self.lock().listener().is_some()
        {
            let Delivery { place, newest } = &*shared.delivery.lock();
            if *place == Place::Here {
                self.publish(BusMessage::Listens(self.id, *newest), node, resources);
            }
        }
    }

    /// The client has opened a GET at another node.
    pub(crate) fn other_listens(&self, other: Listening, resources: &Resources) {
        let Some((node, shared)) = resources.config.shared_node().zip(self.shared()) else { return };
        let mut state = self.lock();
        let listens = state.listener().is_some();
        let reaction = shared.delivery.lock().yield_to(other, listens);
        match reaction {
            Reaction::Nothing => {}
            Reaction::Claim(own) => self.publish(BusMessage::Listens(self.id, own), node, resources),
            Reaction::Yield { hands_over } => {
                let kept = take_for_every_client(&mut state);
                drop(state);
                if hands_over && !kept.is_empty() {
                    let (bus, id) = (node.stores().bus.clone(), self.id);
                    resources.spawn(async move {
                        for message in kept {
                            let _lost = bus.send(other.node, BusMessage::Server(id, message)).await;
                        }
                    });
                }
            }
        }
    }

    /// Another node does not have the session any more.
    pub(crate) fn other_left(&self, other: NodeId, resources: &Resources) {
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

    /// Tells other nodes that this one does not deliver any more, where it did.
    pub(super) fn end_delivery(&self, resources: &Resources) {
        if let Some((node, shared)) = resources.config.shared_node().zip(self.shared()) {
            let place = std::mem::replace(&mut shared.delivery.lock().place, Place::Other);
            if place == Place::Here {
                self.publish(BusMessage::ListenerLeft(self.id, node.id()), node, resources);
            }
        }
    }

    /// Sends a message to all nodes. Where it is lost, a node that does not know better delivers as well.
    fn publish(&self, message: BusMessage, node: &Node, resources: &Resources) {
        let node = node.clone();
        resources.spawn(async move {
            let _lost = node.publish(message).await;
        });
    }
}

/// Takes the kept notifications that each node gets.
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

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: NodeId = NodeId::new(1);
    const TWO: NodeId = NodeId::new(2);

    #[test]
    fn of_two_nodes_where_a_client_listens_the_newer_one_delivers() {
        let (mut one, mut two) = (Delivery::new(true), Delivery::new(false));
        let (first, second) = (one.claim(ONE), two.claim(TWO));
        // Both have claimed before they hear of each other.
        let (older, newer) = if first < second { (&mut one, &mut two) } else { (&mut two, &mut one) };
        let (low, high) = (first.min(second), first.max(second));
        assert!(matches!(newer.yield_to(low, true), Reaction::Claim(own) if own == high));
        assert!(matches!(older.yield_to(high, true), Reaction::Yield { hands_over: true }));
        assert_eq!((older.place, newer.place), (Place::Other, Place::Here));
        // One that has heard of the other is newer, whatever its clock.
        let third = older.claim(ONE);
        assert!(third > high);
        assert!(matches!(newer.yield_to(third, true), Reaction::Yield { .. }));
    }

    #[test]
    fn a_node_whose_client_has_left_yields_to_any() {
        let mut one = Delivery::new(true);
        one.claim(ONE);
        let old = Listening { since: 1, node: TWO };
        assert!(matches!(one.yield_to(old, false), Reaction::Yield { hands_over: true }));
    }

    #[test]
    fn each_node_keeps_what_there_is_once_the_one_that_delivered_has_ended() {
        let mut two = Delivery::new(false);
        two.yield_to(Listening { since: 7, node: ONE }, false);
        assert!(matches!(two.end_of(TWO, TWO, false), Reaction::Nothing));
        assert_eq!(two.place, Place::Other, "it has not delivered");
        two.end_of(ONE, TWO, false);
        assert_eq!(two.place, Place::Nowhere);
        let other = Listening { since: 9, node: NodeId::new(3) };
        assert!(matches!(two.yield_to(other, false), Reaction::Yield { hands_over: false }));
        assert!(matches!(two.end_of(NodeId::new(3), TWO, true), Reaction::Claim(own) if own > other));
    }
}

//! Chooses the node that delivers a notification which the services of all nodes send, because a client may get it on one stream
//! only.
//!
//! Each node that has the session has its own service, so each has such a notification to send. The node with the client's newest
//! GET delivers it, and keeps it while no GET is open. When a newer GET is opened at another node, it yields and sends the kept
//! notifications there.

mod broadcast;

use std::time::{SystemTime, UNIX_EPOCH};

use agentwire_store::{ListenClaim, NodeId};

/// The node that delivers, as far as this node knows.
#[derive(Debug)]
pub(crate) struct Delivery {
    deliverer: Deliverer,
    /// The newest GET that this node knows of.
    newest: ListenClaim,
    /// The time at which the client has opened its newest GET here, in µs since 1970.
    own_since: u64,
    /// Whether this node has claimed delivery by a GET and has not reported the end of that GET.
    has_open_claim: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deliverer {
    This,
    Other,
    /// The session has ended at the node that delivered, and no GET has been opened since: each node keeps its notifications.
    NoNode,
}

/// The reaction to a GET at another node.
pub(crate) enum Reaction {
    Nothing,
    /// The GET here is newer.
    Claim(ListenClaim),
    /// Another node delivers from now on, in place of `deliverer`. The kept notifications are sent there, unless every node has
    /// kept the same ones.
    Yield {
        deliverer: NodeId,
        hands_over: bool,
    },
}

impl Delivery {
    /// At first the node that opens a session delivers.
    pub(crate) fn new(is_opener: bool) -> Self {
        let deliverer = if is_opener { Deliverer::This } else { Deliverer::Other };
        Self { deliverer, newest: ListenClaim::new(0, NodeId::new(0)), own_since: 0, has_open_claim: false }
    }

    /// Whether another node delivers.
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.deliverer == Deliverer::Other
    }

    /// Leaves delivery to another node. Returns whether this one has delivered.
    pub(crate) fn leave(&mut self) -> bool {
        std::mem::replace(&mut self.deliverer, Deliverer::Other) == Deliverer::This
    }

    /// Claims delivery, because the client has opened a GET here.
    pub(crate) fn claim(&mut self, node: NodeId) -> ListenClaim {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = u64::try_from(now.as_micros()).unwrap_or(u64::MAX);
        // If this node's clock is slow, the GET is still newer than all that are known.
        let since = now.max(self.newest.since.saturating_add(1));
        let newest = ListenClaim::new(since, node);
        *self = Self { deliverer: Deliverer::This, newest, own_since: since, has_open_claim: true };
        newest
    }

    /// The newest GET here, for repeating its claim after messages may have been lost. A node with a newer open GET answers with
    /// a claim. A node without an open GET that still delivers yields to this node, because the end of its own GET was lost.
    pub(crate) fn own(&self, node: NodeId) -> ListenClaim {
        ListenClaim::new(self.own_since, node)
    }

    /// Reacts to an open GET at another node. `listens` is whether one is open here.
    pub(crate) fn yield_to(&mut self, other: ListenClaim, node: NodeId, listens: bool) -> Reaction {
        if self.deliverer == Deliverer::This && listens && other < self.newest {
            return Reaction::Claim(self.newest);
        }
        let before = self.newest.node;
        self.newest = ListenClaim::new(self.newest.since.max(other.since), other.node);
        match std::mem::replace(&mut self.deliverer, Deliverer::Other) {
            Deliverer::This => Reaction::Yield { deliverer: node, hands_over: true },
            Deliverer::NoNode => Reaction::Yield { deliverer: before, hands_over: false },
            Deliverer::Other => Reaction::Nothing,
        }
    }

    /// Whether other nodes should be notified that no GET is open here any more. The client may have an older one at another
    /// node.
    pub(crate) fn ends(&mut self) -> bool {
        self.deliverer == Deliverer::This && std::mem::take(&mut self.has_open_claim)
    }

    /// Reacts to the end of the GET at the node that delivered. `keeps` is whether that node keeps notifications, `listens`
    /// whether a GET is open here.
    pub(crate) fn end_of(&mut self, (other, keeps): (NodeId, bool), node: NodeId, listens: bool) -> Reaction {
        // A session that was loaded after the claim has not received it.
        let is_known = self.newest.since > 0;
        if self.deliverer != Deliverer::Other || is_known && self.newest.node != other {
            return Reaction::Nothing;
        }
        if listens {
            return Reaction::Claim(self.claim(node));
        }
        if !keeps {
            self.deliverer = Deliverer::NoNode;
        }
        Reaction::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: NodeId = NodeId::new(1);
    const TWO: NodeId = NodeId::new(2);

    #[test]
    fn node_with_the_newer_get_delivers() {
        let (mut one, mut two) = (Delivery::new(true), Delivery::new(false));
        let (first, second) = (one.claim(ONE), two.claim(TWO));
        // Both have claimed before they receive each other's claim.
        let (older, newer) = if first < second { (&mut one, &mut two) } else { (&mut two, &mut one) };
        let (low, high) = (first.min(second), first.max(second));
        assert!(matches!(newer.yield_to(low, high.node, true), Reaction::Claim(own) if own == high));
        assert!(matches!(older.yield_to(high, low.node, true), Reaction::Yield { hands_over: true, .. }));
        assert_eq!((older.deliverer, newer.deliverer), (Deliverer::Other, Deliverer::This));
        // A claim that is made with knowledge of the other's is newer, whatever the clock.
        let third = older.claim(ONE);
        assert!(third > high);
        assert!(matches!(newer.yield_to(third, high.node, true), Reaction::Yield { .. }));
    }

    #[test]
    fn node_delivers_once_it_learns_of_the_missed_end_of_a_newer_get() {
        let (mut one, mut two) = (Delivery::new(true), Delivery::new(false));
        let older = one.claim(ONE);
        two.yield_to(older, TWO, false);
        let newer = two.claim(TWO);
        one.yield_to(newer, ONE, true);
        assert_eq!(one.own(ONE), older);
        assert!(matches!(two.yield_to(older, TWO, true), Reaction::Claim(own) if own == newer), "it is open");
        one.yield_to(newer, ONE, true);
        let Reaction::Yield { deliverer: TWO, hands_over: true } = two.yield_to(older, TWO, false) else {
            panic!("it is closed")
        };
        assert!(one.is_elsewhere() && two.is_elsewhere());
        assert!(matches!(one.end_of((TWO, false), ONE, true), Reaction::Claim(own) if own > newer));
    }

    #[test]
    fn node_without_an_open_get_yields_to_any_claim() {
        let mut one = Delivery::new(true);
        one.claim(ONE);
        let old = ListenClaim::new(1, TWO);
        assert!(matches!(
            one.yield_to(old, ONE, false),
            Reaction::Yield { deliverer: ONE, hands_over: true }
        ));
    }

    #[test]
    fn each_node_keeps_notifications_once_the_delivering_node_has_ended() {
        let mut two = Delivery::new(false);
        two.yield_to(ListenClaim::new(7, ONE), TWO, false);
        assert!(matches!(two.end_of((TWO, false), TWO, false), Reaction::Nothing));
        assert_eq!(two.deliverer, Deliverer::Other, "it has not delivered");
        two.end_of((ONE, true), TWO, false);
        assert_eq!(two.deliverer, Deliverer::Other, "it keeps what comes");
        two.end_of((ONE, false), TWO, false);
        assert_eq!(two.deliverer, Deliverer::NoNode);
        let other = ListenClaim::new(9, NodeId::new(3));
        assert!(matches!(
            two.yield_to(other, TWO, false),
            Reaction::Yield { deliverer: ONE, hands_over: false }
        ));
        assert!(matches!(two.end_of((NodeId::new(3), true), TWO, true), Reaction::Claim(own) if own > other));
    }
}

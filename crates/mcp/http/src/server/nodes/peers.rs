//! The field of a session that holds its state for several nodes.

use agentwire_jsonrpc::{Frame, RequestId};

use crate::server::endpoint::resources::Resources;
use crate::server::nodes::record::readiness::{Readiness, ReceivedFrame};
use crate::server::nodes::record::shared::SharedSession;
use crate::server::nodes::sealed::sealed_session::SealedSession;

/// The state of a session for several nodes. For [`SessionPeers::None`], each method returns the default of one node.
#[derive(Debug, Default)]
pub(crate) enum SessionPeers {
    /// Only this node knows the session.
    #[default]
    None,
    /// The record of the session is in the store that nodes share.
    Record(Box<SharedSession>),
    /// The id of the session is sealed, so that any node with the key can continue it.
    Sealed(Box<SealedSession>),
}

impl SessionPeers {
    /// Takes a number for a stream of the session: with one node, `last` + 1. `None` if the caller has to wait for one.
    pub(crate) fn next_number(&self, last: &mut u64) -> Option<u64> {
        if let Self::Record(shared) = self {
            return shared.next_number();
        }
        *last += 1;
        Some(*last)
    }

    /// Takes the number for the stream of the request that opens the session.
    pub(crate) fn first_number(&self, last: &mut u64) -> Option<u64> {
        // The client has no id yet with which it could resume the stream at another node.
        if let Self::Record(_) = self { Some(0) } else { self.next_number(last) }
    }

    /// The requests to store with a stream, so that another node can resume or take it over. Empty without a shared store.
    pub(crate) fn stored_requests<'a>(&self, requests: &'a [RequestId]) -> &'a [RequestId] {
        if let Self::Record(_) = self { requests } else { &[] }
    }

    /// Prepares a frame of the client for the service. Returns a notification to deliver first, and the rest of the frame.
    pub(crate) fn receive(&self, frame: Frame) -> (Option<Frame>, Option<Frame>) {
        let Some(readiness) = self.readiness() else { return (None, Some(frame)) };
        let ReceivedFrame { first, rest } = readiness.receive(frame);
        if first.is_some()
            && let Self::Record(shared) = self
        {
            shared.compare_readiness();
        }
        let first = first.map(Frame::Single);
        if rest.is_none() { (None, first) } else { (first, rest) }
    }

    /// Notes the changes that a frame asks the service for. `is_unanswered` returns whether an earlier request is still
    /// unanswered.
    pub(crate) fn expect(&self, frame: &Frame, is_unanswered: impl Fn(&RequestId) -> bool) {
        if let Self::Record(shared) = self {
            shared.expect(frame, is_unanswered);
        }
    }

    /// Whether this node sends a frame of the service that belongs to no request.
    pub(crate) fn delivers(&self, frame: &Frame) -> bool {
        if let Self::Record(shared) = self { shared.delivers(frame) } else { true }
    }

    /// Whether the id has expired.
    pub(crate) fn has_expired(&self, resources: &Resources) -> bool {
        let (Self::Sealed(session), Some(sealed)) = (self, &resources.config.sealed) else { return false };
        sealed.has_expired(session.expires())
    }

    /// Whether a session that has ended here may continue at other nodes and be loaded again.
    pub(crate) fn continues_elsewhere(&self) -> bool {
        !matches!(self, Self::None)
    }

    /// The readiness of the client. `None` if no other node has the session.
    pub(super) fn readiness(&self) -> Option<&Readiness> {
        match self {
            Self::None => None,
            Self::Record(shared) => Some(&shared.readiness),
            Self::Sealed(sealed) => Some(&sealed.readiness),
        }
    }
}

//! The one field of a session that knows of other nodes.

use agentwire_jsonrpc::{Frame, RequestId};

use crate::server::endpoint::resources::Resources;
use crate::server::nodes::record::readiness::{Readiness, ReceivedFrame};
use crate::server::nodes::record::shared::SharedSession;
use crate::server::nodes::sealed::sealed_session::SealedSession;

/// The parts of a session that other nodes share. Each method of [`SessionPeers::None`] returns the default of one node.
#[derive(Debug, Default)]
pub(crate) enum SessionPeers {
    /// The session is known here alone.
    #[default]
    None,
    /// Its record is in the store that nodes share.
    Record(Box<SharedSession>),
    /// Its id is sealed, so that a node with the key can go on with it.
    Sealed(Box<SealedSession>),
}

impl SessionPeers {
    /// A number for a stream of the session, by default the one after `last`. `None` if the caller has to wait for one.
    pub(crate) fn next_number(&self, last: &mut u64) -> Option<u64> {
        if let Self::Record(shared) = self {
            return shared.next_number();
        }
        *last += 1;
        Some(*last)
    }

    /// A number for the stream of the request that opens the session.
    pub(crate) fn first_number(&self, last: &mut u64) -> Option<u64> {
        // The client has no id yet with which it could resume the stream at another node.
        if let Self::Record(_) = self { Some(0) } else { self.next_number(last) }
    }

    /// The requests that a stream names, for those who resume it elsewhere.
    pub(crate) fn named<'a>(&self, requests: &'a [RequestId]) -> &'a [RequestId] {
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

    /// Notes that the service gets a frame. `is_unanswered` is true for earlier requests that it has still to answer.
    pub(crate) fn expect(&self, frame: &Frame, is_unanswered: impl Fn(&RequestId) -> bool) {
        if let Self::Record(shared) = self {
            shared.expect(frame, is_unanswered);
        }
    }

    /// Whether a frame of the service that belongs to no request goes out here.
    pub(crate) fn delivers(&self, frame: &Frame) -> bool {
        if let Self::Record(shared) = self { shared.delivers(frame) } else { true }
    }

    /// Whether the id has expired.
    pub(crate) fn has_expired(&self, resources: &Resources) -> bool {
        let (Self::Sealed(session), Some(sealed)) = (self, &resources.config.sealed) else { return false };
        sealed.has_expired(session.expires())
    }

    /// Whether a session that has ended here goes on at other nodes, and may be loaded again.
    pub(crate) fn goes_on(&self) -> bool {
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

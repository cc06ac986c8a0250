//! Counts the open calls.

use agentwire_peer::observe::Direction;

use crate::connection::ConnectionKind;

/// An open call, which is counted until it is dropped.
pub(crate) struct ActiveCall {
    kind: ConnectionKind,
    direction: Direction,
}

impl ActiveCall {
    pub(crate) fn begin(kind: ConnectionKind, direction: Direction) -> Self {
        kind.inner.instruments.active_calls.add(1, &kind.direction(direction));
        Self { kind, direction }
    }

    pub(crate) fn kind(&self) -> &ConnectionKind {
        &self.kind
    }
}

impl Drop for ActiveCall {
    fn drop(&mut self) {
        self.kind.inner.instruments.active_calls.add(-1, &self.kind.direction(self.direction));
    }
}

//! The event store of an endpoint, with its node if other nodes share the store. Catches the panics of the store.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use agentwire_jsonrpc::RequestId;
use agentwire_store::{Durable, Event, EventId, EventStore, Node, Replay, SessionId, StoreError, StreamRun};
use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;

use crate::server::Caller;

/// The most bytes of events in one replay.
const PIECE: usize = 256 << 10;

/// A store whose panics are caught: they would unwind through the endpoint and end sessions of other clients.
#[derive(Clone, Debug)]
pub(crate) struct EndpointStore {
    events: Arc<dyn EventStore>,
    /// `None` if no other node has the events.
    node: Option<Node>,
}

impl EndpointStore {
    /// The store of one endpoint.
    pub(crate) fn new(events: Arc<dyn EventStore>) -> Self {
        Self { events, node: None }
    }

    /// The store that a node shares with others.
    pub(crate) fn of_node(node: Node) -> Self {
        Self { events: node.stores().events.clone(), node: Some(node) }
    }

    pub(crate) fn node(&self) -> Option<&Node> {
        self.node.as_ref()
    }

    /// Whether other nodes have the events.
    pub(crate) fn is_shared(&self) -> bool {
        self.node.is_some()
    }

    pub(crate) fn open(&self, session: SessionId, caller: &Caller) {
        guard(|| self.events.open(session, caller.name().as_deref()));
    }

    /// Stores that a stream runs at this node. Later events of the stream are stored after it. `None` if it is durable
    /// already, or no other node asks for it.
    pub(crate) fn begin(
        &self,
        session: SessionId,
        stream: u64,
        requests: impl IntoIterator<Item = RequestId>,
    ) -> Option<Stored> {
        let runs = StreamRun::new(self.node.as_ref()?.id(), requests.into_iter().collect());
        stored(|| self.events.begin(session, stream, runs))
    }

    /// Stores an event. `None` if it is durable already.
    pub(crate) fn append(&self, session: SessionId, event: Event, is_last: bool) -> Option<Stored> {
        stored(|| self.events.append(session, event, is_last))
    }

    /// Stores that a stream has ended without a last event. Does nothing if no other node shares the store.
    pub(crate) fn end(&self, session: SessionId, stream: u64) {
        if self.node.is_some() {
            // The store completes it, and nothing that is sent waits for it.
            let _later = stored(|| self.events.end(session, stream));
        }
    }

    pub(crate) fn replay(
        &self,
        session: SessionId,
        after: EventId,
    ) -> BoxFuture<'static, Result<Replay, StoreError>> {
        caught(|| self.events.replay(session, after, PIECE)).boxed()
    }

    pub(crate) fn take_over(
        &self,
        session: SessionId,
        stream: u64,
        last: Option<Bytes>,
    ) -> BoxFuture<'static, Result<bool, StoreError>> {
        caught(|| self.events.take_over(session, stream, last)).boxed()
    }

    pub(crate) fn forget(&self, session: SessionId) {
        guard(|| self.events.forget(session));
    }
}

/// The result of a function. `None` if it panics, which the panic hook has reported.
fn guard<T>(call: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(call)).ok()
}

/// The wait for the store, or `None` if there is nothing to wait for.
fn stored(call: impl FnOnce() -> Durable) -> Option<Stored> {
    match guard(call) {
        Some(Durable::Now) => None,
        Some(Durable::Later(later)) => Some(StoreCall::Pending(later)),
        None => Some(StoreCall::panicked()),
    }
}

fn caught<T>(call: impl FnOnce() -> BoxFuture<'static, Result<T, StoreError>>) -> StoreCall<T> {
    guard(call).map_or_else(StoreCall::panicked, StoreCall::Pending)
}

/// A running call of the store. Its panic is an error.
pub(crate) enum StoreCall<T> {
    Pending(BoxFuture<'static, Result<T, StoreError>>),
    /// None if the store has panicked, or the result was taken.
    Ready(Option<Result<T, StoreError>>),
}

/// Completes when the store has an event.
pub(crate) type Stored = StoreCall<()>;

impl<T> fmt::Debug for StoreCall<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if matches!(self, Self::Pending(_)) { "Pending" } else { "Ready" })
    }
}

impl<T> StoreCall<T> {
    fn panicked() -> Self {
        Self::Ready(None)
    }
}

impl<T: Unpin> StoreCall<T> {
    /// Whether the call has already failed.
    pub(crate) fn is_refused(&mut self) -> bool {
        if let Some(result) = (&mut *self).now_or_never() {
            *self = Self::Ready(Some(result));
        }
        matches!(self, Self::Ready(Some(Err(_))))
    }
}

impl<T: Unpin> Future for StoreCall<T> {
    type Output = Result<T, StoreError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let Self::Pending(future) = &mut *self {
            match guard(|| future.poll_unpin(cx)) {
                Some(Poll::Pending) => return Poll::Pending,
                Some(Poll::Ready(result)) => *self = Self::Ready(Some(result)),
                None => *self = Self::panicked(),
            }
        }
        let result = if let Self::Ready(result) = &mut *self { result.take() } else { None };
        Poll::Ready(result.unwrap_or_else(|| Err(StoreError::damaged("the store panicked"))))
    }
}

//! The store of events, and the node whose streams it has. Catches the panics of a store.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use agentwire_jsonrpc::RequestId;
use agentwire_store::{Durable, Event, EventId, EventStore, Node, Replay, Runs, SessionId, StoreError};
use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;

use crate::server::Caller;

/// A store whose panics are caught: they would unwind through the endpoint and end sessions of other clients.
#[derive(Clone, Debug)]
pub(crate) struct GuardedStore {
    events: Arc<dyn EventStore>,
    /// None where no other node has the events.
    node: Option<Node>,
}

impl GuardedStore {
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

    pub(crate) fn open(&self, session: SessionId, caller: &Caller) {
        guard(|| self.events.open(session, caller.name().as_deref()));
    }

    /// Stores that a stream runs at this node. Nothing to do where no other node asks for that.
    pub(crate) fn begin(&self, session: SessionId, stream: u64, requests: &[RequestId]) -> Durable {
        let Some(node) = &self.node else { return Durable::Now };
        durable(|| self.events.begin(session, stream, Runs::new(node.id(), requests.to_vec())))
    }

    pub(crate) fn append(&self, session: SessionId, event: Event, is_last: bool) -> Durable {
        durable(|| self.events.append(session, event, is_last))
    }

    /// Stores that a stream has ended without a last event. Nothing to do where no other node asks for that.
    pub(crate) fn end(&self, session: SessionId, stream: u64) {
        if self.node.is_some() {
            // The store completes it, and there is nothing to send that waits for it.
            let _later = durable(|| self.events.end(session, stream));
        }
    }

    pub(crate) fn replay(
        &self,
        session: SessionId,
        after: EventId,
        limit: usize,
    ) -> BoxFuture<'static, Result<Replay, StoreError>> {
        caught(guard(|| self.events.replay(session, after, limit)))
    }

    pub(crate) fn take_over(
        &self,
        session: SessionId,
        stream: u64,
        last: Option<Bytes>,
    ) -> BoxFuture<'static, Result<bool, StoreError>> {
        caught(guard(|| self.events.take_over(session, stream, last)))
    }

    pub(crate) fn forget(&self, session: SessionId) {
        guard(|| self.events.forget(session));
    }
}

/// The result of a function. None where it panics, which the panic hook has reported.
fn guard<T>(call: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(call)).ok()
}

fn durable(call: impl FnOnce() -> Durable) -> Durable {
    match guard(call) {
        Some(Durable::Now) => Durable::Now,
        Some(Durable::Later(later)) => Durable::Later(caught(Some(later))),
        None => Durable::failed(panicked()),
    }
}

/// A future whose panic is an error.
fn caught<T: Send + 'static>(
    future: Option<BoxFuture<'static, Result<T, StoreError>>>,
) -> BoxFuture<'static, Result<T, StoreError>> {
    match future {
        Some(future) => AssertUnwindSafe(future)
            .catch_unwind()
            .map(|result| result.unwrap_or_else(|_| Err(panicked())))
            .boxed(),
        None => std::future::ready(Err(panicked())).boxed(),
    }
}

fn panicked() -> StoreError {
    StoreError::damaged("the store panicked")
}

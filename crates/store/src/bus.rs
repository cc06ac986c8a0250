//! Messages between the nodes of a server.

use std::fmt;

use agentwire_jsonrpc::RawJson;
use futures_core::future::BoxFuture;
use futures_core::stream::BoxStream;

use crate::{NodeId, SessionId, StoreError};

/// What a node tells the others.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BusMessage {
    /// The list of tools has changed.
    Tools,
    /// The list of prompts has changed.
    Prompts,
    /// The list of resources has changed.
    Resources,
    /// What there is to read at a URI has changed.
    Resource(String),
    /// A task stands differently.
    Task(String),
    /// A client asks the node that runs a task to cancel it.
    CancelTask(String),
    /// The client of a session has ended it.
    SessionEnded(SessionId),
    /// The record of a session has another version.
    SessionChanged(SessionId),
    /// A notification or a response of the client of a session, which may be for a call that runs at another node.
    Client(SessionId, RawJson),
}

/// What a subscription gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BusEvent {
    /// A message of another node.
    Message(BusMessage),
    /// The subscription was interrupted: anything may have been missed.
    Missed,
}

/// Whom a message has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Published {
    /// How many other nodes listen.
    pub nodes: usize,
}

/// What a node hears from the others.
pub type Subscription = BoxStream<'static, BusEvent>;

/// Carries messages to all other nodes, each at most once. Messages of one node keep their order.
pub trait Bus: fmt::Debug + Send + Sync + 'static {
    /// Sends a message to every other node.
    fn publish(&self, message: BusMessage) -> BoxFuture<'static, Result<Published, StoreError>>;

    /// Sends a message to one node. Returns whether that node is alive.
    fn send(&self, node: NodeId, message: BusMessage) -> BoxFuture<'static, Result<bool, StoreError>>;

    /// What other nodes send, from the call on. It goes on after an interruption, with [`BusEvent::Missed`].
    fn subscribe(&self) -> Subscription;
}

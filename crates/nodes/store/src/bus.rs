//! Messages between the nodes of a server.

use std::fmt;

use agentwire_jsonrpc::RawJson;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use serde::{Deserialize, Serialize};

use crate::{NodeId, SessionId, StoreError};

/// A message from one node to others. Every store uses its JSON form. A node that cannot read a message, because the sender is
/// newer, ignores it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BusMessage {
    /// The list of tools has changed.
    Tools,
    /// The list of prompts has changed.
    Prompts,
    /// The list of resources has changed.
    Resources,
    /// The content at a URI has changed.
    Resource(String),
    /// The record of the task with this id has changed.
    Task(String),
    /// A client cancels the task with this id: the node that runs it acts.
    CancelTask(String),
    /// Answers of a client to questions of the task with this id, for the node that runs it: a JSON object by the questions' keys.
    TaskAnswers(String, RawJson),
    /// Any list, resource or task may have changed: the sender had more changes than it keeps.
    Anything,
    /// The client of a session has ended it.
    SessionEnded(SessionId),
    /// The record of a session has changed, or may have.
    SessionChanged(SessionId),
    /// A notification or a response of the client of a session, which may belong to a call that runs at another node.
    Client(SessionId, RawJson),
    /// The client of a session has opened a GET at that node, which from now on delivers the notifications that every node has.
    Listens(SessionId, ListenClaim),
    /// The node no longer has the newest GET of a session. With true, it has no GET open and keeps the notifications. With false, it no
    /// longer delivers: it has yielded to a newer GET, or the session has ended there.
    ListenerLeft(SessionId, NodeId, bool),
    /// A notification of the server that the sender has kept for the client of a session. It is for the node at which the client
    /// has a GET open.
    Server(SessionId, RawJson),
}

/// The claim of a node to deliver to a client: the node at which the client has opened a GET, and the time. Of two claims, the
/// newer one is the greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ListenClaim {
    /// Microseconds since 1970 by the node's clock, raised if necessary above every other that the node knew.
    pub since: u64,
    /// The node.
    pub node: NodeId,
}

impl ListenClaim {
    /// A GET that was opened `since` microseconds after 1970, at `node`.
    pub fn new(since: u64, node: NodeId) -> Self {
        Self { since, node }
    }
}

impl BusMessage {
    /// The bytes of memory that the message takes.
    pub(crate) fn size(&self) -> usize {
        let text = match self {
            Self::Resource(text) | Self::Task(text) | Self::CancelTask(text) => text.len(),
            Self::TaskAnswers(id, answers) => id.len() + answers.len(),
            Self::Client(_, message) | Self::Server(_, message) => message.len(),
            _ => 0,
        };
        size_of::<Self>() + text
    }
}

/// An item of a subscription.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BusEvent {
    /// A message of another node.
    Message(BusMessage),
    /// The subscription was interrupted, so messages may be lost: anything may have changed.
    Missed,
}

/// The messages that a node receives.
pub type Subscription = BoxStream<'static, BusEvent>;

/// Carries messages between nodes, each at most once. Messages of one node to another keep their order.
pub trait Bus: fmt::Debug + Send + Sync + 'static {
    /// Sends a message to every node but `from`.
    fn publish(&self, from: NodeId, message: BusMessage) -> BoxFuture<'static, Result<(), StoreError>>;

    /// Sends a message to one node. Returns false if that node does not subscribe.
    fn send(&self, to: NodeId, message: BusMessage) -> BoxFuture<'static, Result<bool, StoreError>>;

    /// Subscribes a node. Completes once later messages reach it.
    ///
    /// The subscription continues after an interruption with [`BusEvent::Missed`]. It holds a bounded number of messages that
    /// were not taken yet. Beyond that it drops them, and reports [`BusEvent::Missed`] as well.
    fn subscribe(&self, node: NodeId) -> BoxFuture<'static, Result<Subscription, StoreError>>;
}

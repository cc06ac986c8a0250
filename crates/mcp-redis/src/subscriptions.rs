//! The task that holds the connection for messages between nodes.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use agentwire_store::{BusEvent, BusMessage, NodeId, StoreError};
use redis::aio::ConnectionLike;
use redis::{Cmd, PushInfo, PushKind, Value};
use serde::{Deserialize, Serialize};
use tokio::sync::{broadcast, mpsc, oneshot};

use crate::connection::Connection;
use crate::error::{TimedOut, checked};
use crate::json;
use crate::keys::Keys;
use crate::link::Link;

/// The messages that a subscription holds until they are taken. Beyond that the oldest are dropped.
const HELD: usize = 1024;
/// The time between two checks that the connection is alive.
const CHECK: Duration = Duration::from_secs(2);
/// The time between two attempts to connect.
const RETRY: Duration = Duration::from_millis(200);

/// A message with its sender, who does not get it.
#[derive(Serialize, Deserialize)]
pub(crate) struct Envelope {
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) from: Option<NodeId>,
    pub(crate) message: BusMessage,
}

/// The subscriptions of this process, which a task of their own serves from the first one on.
#[derive(Debug)]
pub(crate) struct Subscriber(mpsc::UnboundedSender<Request>);

impl Subscriber {
    pub(crate) fn new(link: &Arc<Link>, keys: &Keys) -> Self {
        let (sender, requests) = mpsc::unbounded_channel();
        tokio::spawn(Subscriptions::new(link.clone(), keys.clone()).run(requests));
        Self(sender)
    }

    /// Where subscriptions are asked for.
    pub(crate) fn requests(&self) -> mpsc::UnboundedSender<Request> {
        self.0.clone()
    }
}

/// What a subscription asks for.
#[derive(Debug)]
pub(crate) enum Request {
    Add(NodeId, oneshot::Sender<Result<broadcast::Receiver<BusEvent>, StoreError>>),
    Remove(NodeId),
}

/// The nodes that subscribe, and the connection that serves them.
pub(crate) struct Subscriptions {
    link: Arc<Link>,
    keys: Keys,
    nodes: HashMap<NodeId, broadcast::Sender<BusEvent>>,
    connection: Option<(Connection, mpsc::UnboundedReceiver<PushInfo>)>,
}

/// Why the task wakes.
enum Wake {
    Request(Option<Request>),
    Push(Option<PushInfo>),
    Check,
}

impl Subscriptions {
    pub(crate) fn new(link: Arc<Link>, keys: Keys) -> Self {
        Self { link, keys, nodes: HashMap::new(), connection: None }
    }

    pub(crate) async fn run(mut self, mut requests: mpsc::UnboundedReceiver<Request>) {
        loop {
            let is_lost = self.connection.is_none() && !self.nodes.is_empty();
            let time = if is_lost { RETRY } else { CHECK };
            let wake = tokio::select! {
                push = next_push(&mut self.connection) => Wake::Push(push),
                request = requests.recv() => Wake::Request(request),
                () = tokio::time::sleep(time) => Wake::Check,
            };
            match wake {
                Wake::Request(None) => return,
                Wake::Request(Some(Request::Add(node, reply))) => _ = reply.send(self.add(node).await),
                Wake::Request(Some(Request::Remove(node))) => self.remove(node).await,
                Wake::Push(Some(push)) if push.kind != PushKind::Disconnection => self.deliver(push),
                Wake::Push(_) => self.lose().await,
                Wake::Check if is_lost => _ = self.reconnect().await,
                Wake::Check => self.check().await,
            }
        }
    }

    async fn add(&mut self, node: NodeId) -> Result<broadcast::Receiver<BusEvent>, StoreError> {
        if self.connection.is_none() {
            self.reconnect().await?;
        }
        let channel = self.keys.bus_of(node);
        self.exchange(redis::cmd("SSUBSCRIBE").arg(channel)).await?;
        let (sender, receiver) = broadcast::channel(HELD);
        self.nodes.insert(node, sender);
        Ok(receiver)
    }

    async fn remove(&mut self, node: NodeId) {
        // Where the same node has subscribed again, that subscription stays.
        if self.nodes.get(&node).is_some_and(|sender| sender.receiver_count() == 0) {
            self.nodes.remove(&node);
            let channel = self.keys.bus_of(node);
            _ = self.exchange(redis::cmd("SUNSUBSCRIBE").arg(channel)).await;
        }
        if self.nodes.is_empty() {
            self.connection = None;
        }
    }

    /// Connects and subscribes to all channels. They share a slot, so a cluster takes them in one command.
    async fn connect(&mut self) -> Result<(), StoreError> {
        let (sender, pushes) = mpsc::unbounded_channel();
        let connection = self.link.connect(sender).await?;
        self.connection = Some((connection, pushes));
        let mut command = redis::cmd("SSUBSCRIBE");
        command.arg(self.keys.bus());
        self.nodes.keys().for_each(|node| _ = command.arg(self.keys.bus_of(*node)));
        self.exchange(&command).await
    }

    /// Sends a command. A connection on which it fails is dropped.
    async fn exchange(&mut self, command: &Cmd) -> Result<(), StoreError> {
        let timeout = self.link.timeout();
        let Some((connection, _)) = &mut self.connection else { return Ok(()) };
        let reply = tokio::time::timeout(timeout, connection.req_packed_command(command)).await;
        let error = match reply.map(|reply| reply.and_then(checked)) {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(error)) => StoreError::away(error),
            Err(_) => StoreError::away(TimedOut(timeout.as_millis())),
        };
        self.connection = None;
        Err(error)
    }

    /// The connection is lost, and nothing is heard until there is another.
    async fn lose(&mut self) {
        self.connection = None;
        if !self.nodes.is_empty() {
            _ = self.reconnect().await;
        }
    }

    /// Connects again. Nodes learn of the interruption now, when nothing more can be missed.
    async fn reconnect(&mut self) -> Result<(), StoreError> {
        self.connect().await?;
        self.nodes.values().for_each(|node| _ = node.send(BusEvent::Missed));
        Ok(())
    }

    async fn check(&mut self) {
        if self.connection.is_some() && self.exchange(&redis::cmd("PING")).await.is_err() {
            self.lose().await;
        }
    }

    fn deliver(&self, push: PushInfo) {
        if push.kind != PushKind::SMessage {
            return;
        }
        let Ok([Value::BulkString(channel), Value::BulkString(text)]) = <[Value; 2]>::try_from(push.data)
        else {
            return;
        };
        // A message of a newer version of this crate is ignored.
        let Ok(Envelope { from, message }) = json::decode(&text) else { return };
        let is_to_all = channel == self.keys.bus().as_bytes();
        for (node, sender) in &self.nodes {
            if (is_to_all && from != Some(*node)) || channel == self.keys.bus_of(*node).as_bytes() {
                _ = sender.send(BusEvent::Message(message.clone()));
            }
        }
    }
}

/// The next push message; none where the connection is lost. Without a connection this never completes.
async fn next_push(
    connection: &mut Option<(Connection, mpsc::UnboundedReceiver<PushInfo>)>,
) -> Option<PushInfo> {
    match connection {
        Some((_, pushes)) => pushes.recv().await,
        None => std::future::pending().await,
    }
}

//! The task that receives the messages between nodes, on a connection of its own.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use agentwire_store::{Bus, BusMessage, MemoryBus, NodeId, StoreError, Subscription};
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, StreamExt, stream};
use redis::aio::ConnectionLike;
use redis::{Cmd, PushInfo, PushKind, Value};
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};

use crate::error::{TimedOut, away, checked};
use crate::json;
use crate::link::Link;
use crate::link::connection::Connection;
use crate::link::keys::Keys;

/// The time between two checks that the connection is alive.
const CHECK: Duration = Duration::from_secs(2);
/// The time between two attempts to connect.
const RETRY: Duration = Duration::from_millis(200);

/// A message with its sender, which does not receive it.
#[derive(Serialize, Deserialize)]
pub(crate) struct Envelope {
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) from: Option<NodeId>,
    pub(crate) message: BusMessage,
}

/// A handle to the task that serves the subscriptions of this process.
pub(crate) struct Subscriber(mpsc::UnboundedSender<Request>);

impl Subscriber {
    pub(crate) fn new(link: &Arc<Link>, keys: &Keys) -> Self {
        let (sender, requests) = mpsc::unbounded_channel();
        tokio::spawn(Subscriptions::new(link.clone(), keys.clone()).run(requests));
        Self(sender)
    }

    /// Subscribes a node.
    pub(crate) fn subscribe(&self, node: NodeId) -> BoxFuture<'static, Result<Subscription, StoreError>> {
        let (reply, subscription) = oneshot::channel();
        _ = self.0.send(Request::Add(End { node, requests: self.0.clone() }, reply));
        async move { subscription.await.map_err(StoreError::away)? }.boxed()
    }
}

/// A request to the task.
enum Request {
    Add(End, oneshot::Sender<Result<Subscription, StoreError>>),
    Remove(NodeId),
}

/// Ends a subscription of a node when it is dropped.
struct End {
    node: NodeId,
    requests: mpsc::UnboundedSender<Request>,
}

impl Drop for End {
    fn drop(&mut self) {
        _ = self.requests.send(Request::Remove(self.node));
    }
}

/// The nodes that subscribe, and the connection that serves them.
struct Subscriptions {
    link: Arc<Link>,
    keys: Keys,
    /// How many subscriptions each node has.
    nodes: HashMap<NodeId, usize>,
    /// Delivers to the subscriptions, and bounds what they have not taken.
    local: MemoryBus,
    connection: Option<(Connection, mpsc::UnboundedReceiver<PushInfo>)>,
}

/// The event that wakes the task.
enum Wake {
    Request(Option<Request>),
    Push(Option<PushInfo>),
    Check,
}

impl Subscriptions {
    fn new(link: Arc<Link>, keys: Keys) -> Self {
        Self { link, keys, nodes: HashMap::new(), local: MemoryBus::default(), connection: None }
    }

    async fn run(mut self, mut requests: mpsc::UnboundedReceiver<Request>) {
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
                Wake::Request(Some(Request::Add(end, reply))) => _ = reply.send(self.add(end).await),
                Wake::Request(Some(Request::Remove(node))) => self.remove(node).await,
                Wake::Push(push) => {
                    if !push.is_some_and(|push| self.deliver(push)) {
                        self.lose().await;
                    }
                }
                Wake::Check if is_lost => _ = self.reconnect().await,
                Wake::Check => self.check().await,
            }
        }
    }

    async fn add(&mut self, end: End) -> Result<Subscription, StoreError> {
        // From here on the end counts it down.
        *self.nodes.entry(end.node).or_default() += 1;
        if self.connection.is_none() {
            self.reconnect().await?;
        } else {
            let channel = self.keys.bus_of(end.node);
            self.exchange(redis::cmd("SSUBSCRIBE").arg(channel)).await?;
        }
        let events = self.local.subscribe(end.node).await?;
        let events = stream::unfold((events, end), async |(mut events, end)| {
            Some((events.next().await?, (events, end)))
        });
        Ok(Box::pin(events))
    }

    async fn remove(&mut self, node: NodeId) {
        // Where the same node has subscribed again, that subscription stays.
        let Some(left) = self.nodes.get_mut(&node) else { return };
        *left -= 1;
        if *left == 0 {
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
            Ok(Err(error)) => away(error),
            Err(_) => StoreError::away(TimedOut(timeout.as_millis())),
        };
        self.connection = None;
        Err(error)
    }

    /// Called when the connection is lost. Connects again if a node subscribes.
    async fn lose(&mut self) {
        self.connection = None;
        if !self.nodes.is_empty() {
            _ = self.reconnect().await;
        }
    }

    /// Connects again, and then reports to the subscribers that they may have missed messages.
    async fn reconnect(&mut self) -> Result<(), StoreError> {
        self.connect().await?;
        self.local.interrupt();
        Ok(())
    }

    async fn check(&mut self) {
        if self.connection.is_some() && self.exchange(&redis::cmd("PING")).await.is_err() {
            self.lose().await;
        }
    }

    /// Handles a push message. Returns false if the connection or a wanted subscription has ended.
    fn deliver(&self, push: PushInfo) -> bool {
        match push.kind {
            PushKind::Disconnection => false,
            // The slot has moved to another master, which does not have the subscription.
            PushKind::SUnsubscribe => !self.is_wanted(&push.data),
            PushKind::SMessage => {
                self.deliver_message(push.data);
                true
            }
            _ => true,
        }
    }

    /// Returns whether the first of these values names a channel that this process still subscribes to.
    fn is_wanted(&self, data: &[Value]) -> bool {
        let Some(Value::BulkString(channel)) = data.first() else { return false };
        self.node(channel).is_some() || !self.nodes.is_empty() && *channel == self.keys.bus().into_bytes()
    }

    /// The node that a channel leads to. `None` for the channel to all nodes.
    fn node(&self, channel: &[u8]) -> Option<NodeId> {
        self.nodes.keys().copied().find(|node| channel == self.keys.bus_of(*node).as_bytes())
    }

    fn deliver_message(&self, data: Vec<Value>) {
        let Ok([Value::BulkString(channel), Value::BulkString(text)]) = <[Value; 2]>::try_from(data) else {
            return;
        };
        // A message that cannot be decoded comes from a newer version of this crate, and is ignored.
        let Ok(Envelope { from, message }) = json::decode(&text) else { return };
        // The memory bus delivers at once, so one poll is enough.
        match (from, self.node(&channel)) {
            (_, Some(node)) => _ = self.local.send(node, message).now_or_never(),
            (Some(from), None) => _ = self.local.publish(from, message).now_or_never(),
            (None, None) => (),
        }
    }
}

/// The next push message; `None` if the connection is lost. Without a connection this never completes.
async fn next_push(
    connection: &mut Option<(Connection, mpsc::UnboundedReceiver<PushInfo>)>,
) -> Option<PushInfo> {
    match connection {
        Some((_, pushes)) => pushes.recv().await,
        None => std::future::pending().await,
    }
}

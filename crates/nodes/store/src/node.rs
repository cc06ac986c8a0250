//! This process as a node: renews its lease, sends messages to other nodes, and passes theirs to listeners.

use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::task::Poll;
use std::time::Instant;

use agentwire_sync::{Monitor, Mutex};
use futures_util::future::{Either, select};
use futures_util::{FutureExt, StreamExt};

use crate::bus_batch::BusBatch;
use crate::ended::{EndedSessions, delete_again};
use crate::outbox::Outbox;
use crate::{BusEvent, BusMessage, Lease, NodeId, SessionId, StoreError, Stores, Subscription};

/// This process as a node: its lease, and its messages to and from other nodes. Clones are one node.
///
/// All parts of a process that share state with other nodes have a clone of one `Node`: the endpoints of
/// `agentwire-transport-http`, and the servers of `agentwire-mcp-server`.
#[derive(Clone)]
pub struct Node(Arc<Inner>);

struct Inner {
    stores: Stores,
    id: NodeId,
    lease: Mutex<Arc<dyn Lease>>,
    /// The subscription, unless [`Node::run`] has taken it.
    subscription: Mutex<Option<Subscription>>,
    listeners: Mutex<Vec<Weak<dyn NodeListener>>>,
    outbox: Outbox,
    ended: Monitor<EndedSessions>,
    is_released: AtomicBool,
}

/// Receives the messages that [`Node::run`] passes on. Its methods must not wait.
pub trait NodeListener: Send + Sync {
    /// Called for a message of another node, and when messages may be lost. Also called when this node itself ends a session.
    fn on_event(&self, event: &BusEvent);
}

/// The system has no randomness.
#[derive(Debug, thiserror::Error)]
#[error("the system has no randomness for the id of a node")]
struct NoRandomness;

impl Node {
    /// Takes a lease, and subscribes to the bus.
    ///
    /// # Errors
    ///
    /// When the store cannot be reached, or the system has no randomness.
    pub async fn join(stores: Stores) -> Result<Self, StoreError> {
        let id = NodeId::random().ok_or_else(|| StoreError::away(NoRandomness))?;
        let lease: Arc<dyn Lease> = stores.nodes.join(id).await?.into();
        let subscription = stores.bus.subscribe(id).await?;
        Ok(Self(Arc::new(Inner {
            stores,
            id,
            lease: Mutex::new(lease),
            subscription: Mutex::new(Some(subscription)),
            listeners: Mutex::default(),
            outbox: Outbox::default(),
            ended: Monitor::default(),
            is_released: AtomicBool::new(false),
        })))
    }

    /// The id of this node on the bus and in [`StreamRun`](crate::StreamRun), for as long as the process runs.
    pub fn id(&self) -> NodeId {
        self.0.id
    }

    /// Whether another node has died, so that this node should end its streams. True if its lease does not hold and it has had
    /// time to take it again. False while that is unknown, because this node has not held its own lease for [long
    /// enough](Lease::is_settled). False for this node.
    ///
    /// # Errors
    ///
    /// When the store cannot be reached.
    pub async fn is_dead(&self, node: NodeId) -> Result<bool, StoreError> {
        let nodes = &self.0.stores.nodes;
        if node == self.0.id || nodes.is_alive(node).await? {
            return Ok(false);
        }
        // After the other lease: a store that has lost its content has lost this lease too, and this node may not know that yet.
        Ok(nodes.is_alive(self.0.id).await? && self.0.lease.lock().is_settled())
    }

    /// The stores that this node shares with other nodes.
    pub fn stores(&self) -> &Stores {
        &self.0.stores
    }

    /// Sends a message to every other node.
    ///
    /// # Errors
    ///
    /// When the store cannot be reached.
    pub async fn publish(&self, message: BusMessage) -> Result<(), StoreError> {
        self.0.stores.bus.publish(self.0.id, message).await
    }

    /// Queues a message for every other node. [`run`](Self::run) sends it, and repeats that until the store has taken it. Of
    /// equal queued messages, one is sent. If more than 1,024 messages or 1 MiB are queued, [`BusMessage::Anything`] is sent in
    /// their place.
    pub fn announce(&self, message: BusMessage) {
        self.0.outbox.push(message);
    }

    /// Reports to all nodes that a session has ended. Notifies the listeners of this node at once, and completes when the store
    /// has the message for the other nodes. If the store fails, or this future is dropped before, the message is
    /// [queued](Self::announce).
    pub async fn end_session(&self, session: SessionId) {
        self.note_end(session);
        let message = BusMessage::SessionEnded(session);
        let mut unsent = Unsent { node: self, message: Some(message.clone()) };
        if self.publish(message).await.is_ok() {
            unsent.message = None;
        }
    }

    /// Notifies the listeners of this node that a session has ended. The other nodes know, or find it out.
    pub fn note_end(&self, session: SessionId) {
        self.pass_on(&BusEvent::Message(BusMessage::SessionEnded(session)));
    }

    /// Whether this node knows that a session has ended. It remembers that for 10 minutes, and of up to 65,536 sessions. A store
    /// that fails over to a replica may lose its last writes, and so bring a deleted session back.
    pub fn has_ended(&self, session: SessionId) -> bool {
        self.0.ended.with(|ended| ended.contains(session, Instant::now()))
    }

    /// Passes the node's messages to a listener until the listener is dropped. Does nothing for a listener that it has already.
    pub fn listen(&self, listener: Weak<dyn NodeListener>) {
        let mut listeners = self.0.listeners.lock();
        listeners.retain(|listener| listener.strong_count() > 0);
        if !listeners.iter().any(|other| Weak::ptr_eq(other, &listener)) {
            listeners.push(listener);
        }
    }

    /// Passes messages to the listeners, sends [queued](Self::announce) messages, and takes the lease again when it is lost,
    /// until the node is [released](Self::release). After an interruption it deletes the records of recently ended sessions
    /// again. While the store cannot be reached, it waits for a `pause` before each further attempt. While one call runs, others
    /// return at once.
    ///
    /// Of equal messages that wait, the listeners get one.
    pub async fn run<P: Future<Output = ()>>(&self, pause: impl Fn() -> P) {
        let Some(subscription) = self.0.subscription.lock().take() else { return };
        let guard = SubscriptionGuard { node: self, subscription: Some(subscription) };
        let deletes = pin!(delete_again(&self.0.ended, |session| self.delete_record(session), &pause));
        let sends = pin!(self.send_all(&pause));
        select(pin!(self.receive_all(guard, &pause)), select(sends, deletes)).await;
    }

    /// Deletes the record of a session that has ended. If there was a record, other nodes may have continued the session: one
    /// that has started since, or one that has missed the message about its end.
    async fn delete_record(&self, session: SessionId) -> Result<(), StoreError> {
        if self.0.stores.records.delete(session).await? {
            self.end_session(session).await;
        }
        Ok(())
    }

    /// Sends the queued messages.
    async fn send_all<P: Future<Output = ()>>(&self, pause: &impl Fn() -> P) {
        loop {
            let message = self.0.outbox.next().await;
            if self.publish(message.clone()).await.is_err() {
                self.announce(message);
                pause().await;
            }
        }
    }

    async fn receive_all<P: Future<Output = ()>>(
        &self,
        mut guard: SubscriptionGuard<'_>,
        pause: &impl Fn() -> P,
    ) {
        while !self.is_released() {
            let Some(subscription) = &mut guard.subscription else {
                match self.0.stores.bus.subscribe(self.0.id).await {
                    Ok(subscription) => {
                        guard.subscription = Some(subscription);
                        self.pass_on(&BusEvent::Missed);
                    }
                    Err(_) => pause().await,
                }
                continue;
            };
            let lost = self.0.lease.lock().lost();
            if !self.receive(subscription, lost).await {
                guard.subscription = None;
            } else if !self.is_released() && self.take_lease().await.is_err() {
                pause().await;
            }
        }
    }

    /// Passes messages on until the lease is lost. Returns false if the subscription has ended.
    async fn receive(&self, subscription: &mut Subscription, lost: impl Future<Output = ()>) -> bool {
        let mut lost = pin!(lost);
        loop {
            let first = match select(subscription.next(), &mut lost).await {
                Either::Left((Some(event), _)) => event,
                Either::Left((None, _)) => return false,
                Either::Right(_) => return true,
            };
            let mut batch = BusBatch::default();
            batch.push(first);
            let mut taken = 1;
            while taken < BusBatch::LONGEST
                && let Some(Some(event)) = subscription.next().now_or_never()
            {
                batch.push(event);
                taken += 1;
            }
            batch.events.iter().for_each(|event| self.pass_on(event));
            if taken == BusBatch::LONGEST {
                // A node that sends without a pause must not keep the thread.
                yield_now().await;
            }
        }
    }

    async fn take_lease(&self) -> Result<(), StoreError> {
        let lease: Arc<dyn Lease> = self.0.stores.nodes.join(self.0.id).await?.into();
        let old = std::mem::replace(&mut *self.0.lease.lock(), lease.clone());
        drop(old);
        self.0.ended.update(EndedSessions::doubt);
        if self.is_released() { lease.release().await } else { Ok(()) }
    }

    /// Completes when the store has made a write: a round trip for the readiness of a server.
    ///
    /// # Errors
    ///
    /// When the store cannot be reached or takes no write.
    pub async fn check(&self) -> Result<(), StoreError> {
        self.0.stores.nodes.check().await
    }

    /// Releases the lease at once, and ends [`run`](Self::run). Other nodes take over the streams that still run here.
    ///
    /// # Errors
    ///
    /// When the store cannot be reached. Then the lease expires.
    pub async fn release(&self) -> Result<(), StoreError> {
        self.0.is_released.store(true, Ordering::SeqCst);
        let lease = self.0.lease.lock().clone();
        lease.release().await
    }

    fn is_released(&self) -> bool {
        self.0.is_released.load(Ordering::SeqCst)
    }

    /// Passes an event to the listeners, outside the lock. Remembers the end of a session first.
    fn pass_on(&self, event: &BusEvent) {
        match event {
            BusEvent::Message(BusMessage::SessionEnded(session)) => {
                self.0.ended.with(|ended| ended.add(*session, Instant::now()));
            }
            BusEvent::Missed => self.0.ended.update(EndedSessions::doubt),
            BusEvent::Message(_) => {}
        }
        let listeners: Vec<_> = self.0.listeners.lock().iter().filter_map(Weak::upgrade).collect();
        listeners.iter().for_each(|listener| listener.on_event(event));
    }
}

/// Lets other tasks of the thread run.
async fn yield_now() {
    let mut has_yielded = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut has_yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Queues a message when this is dropped, unless the store has taken the message.
struct Unsent<'a> {
    node: &'a Node,
    message: Option<BusMessage>,
}

impl Drop for Unsent<'_> {
    fn drop(&mut self) {
        if let Some(message) = self.message.take() {
            self.node.announce(message);
        }
    }
}

/// Gives the subscription back when [`Node::run`] is dropped.
struct SubscriptionGuard<'a> {
    node: &'a Node,
    subscription: Option<Subscription>,
}

impl Drop for SubscriptionGuard<'_> {
    fn drop(&mut self) {
        if let Some(subscription) = self.subscription.take() {
            *self.node.0.subscription.lock() = Some(subscription);
        }
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node").field("id", &self.0.id).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;

//! The bus between nodes of one process.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use agentwire_sync::{Monitor, Mutex, Waiter};
use futures_util::future::{self, BoxFuture};
use futures_util::stream;

use crate::{Bus, BusEvent, BusMessage, NodeId, StoreError, Subscription};

/// How many messages wait for a subscriber, at most.
const MESSAGES: usize = 1024;

/// The bytes of the messages that wait for a subscriber, at most.
const BYTES: usize = 1 << 20;

/// The bus between nodes of one process. 1,024 messages or 1 MiB wait for each subscriber; beyond that they are dropped, and it
/// gets [`BusEvent::Missed`].
#[derive(Clone, Debug, Default)]
pub struct MemoryBus(Arc<Mutex<Hub>>);

#[derive(Debug, Default)]
struct Hub {
    inboxes: BTreeMap<u64, (NodeId, Arc<Monitor<Inbox>>)>,
    next: u64,
}

/// The messages that wait for a subscriber.
#[derive(Debug, Default)]
struct Inbox {
    messages: VecDeque<BusMessage>,
    bytes: usize,
    /// Whether messages were dropped, which the subscriber does not know yet.
    missed: bool,
}

/// The place of a subscriber, until this is dropped.
struct Subscriber {
    bus: MemoryBus,
    key: u64,
    inbox: Arc<Monitor<Inbox>>,
}

impl MemoryBus {
    /// Drops the messages that wait for any subscriber, as a lost connection would, for tests.
    pub fn interrupt(&self) {
        self.inboxes(|_| true).iter().for_each(|inbox| inbox.update(Inbox::drop_messages));
    }

    /// The inboxes of these nodes. They are used outside the lock, because they wake tasks.
    fn inboxes(&self, is_meant: impl Fn(NodeId) -> bool) -> Vec<Arc<Monitor<Inbox>>> {
        let hub = self.0.lock();
        let meant = hub.inboxes.values().filter(|(node, _)| is_meant(*node));
        meant.map(|(_, inbox)| inbox.clone()).collect()
    }
}

impl Bus for MemoryBus {
    fn publish(&self, from: NodeId, message: BusMessage) -> BoxFuture<'static, Result<(), StoreError>> {
        for inbox in self.inboxes(|node| node != from) {
            inbox.update(|inbox| inbox.push(message.clone()));
        }
        Box::pin(future::ready(Ok(())))
    }

    fn send(&self, to: NodeId, message: BusMessage) -> BoxFuture<'static, Result<bool, StoreError>> {
        let inboxes = self.inboxes(|node| node == to);
        inboxes.iter().for_each(|inbox| inbox.update(|inbox| inbox.push(message.clone())));
        Box::pin(future::ready(Ok(!inboxes.is_empty())))
    }

    fn subscribe(&self, node: NodeId) -> BoxFuture<'static, Result<Subscription, StoreError>> {
        let inbox = Arc::new(Monitor::new(Inbox::default()));
        let mut hub = self.0.lock();
        let key = hub.next;
        hub.next += 1;
        hub.inboxes.insert(key, (node, inbox.clone()));
        drop(hub);
        let subscriber = Subscriber { bus: self.clone(), key, inbox };
        let events = stream::unfold(subscriber, async |subscriber| {
            let event = Waiter::new(subscriber.inbox.clone()).until(Inbox::pop).await;
            Some((event, subscriber))
        });
        let subscription: Subscription = Box::pin(events);
        Box::pin(future::ready(Ok(subscription)))
    }
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        let left = self.bus.0.lock().inboxes.remove(&self.key);
        drop(left);
    }
}

impl Inbox {
    fn push(&mut self, message: BusMessage) {
        self.bytes += message.size();
        self.messages.push_back(message);
        if self.messages.len() > MESSAGES || self.bytes > BYTES {
            self.drop_messages();
        }
    }

    fn drop_messages(&mut self) {
        *self = Self { missed: true, ..Self::default() };
    }

    fn pop(&mut self) -> Option<BusEvent> {
        if std::mem::take(&mut self.missed) {
            return Some(BusEvent::Missed);
        }
        let message = self.messages.pop_front()?;
        self.bytes -= message.size();
        Some(BusEvent::Message(message))
    }
}

#[cfg(test)]
mod tests {
    use futures::executor::block_on;
    use futures_util::StreamExt;

    use super::*;

    #[test]
    fn a_subscriber_that_takes_nothing_costs_a_bounded_amount() {
        let (bus, node) = (MemoryBus::default(), NodeId::new(1));
        let mut subscription = block_on(bus.subscribe(node)).unwrap();
        for _ in 0..=MESSAGES {
            block_on(bus.publish(NodeId::new(2), BusMessage::Tools)).unwrap();
        }
        block_on(bus.publish(NodeId::new(2), BusMessage::Prompts)).unwrap();
        assert_eq!(block_on(subscription.next()), Some(BusEvent::Missed));
        assert_eq!(block_on(subscription.next()), Some(BusEvent::Message(BusMessage::Prompts)));
        drop(subscription);
        assert!(!block_on(bus.send(node, BusMessage::Tools)).unwrap());
        assert!(bus.0.lock().inboxes.is_empty());
    }
}

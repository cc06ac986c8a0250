//! The bus between nodes of one process.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use agentwire_sync::{Monitor, Mutex, Waiter};
use futures_util::future::{self, BoxFuture};
use futures_util::stream;

use crate::{Bus, BusEvent, BusMessage, NodeId, StoreError, Subscription};

/// The most messages that wait for a subscriber.
const MESSAGES: usize = 1024;

/// The most bytes of messages that wait for a subscriber.
const BYTES: usize = 1 << 20;

/// The bus between nodes of one process. Up to 1,024 messages or 1 MiB wait for each subscriber, or one larger message. Beyond
/// that they are dropped, and the subscriber gets [`BusEvent::Missed`].
///
/// A bus between processes can use it to pass received messages to its subscribers in one process.
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
    events: VecDeque<BusEvent>,
    bytes: usize,
}

/// The registration of a subscriber. Dropping it ends the subscription.
struct Subscriber {
    bus: MemoryBus,
    key: u64,
    inbox: Arc<Monitor<Inbox>>,
}

impl MemoryBus {
    /// Gives every subscriber a [`BusEvent::Missed`], as after a lost connection.
    pub fn interrupt(&self) {
        self.inboxes(|_| true).iter().for_each(|inbox| inbox.update(|inbox| inbox.push(BusEvent::Missed)));
    }

    /// The inboxes of the nodes for which `is_meant` is true. They are used outside the lock, because they wake tasks.
    fn inboxes(&self, is_meant: impl Fn(NodeId) -> bool) -> Vec<Arc<Monitor<Inbox>>> {
        let hub = self.0.lock();
        let meant = hub.inboxes.values().filter(|(node, _)| is_meant(*node));
        meant.map(|(_, inbox)| inbox.clone()).collect()
    }
}

impl Bus for MemoryBus {
    fn publish(&self, from: NodeId, message: BusMessage) -> BoxFuture<'static, Result<(), StoreError>> {
        for inbox in self.inboxes(|node| node != from) {
            inbox.update(|inbox| inbox.push(BusEvent::Message(message.clone())));
        }
        Box::pin(future::ready(Ok(())))
    }

    fn send(&self, to: NodeId, message: BusMessage) -> BoxFuture<'static, Result<bool, StoreError>> {
        let inboxes = self.inboxes(|node| node == to);
        for inbox in &inboxes {
            inbox.update(|inbox| inbox.push(BusEvent::Message(message.clone())));
        }
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
    fn push(&mut self, event: BusEvent) {
        // A second report in a row adds nothing.
        if event == BusEvent::Missed && self.events.back() == Some(&event) {
            return;
        }
        self.bytes += size(&event);
        self.events.push_back(event);
        if self.events.len() > MESSAGES || self.bytes > BYTES && self.events.len() > 1 {
            *self = Self { events: [BusEvent::Missed].into(), bytes: size(&BusEvent::Missed) };
        }
    }

    fn pop(&mut self) -> Option<BusEvent> {
        let event = self.events.pop_front()?;
        self.bytes -= size(&event);
        Some(event)
    }
}

fn size(event: &BusEvent) -> usize {
    match event {
        BusEvent::Message(message) => message.size(),
        BusEvent::Missed => size_of::<BusEvent>(),
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

    #[test]
    fn a_message_beyond_the_bytes_waits_alone() {
        let (bus, [node, other]) = (MemoryBus::default(), [1, 2].map(NodeId::new));
        let mut subscription = block_on(bus.subscribe(node)).unwrap();
        let large = BusMessage::Resource("x".repeat(2 * BYTES));
        block_on(bus.publish(other, large.clone())).unwrap();
        assert_eq!(block_on(subscription.next()), Some(BusEvent::Message(large.clone())));
        for message in [BusMessage::Tools, large] {
            block_on(bus.publish(other, message)).unwrap();
        }
        assert_eq!(block_on(subscription.next()), Some(BusEvent::Missed));
    }

    #[test]
    fn messages_before_an_interruption_are_delivered_before_it() {
        let (bus, [node, other]) = (MemoryBus::default(), [1, 2].map(NodeId::new));
        let mut subscription = block_on(bus.subscribe(node)).unwrap();
        block_on(bus.publish(other, BusMessage::Tools)).unwrap();
        bus.interrupt();
        bus.interrupt();
        block_on(bus.publish(other, BusMessage::Prompts)).unwrap();
        let expected =
            [BusEvent::Message(BusMessage::Tools), BusEvent::Missed, BusEvent::Message(BusMessage::Prompts)];
        for event in expected {
            assert_eq!(block_on(subscription.next()), Some(event));
        }
    }
}

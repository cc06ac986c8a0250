//! A bounded queue of messages from a node to all others, without repeats.

use std::collections::VecDeque;

use agentwire_sync::Monitor;

use crate::BusMessage;

/// The most messages in the queue.
const MESSAGES: usize = 1024;

/// The most bytes of messages in the queue.
const BYTES: usize = 1 << 20;

/// The queue of messages from a node to all others. Of equal messages, it holds one.
#[derive(Debug, Default)]
pub(crate) struct Outbox(Monitor<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    messages: VecDeque<BusMessage>,
    bytes: usize,
}

impl Outbox {
    pub(crate) fn push(&self, message: BusMessage) {
        self.0.update(|waiting| waiting.push(message));
    }

    /// Takes the first message, once there is one.
    pub(crate) async fn next(&self) -> BusMessage {
        self.0.wait_until(Waiting::pop).await
    }
}

impl Waiting {
    fn push(&mut self, message: BusMessage) {
        // The newest first: a server often announces the same again.
        if self.messages.iter().rev().any(|other| *other == message) {
            return;
        }
        self.bytes += message.size();
        self.messages.push_back(message);
        if self.messages.len() > MESSAGES || self.bytes > BYTES {
            *self = Self { bytes: BusMessage::Anything.size(), messages: [BusMessage::Anything].into() };
        }
    }

    fn pop(&mut self) -> Option<BusMessage> {
        let message = self.messages.pop_front()?;
        self.bytes -= message.size();
        Some(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(outbox: &Outbox) -> Vec<BusMessage> {
        std::iter::from_fn(|| outbox.0.with(Waiting::pop)).collect()
    }

    #[test]
    fn messages_that_are_not_sent_cost_a_bounded_amount() {
        let outbox = Outbox::default();
        let resource = |number: usize| BusMessage::Resource(number.to_string());
        for number in (0..MESSAGES).chain(0..MESSAGES) {
            outbox.push(resource(number));
        }
        let messages = drain(&outbox);
        assert_eq!(messages, (0..MESSAGES).map(resource).collect::<Vec<_>>());
        for message in messages {
            outbox.push(message);
        }
        outbox.push(BusMessage::Tools);
        outbox.push(BusMessage::Prompts);
        assert_eq!(drain(&outbox), [BusMessage::Anything, BusMessage::Prompts]);
        outbox.push(BusMessage::Resource("x".repeat(BYTES)));
        assert_eq!(drain(&outbox), [BusMessage::Anything]);
        assert_eq!(outbox.0.with(|waiting| waiting.bytes), 0);
    }
}

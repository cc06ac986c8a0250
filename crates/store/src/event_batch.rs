//! The messages of a bus that waited together, each once.

use crate::{BusEvent, BusMessage};

/// Messages that waited together.
#[derive(Default)]
pub(crate) struct Batch {
    pub(crate) events: Vec<BusEvent>,
}

impl Batch {
    /// How many messages one has, at most.
    pub(crate) const LONGEST: usize = 256;

    /// Adds an event, unless it says what one before says. What a client sends is never the same twice.
    pub(crate) fn push(&mut self, event: BusEvent) {
        let event = match event {
            BusEvent::Message(BusMessage::Anything) => BusEvent::Missed,
            event => event,
        };
        let is_of_client =
            matches!(event, BusEvent::Message(BusMessage::Client(..) | BusMessage::TaskAnswers(..)));
        if is_of_client || !self.events.contains(&event) {
            self.events.push(event);
        }
    }
}

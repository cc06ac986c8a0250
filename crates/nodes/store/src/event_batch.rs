//! A batch of messages of a bus, without repeats.

use crate::{BusEvent, BusMessage};

/// Messages that waited together.
#[derive(Default)]
pub(crate) struct Batch {
    pub(crate) events: Vec<BusEvent>,
}

impl Batch {
    /// The most messages of a batch.
    pub(crate) const LONGEST: usize = 256;

    /// Adds an event, unless the batch has the same one. Each message of a client is added.
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

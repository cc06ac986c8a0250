//! A batch of bus events that a node has received, without repeats.

use crate::{BusEvent, BusMessage};

/// Bus events that waited together.
#[derive(Default)]
pub(crate) struct BusBatch {
    pub(crate) events: Vec<BusEvent>,
}

impl BusBatch {
    /// The most events of a batch.
    pub(crate) const LONGEST: usize = 256;

    /// Adds an event, unless the batch has an equal one. Messages from clients are always added.
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

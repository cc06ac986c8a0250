use std::collections::VecDeque;

use crate::event::Event;

/// What has happened and was not asked for yet, in order.
///
/// Most of the time that is one event, which needs no memory of its own.
#[derive(Debug, Default)]
pub(crate) struct Events {
    first: Option<Event>,
    /// Empty while there is no first.
    rest: VecDeque<Event>,
}

impl Events {
    #[inline]
    pub(crate) fn push(&mut self, event: Event) {
        if self.first.is_none() {
            self.first = Some(event);
        } else {
            self.rest.push_back(event);
        }
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Event> {
        let event = self.first.take()?;
        self.first = self.rest.pop_front();
        Some(event)
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// Gives back the memory of empty places, if there are more than `many`.
    pub(crate) fn shrink(&mut self, many: usize) {
        if self.rest.capacity() > many {
            self.rest.shrink_to_fit();
        }
    }
}

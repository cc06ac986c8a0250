//! The open elicitations with URLs.

use std::collections::VecDeque;

use agentwire_acp_schema::v1::ElicitationId;
use agentwire_sync::{Mutex, MutexGuard};

/// The maximum number of open elicitations. The completion of the oldest beyond it is not reported.
const LIMIT: usize = 1024;

/// The elicitations with URLs that the user agreed to visit, or is being asked to, and that are not complete.
#[derive(Debug, Default)]
pub(crate) struct Elicitations(Mutex<VecDeque<ElicitationId>>);

impl Elicitations {
    /// Adds an elicitation of the agent.
    pub(crate) fn begin(&self, id: &ElicitationId) {
        let mut open = self.lock();
        if !open.contains(id) {
            if open.len() == LIMIT {
                open.pop_front();
            }
            open.push_back(id.clone());
        }
    }

    /// Removes an elicitation. Returns whether it was open.
    pub(crate) fn end(&self, id: &ElicitationId) -> bool {
        let mut open = self.lock();
        let place = open.iter().position(|other| other == id);
        place.and_then(|place| open.remove(place)).is_some()
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<ElicitationId>> {
        self.0.lock()
    }
}

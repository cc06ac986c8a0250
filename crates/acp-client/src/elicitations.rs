use std::collections::VecDeque;

use agentwire_acp_schema::v1::ElicitationId;
use agentwire_sync::{Mutex, MutexGuard};

/// How many are kept. An agent that leaves more of them open hears nothing of the oldest ones' completion.
const LIMIT: usize = 1024;

/// The visits to URLs that the person agreed to, or is being asked for, and that are not complete.
#[derive(Debug, Default)]
pub(crate) struct Elicitations(Mutex<VecDeque<ElicitationId>>);

impl Elicitations {
    /// The agent asks.
    pub(crate) fn begin(&self, id: &ElicitationId) {
        let mut open = self.lock();
        if !open.contains(id) {
            if open.len() == LIMIT {
                open.pop_front();
            }
            open.push_back(id.clone());
        }
    }

    /// It is complete, or will never be. Says whether it was open.
    pub(crate) fn end(&self, id: &ElicitationId) -> bool {
        let mut open = self.lock();
        let place = open.iter().position(|other| other == id);
        place.and_then(|place| open.remove(place)).is_some()
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<ElicitationId>> {
        self.0.lock()
    }
}

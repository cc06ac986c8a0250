//! The requests of other nodes to a task that runs here, and the handle of a task that runs at another node.

use std::collections::BTreeMap;

use agentwire_jsonrpc::RawJson;
use agentwire_peer::CallError;

use super::TaskHandle;
use crate::tasks::TaskRecord;

impl TaskHandle {
    /// Writes the record again, because another node may have ended the task: the write finds that out.
    pub(crate) fn rewrite(&self) {
        self.state.update(|state| {
            if !state.record.is_final() {
                state.version += 1;
            }
        });
    }

    /// Replaces the record by this one, which another node has written, whatever the state of the task here.
    pub(crate) fn adopt(&self, record: TaskRecord) {
        self.state.update(|state| {
            state.record = record;
            state.is_cancelled = true;
            state.is_written = true;
            state.is_stored = true;
            state.claimed.clear();
            state.version += 1;
        });
    }

    /// For a task that runs at another node: its record is this one now. Questions whose answers are on their way are not open.
    pub(crate) fn load(
        &self,
        record: TaskRecord,
        on_their_way: &BTreeMap<String, Result<RawJson, CallError>>,
    ) {
        self.state.update(|state| {
            let is_on_its_way =
                |key: &String| on_their_way.contains_key(key) || state.answers.contains_key(key);
            let mut record = record;
            record.input_requests.retain(|key, _| !is_on_its_way(key));
            state.record = record;
            state.version += 1;
        });
    }

    /// For a task that runs at another node: the answers that are to be sent there. Waits until there are some.
    pub(crate) async fn take_answers(&self) -> BTreeMap<String, Result<RawJson, CallError>> {
        let answers = self
            .state
            .wait_until(|state| (!state.answers.is_empty()).then(|| std::mem::take(&mut state.answers)));
        answers.await
    }
}

//! Permission requests with what the agent has told of their calls before, within a limit of memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agentwire_acp_client::Error;
use agentwire_acp_schema::v1::{RequestPermissionRequest, ToolCall, ToolCallLocation};

use super::{Toolkit, UserInterface};
use crate::memory_estimate;

/// Stands for the paths of a call that are not known. It is not absolute, so no rule allows it.
pub(super) const UNKNOWN_PATH: &str = "(unknown path)";

/// The default of [`Toolkit::with_question_limit`].
const LIMIT: usize = 64 << 20;

/// The memory of what was filled in to the questions that wait for an answer. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct QuestionMemory {
    used: Arc<AtomicUsize>,
    pub(super) limit: usize,
}

impl Default for QuestionMemory {
    fn default() -> Self {
        Self { used: Arc::default(), limit: LIMIT }
    }
}

/// The memory of one question. Dropping it frees it.
struct Reservation {
    memory: QuestionMemory,
    bytes: usize,
}

impl QuestionMemory {
    /// # Errors
    ///
    /// Where the questions that wait take too much memory, and this is not the only one.
    fn reserve(&self, call: &ToolCall) -> Result<Reservation, Error> {
        let bytes = memory_estimate(call);
        let sum = |used: usize| {
            let sum = used.saturating_add(bytes);
            (used == 0 || sum <= self.limit).then_some(sum)
        };
        if self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum).is_err() {
            let limit = self.limit;
            let why =
                format!("the calls of the permission requests that wait take over {limit} bytes, the limit");
            return Err(Error::internal_error(why));
        }
        Ok(Reservation { memory: self.clone(), bytes })
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.memory.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// A permission request that is filled in.
pub(super) struct Question {
    pub(super) request: RequestPermissionRequest,
    _memory: Option<Reservation>,
}

impl<U: UserInterface> Toolkit<U> {
    /// Fills in what a permission request leaves out and the agent has told of the call before: an agent need not repeat it,
    /// and rules and the user decide on the whole call.
    ///
    /// Where a part of the call was too large to be kept, it gets a path that no rule can allow.
    ///
    /// # Errors
    ///
    /// Where the questions that wait take too much memory: a small request may name a large call.
    pub(super) fn question(&self, mut request: RequestPermissionRequest) -> Result<Question, Error> {
        let earlier = self.conversation(&request.session_id, |conversation| {
            let (_, entry) = conversation.tool_call(&request.tool_call.tool_call_id)?;
            let reserved = self.question_memory.reserve(&entry.call);
            Some(reserved.map(|memory| (entry.call.clone(), entry.omitted > 0, memory)))
        });
        let Some((mut earlier, is_cut, memory)) = earlier.flatten().transpose()? else {
            return Ok(Question { request, _memory: None });
        };
        if is_cut {
            earlier.locations.push(ToolCallLocation::new(UNKNOWN_PATH));
        }
        let call = &mut request.tool_call;
        fill(&mut call.title, Some(earlier.title).filter(|title| !title.is_empty()));
        fill(&mut call.kind, Some(earlier.kind));
        fill(&mut call.locations, Some(earlier.locations).filter(|locations| !locations.is_empty()));
        fill(&mut call.content, Some(earlier.content).filter(|content| !content.is_empty()));
        fill(&mut call.name, earlier.name);
        fill(&mut call.raw_input, earlier.raw_input);
        Ok(Question { request, _memory: Some(memory) })
    }
}

fn fill<T>(field: &mut Option<T>, earlier: Option<T>) {
    *field = field.take().or(earlier);
}

//! The state of one turn, which the agent's commands share.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};

use agentwire_acp_sessions::schema::{ContentChunk, SessionId, SessionUpdate, StopReason, UsageUpdate};
use agentwire_acp_sessions::{BoxError, Turn, TurnError, TurnHandler};
use agentwire_sync::Mutex;

/// The sessions and servers whose failure was reported to the user.
type ReportedFailures = Mutex<HashSet<(SessionId, String)>>;

/// The agent, with its state of all turns.
#[derive(Default)]
pub(super) struct DemoAgent {
    reported: ReportedFailures,
}

impl TurnHandler for DemoAgent {
    async fn run(&self, turn: Turn) -> Result<StopReason, BoxError> {
        DemoTurn::new(&turn, &self.reported).run().await
    }
}

/// The size of a session's context, in tokens of four characters each. It has no meaning: the agent has no model.
const CONTEXT: u64 = 200_000;

/// The most entries of [`ReportedFailures`]. Beyond that all are dropped, and failures may be reported again.
const REPORTED_LIMIT: usize = 4096;

/// A turn, with a count of its text.
pub(super) struct DemoTurn<'a> {
    pub(super) turn: &'a Turn,
    reported: &'a ReportedFailures,
    /// How many characters the turn has sent.
    sent: AtomicU64,
}

impl<'a> DemoTurn<'a> {
    fn new(turn: &'a Turn, reported: &'a ReportedFailures) -> Self {
        Self { turn, reported, sent: AtomicU64::new(0) }
    }

    /// Sends a chunk of the answer.
    pub(super) async fn say(&self, text: &str) -> Result<(), TurnError> {
        self.sent.fetch_add(text.chars().count() as u64, Ordering::Relaxed);
        self.turn.say(text).await
    }

    /// Sends a chunk of the answer, shortened if it is too long for an update.
    pub(super) async fn say_shortened(&self, text: &str) -> Result<(), TurnError> {
        self.sent.fetch_add(text.chars().count() as u64, Ordering::Relaxed);
        let chunk = SessionUpdate::AgentMessageChunk(ContentChunk::new(text));
        self.turn.update_shortened(chunk).await
    }

    /// Reports the servers that cannot be used, each once.
    pub(super) async fn report_failures(&self) -> Result<(), TurnError> {
        for server in self.turn.mcp().status() {
            let key = (self.turn.session_id().clone(), server.name.clone());
            if server.state.reason().is_some() && self.note_failure(key) {
                self.say(&format!("MCP server {}: {}\n", server.name, server.state)).await?;
            }
        }
        Ok(())
    }

    /// Returns whether a failure was not reported before, and remembers it.
    fn note_failure(&self, key: (SessionId, String)) -> bool {
        let mut reported = self.reported.lock();
        if reported.len() >= REPORTED_LIMIT {
            reported.clear();
        }
        reported.insert(key)
    }

    /// Sends how much of the context is used. `prompt` is the length of the prompt, in characters.
    pub(super) async fn send_usage(&self, prompt: usize) -> Result<(), TurnError> {
        let before = self.turn.current_usage().map_or(0, |usage| usage.used);
        let more = (prompt as u64 + self.sent.load(Ordering::Relaxed)).div_ceil(4);
        self.turn.usage(UsageUpdate::new(before.saturating_add(more).min(CONTEXT), CONTEXT)).await
    }
}

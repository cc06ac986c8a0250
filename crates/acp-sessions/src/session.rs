use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use agentwire_acp_agent::Error;
use agentwire_acp_schema::v1::SessionId;
use agentwire_mcp_hub::Hub;
use agentwire_mcp_hub::schema::Tool;
use agentwire_sync::{Mutex, MutexGuard};
use futures::future::join;

use crate::outbox::Outbox;
use crate::random::random;
use crate::signal::Signal;

/// A session that is open.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) id: SessionId,
    /// The working directory, then the further roots.
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) hub: Hub,
    pub(crate) outbox: Arc<Outbox>,
    turn: Mutex<Option<Running>>,
    rules: Mutex<HashMap<ToolName, Rule>>,
    /// What the ids given out in this life of the session begin with: another life has other ids.
    prefix: String,
    next_id: AtomicU64,
}

/// How many decisions are kept.
const RULE_LIMIT: usize = 1000;

/// How long the scope of one may be, in bytes.
const SCOPE_LIMIT: usize = 4 << 10;

/// What the person has decided on once and for all: a tool of a server, by the server's name and its own there, or something
/// that the agent itself does, in its words.
pub(crate) type ToolName = (Option<String>, String);

/// What the person has decided on a tool.
#[derive(Debug)]
struct Rule {
    allowed: bool,
    /// The tool of an MCP server, as the person was shown it.
    definition: Option<Tool>,
}

#[derive(Clone, Debug, Default)]
struct Running {
    cancel: Signal,
    over: Signal,
}

impl Session {
    /// # Errors
    ///
    /// When the system gives no random numbers.
    pub(crate) fn new(
        id: SessionId,
        roots: Vec<PathBuf>,
        hub: Hub,
        outbox: Arc<Outbox>,
    ) -> Result<Self, Error> {
        Ok(Self {
            id,
            roots,
            hub,
            outbox,
            turn: Mutex::default(),
            rules: Mutex::default(),
            prefix: random::<8>()?,
            next_id: AtomicU64::new(1),
        })
    }

    /// An id that nothing else has in the session, also not what was replayed from its earlier lives.
    pub(crate) fn next_id(&self, kind: &str) -> String {
        format!("{kind}-{}-{}", self.prefix, self.next_id.fetch_add(1, Ordering::Relaxed))
    }

    /// Takes the session for one turn.
    ///
    /// # Errors
    ///
    /// When another one runs.
    pub(crate) fn begin_turn(self: &Arc<Self>) -> Result<TurnGuard, Error> {
        let mut turn = self.turn();
        if turn.is_some() {
            return Err(busy(&self.id, "another prompt runs in it"));
        }
        let running = turn.insert(Running::default()).clone();
        drop(turn);
        Ok(TurnGuard { number: self.outbox.begin_turn(), cancel: running.cancel, session: self.clone() })
    }

    pub(crate) fn is_busy(&self) -> bool {
        self.turn().is_some()
    }

    /// Tells the turn that runs to end, and gives what is set when it has.
    pub(crate) fn cancel_turn(&self) -> Option<Signal> {
        let running = self.turn().clone()?;
        running.cancel.set();
        Some(running.over)
    }

    /// What the person has decided on a tool once and for all. A tool that is now described in another way is not the one
    /// that was allowed; a rejection stays.
    pub(crate) fn rule(&self, tool: &ToolName, definition: Option<&Tool>) -> Option<bool> {
        let rules = self.rules();
        let rule = rules.get(tool)?;
        (!rule.allowed || rule.definition.as_ref() == definition).then_some(rule.allowed)
    }

    pub(crate) fn set_rule(&self, tool: ToolName, allowed: bool, definition: Option<Tool>) {
        let mut rules = self.rules();
        if tool.1.len() <= SCOPE_LIMIT && (rules.len() < RULE_LIMIT || rules.contains_key(&tool)) {
            rules.insert(tool, Rule { allowed, definition });
        }
    }

    fn rules(&self) -> MutexGuard<'_, HashMap<ToolName, Rule>> {
        self.rules.lock()
    }

    /// Lets go of what the session holds, once all that was said in it is kept. Its turn is over.
    pub(crate) async fn close(&self) {
        join(self.outbox.close(), self.hub.close()).await;
    }

    fn turn(&self) -> MutexGuard<'_, Option<Running>> {
        self.turn.lock()
    }
}

/// An error for who asks for a session that is taken.
pub(crate) fn busy(id: &SessionId, why: &str) -> Error {
    Error::invalid_request(format_args!("the session {id} is busy: {why}"))
}

/// The turn that runs in a session. Dropping it ends the turn.
#[derive(Debug)]
pub(crate) struct TurnGuard {
    pub(crate) session: Arc<Session>,
    pub(crate) number: u64,
    pub(crate) cancel: Signal,
}

impl Drop for TurnGuard {
    fn drop(&mut self) {
        self.session.outbox.end_turn();
        let running = self.session.turn().take();
        if let Some(running) = running {
            running.over.set();
        }
    }
}

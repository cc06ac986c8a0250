//! An open session: its turn, its MCP servers, its update log and its permission rules.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
#[cfg(feature = "v2")]
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use agentwire_acp_agent::Error;
use agentwire_acp_schema::v1::SessionId;
use agentwire_mcp_hub::Hub;
use agentwire_mcp_hub::schema::Tool;
use agentwire_sync::{Mutex, MutexGuard};
use futures_util::future::join;

use crate::connection::signal::Signal;
use crate::error::busy;
use crate::log::UpdateLog;
use crate::questions::responder::Responder;
use crate::random::random;
#[cfg(feature = "v2")]
use crate::v2::workspace::LocalWorkspace;

/// An open session.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) id: SessionId,
    /// The working directory, then the additional directories.
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) hub: Hub,
    pub(crate) log: Arc<UpdateLog>,
    /// Answers the MCP servers while a turn runs.
    pub(crate) responder: Responder,
    running: Mutex<Option<RunningTurn>>,
    rules: Mutex<HashMap<RuleSubject, PermissionRule>>,
    /// A random prefix of generated ids. A session that is opened again has another prefix, so ids never repeat.
    prefix: String,
    next_id: AtomicU64,
    /// The files and terminals of the agent's machine, for version 2.
    #[cfg(feature = "v2")]
    local: OnceLock<Arc<LocalWorkspace>>,
}

/// How many permission rules a session keeps.
const RULE_LIMIT: usize = 1000;

/// The most bytes of the name of a rule. An answer with a longer one is not kept.
const SCOPE_LIMIT: usize = 4 << 10;

/// The subject of a permission rule: the name of an MCP server and of its tool, or no server and the scope that the agent
/// has named.
pub(crate) type RuleSubject = (Option<String>, String);

/// A permission rule: the user's answer "always allow" or "always reject".
#[derive(Debug)]
struct PermissionRule {
    allowed: bool,
    /// The tool of an MCP server as the user was shown it.
    definition: Option<Tool>,
}

#[derive(Clone, Debug, Default)]
struct RunningTurn {
    cancel: Signal,
    ended: Signal,
}

impl Session {
    /// # Errors
    ///
    /// When the system provides no random numbers.
    pub(crate) fn new(
        id: SessionId,
        roots: Vec<PathBuf>,
        hub: Hub,
        log: Arc<UpdateLog>,
        responder: Responder,
    ) -> Result<Self, Error> {
        Ok(Self {
            id,
            roots,
            hub,
            log,
            responder,
            running: Mutex::default(),
            rules: Mutex::default(),
            prefix: random::<8>()?,
            next_id: AtomicU64::new(1),
            #[cfg(feature = "v2")]
            local: OnceLock::new(),
        })
    }

    /// Returns the files and terminals of the agent's machine.
    #[cfg(feature = "v2")]
    pub(crate) fn local_workspace(&self) -> Arc<LocalWorkspace> {
        let new = || Arc::new(LocalWorkspace::new(&self.roots, &self.prefix, self.log.clone()));
        self.local.get_or_init(new).clone()
    }

    /// Returns the signal that is set when the running turn has ended, or `None` if no turn runs.
    #[cfg(feature = "v2")]
    pub(crate) fn turn_ended(&self) -> Option<Signal> {
        self.running.lock().as_ref().map(|running| running.ended.clone())
    }

    /// Returns an id that is unique in the session, replayed updates included.
    pub(crate) fn next_id(&self, kind: &str) -> String {
        format!("{kind}-{}-{}", self.prefix, self.next_id.fetch_add(1, Ordering::Relaxed))
    }

    /// Begins a turn.
    ///
    /// # Errors
    ///
    /// When another turn runs.
    pub(crate) fn begin_turn(self: &Arc<Self>) -> Result<TurnGuard, Error> {
        let mut slot = self.running.lock();
        if slot.is_some() {
            return Err(busy(&self.id, "another prompt runs in it"));
        }
        let running = slot.insert(RunningTurn::default()).clone();
        drop(slot);
        Ok(TurnGuard { number: self.log.begin_turn(), cancel: running.cancel, session: self.clone() })
    }

    pub(crate) fn is_busy(&self) -> bool {
        self.running.lock().is_some()
    }

    /// Cancels the running turn, and returns the signal that is set when it has ended.
    pub(crate) fn cancel_turn(&self) -> Option<Signal> {
        let running = self.running.lock().clone()?;
        running.cancel.set();
        Some(running.ended)
    }

    /// Returns whether a rule allows the tool, or `None` if no rule applies. A rule that allows a tool does not apply once its
    /// server describes the tool in another way; a rule that rejects it does.
    pub(crate) fn rule(&self, tool: &RuleSubject, definition: Option<&Tool>) -> Option<bool> {
        let rules = self.rules();
        let rule = rules.get(tool)?;
        (!rule.allowed || rule.definition.as_ref() == definition).then_some(rule.allowed)
    }

    pub(crate) fn set_rule(&self, tool: RuleSubject, allowed: bool, definition: Option<Tool>) {
        let mut rules = self.rules();
        if tool.1.len() <= SCOPE_LIMIT && (rules.len() < RULE_LIMIT || rules.contains_key(&tool)) {
            rules.insert(tool, PermissionRule { allowed, definition });
        }
    }

    fn rules(&self) -> MutexGuard<'_, HashMap<RuleSubject, PermissionRule>> {
        self.rules.lock()
    }

    /// Closes the MCP servers and, once all queued updates are written, the log. The turn has ended before.
    pub(crate) async fn close(&self) {
        join(self.log.close(), self.hub.close()).await;
    }
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
        self.session.responder.clear();
        self.session.log.end_turn();
        let running = self.session.running.lock().take();
        if let Some(running) = running {
            running.ended.set();
        }
    }
}

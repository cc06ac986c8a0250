//! The client's description of itself, and its time-outs.

use std::time::Duration;

use agentwire_mcp_schema::{ClientCapabilities, Downgrade, Era, Implementation, LoggingLevel, Revision};
use agentwire_peer::runtime::ResponsePolicy;

use crate::raw::Waits;
use crate::request::stamp::Stamp;

/// The client's description of itself, and its time-outs.
#[derive(Clone)]
pub(crate) struct HandshakeConfig {
    pub(crate) era: Era,
    /// The revisions that may be agreed on.
    pub(crate) revisions: Vec<Revision>,
    pub(crate) info: Implementation,
    pub(crate) capabilities: ClientCapabilities,
    pub(crate) log_level: Option<LoggingLevel>,
    /// Whether the client has a hook for the log.
    pub(crate) has_log_hook: bool,
    /// How long the answer to `initialize`, or to the only `server/discover`, may take.
    pub(crate) handshake_timeout: Option<Duration>,
    /// How long [`Era::Auto`] waits for the answer to `server/discover`.
    pub(crate) discover_timeout: Duration,
    /// How long calls wait.
    pub(crate) waits: Waits,
}

impl HandshakeConfig {
    /// Whether a revision may be agreed on.
    pub(crate) fn speaks(&self, revision: Revision) -> bool {
        self.revisions.contains(&revision)
    }

    /// The newest revision that may be agreed on and meets the condition.
    pub(crate) fn newest(&self, condition: fn(Revision) -> bool) -> Option<Revision> {
        self.revisions.iter().copied().filter(|revision| condition(*revision)).max()
    }

    /// The era to speak: [`Era::Auto`] only if revisions of both eras may be agreed on.
    pub(super) fn possible_era(&self) -> Era {
        match self.era {
            Era::Auto if self.newest(Revision::is_modern).is_none() => Era::Legacy,
            Era::Auto if self.newest(Revision::is_legacy).is_none() => Era::Modern,
            era => era,
        }
    }

    /// The messages of the server that get a response before a revision is agreed on. In [`Era::Auto`] these are requests,
    /// because only a server with sessions sends requests, while any server may write unreadable messages.
    pub(crate) fn responses(&self) -> ResponsePolicy {
        match self.possible_era() {
            Era::Legacy => ResponsePolicy::All,
            Era::Modern => ResponsePolicy::None,
            _ => ResponsePolicy::WithId,
        }
    }

    /// The capabilities in the terms of a revision.
    pub(super) fn capabilities_in(&self, revision: Revision) -> ClientCapabilities {
        let mut capabilities = self.capabilities.clone();
        capabilities.downgrade(revision);
        capabilities
    }

    /// The description of the client that every modern request carries.
    pub(super) fn stamp(&self, revision: Revision) -> Stamp {
        let capabilities = self.capabilities_in(revision);
        let log_level = self.log_level.clone().or(self.has_log_hook.then_some(LoggingLevel::Info));
        Stamp::new(revision, self.info.clone(), capabilities, log_level)
    }
}

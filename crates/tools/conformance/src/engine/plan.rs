//! The checks of one kind of subject, and which of them run in which revision.

use std::collections::HashMap;
use std::time::Duration;

use crate::check::{Check, Running};
use crate::conversation::shared::Shared;
use crate::requirements::protocol::Protocol;
use crate::requirements::requirement::Requirement;
use crate::requirements::revision::Revision;
use crate::setting::Setting;
use crate::subject::Transport;
use crate::trace::Trace;
use crate::verdict::Outcome;

/// The checks for one kind of subject, and how a check reaches it.
pub(crate) struct Kind<C: 'static> {
    /// By path.
    pub(super) checks: HashMap<&'static str, &'static Check<C>>,
    pub(crate) context: Box<dyn Fn(Setting) -> C + Send + Sync>,
    pub(crate) plain: fn(C) -> Running,
    pub(super) speaks: fn(C) -> Running,
    /// Gives a check the conversation of those before it. `None` where each has its own.
    pub(super) share: Option<fn(C, Shared) -> C>,
}

impl<C> Kind<C> {
    pub(crate) fn new(
        checks: &'static [&'static [Check<C>]],
        context: impl Fn(Setting) -> C + Send + Sync + 'static,
        plain: fn(C) -> Running,
        speaks: fn(C) -> Running,
    ) -> Self {
        Self {
            checks: checks.iter().copied().flatten().map(|check| (check.path(), check)).collect(),
            context: Box::new(context),
            plain,
            speaks,
            share: None,
        }
    }

    /// The same, and some checks share a conversation.
    pub(crate) fn sharing(self, share: fn(C, Shared) -> C) -> Self {
        Self { share: Some(share), ..self }
    }
}

/// Checks that run one after another.
pub(super) struct Job<'p, C: 'static> {
    pub(super) revision: Revision,
    pub(super) checks: Vec<Option<&'p Planned<'p, C>>>,
    /// The conversation of all of them, if they share it.
    pub(super) shared: Option<Shared>,
}

impl<C> Job<'_, C> {
    /// A job for each of its checks.
    pub(super) fn split(self) -> Vec<Self> {
        let alone = |check| Self { revision: self.revision, checks: vec![check], shared: None };
        self.checks.into_iter().map(alone).collect()
    }
}

/// A check that has ended, or an ordinary conversation.
pub(super) struct Done<'p, C: 'static> {
    /// The rest of its job.
    pub(super) rest: Vec<Job<'p, C>>,
    pub(super) planned: Option<&'p Planned<'p, C>>,
    pub(super) setting: Setting,
    pub(super) outcome: Outcome,
    pub(super) time: Duration,
    /// Its conversations that have ended.
    pub(super) traces: Vec<Trace>,
}

/// A check in one revision.
pub(crate) struct Planned<'p, C: 'static> {
    pub(crate) check: &'static Check<C>,
    pub(crate) requirement: &'p Requirement,
    pub(crate) revision: Revision,
}

/// Whether a revision has a transport. Servers of MCP offer HTTP+SSE for the first revision only.
pub(super) fn transport_of(transport: Transport, revision: Revision) -> bool {
    match (transport, revision.protocol()) {
        (Transport::Stdio, _) | (Transport::Http | Transport::Ws, Protocol::Acp) => true,
        (Transport::Http, Protocol::Mcp) => revision >= Revision::Mcp20250326,
        (Transport::Sse, _) => revision == Revision::Mcp20241105,
        (Transport::Ws, Protocol::Mcp) => false,
    }
}

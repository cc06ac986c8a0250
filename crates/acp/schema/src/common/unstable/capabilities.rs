//! The capabilities that drafts add in both versions: for providers, `auth/status`, sessions, system prompts and subagents.

use agentwire_wire_derive::{Build, Wire};

use super::additions::capability_additions;
use super::{AuthStatusCapabilities, ProvidersCapabilities};
use crate::common::{Meta, marker_capability};

/// The additions of drafts to the capabilities of an agent.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct AgentCapabilitiesAdditions {
    /// The methods `providers/*`.
    #[wire(lenient)]
    pub providers: Option<ProvidersCapabilities>,
}

/// The additions of drafts to an agent's capabilities for authentication.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct AgentAuthCapabilitiesAdditions {
    /// `auth/status`.
    #[wire(lenient)]
    pub status: Option<AuthStatusCapabilities>,
}

/// The additions of drafts to an agent's capabilities for sessions.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct SessionCapabilitiesAdditions {
    /// The member `systemPrompt` of the requests that begin a session.
    #[wire(lenient)]
    pub system_prompt: Option<SessionSystemPromptCapabilities>,
    /// `session/fork`.
    #[wire(lenient)]
    pub fork: Option<SessionForkCapabilities>,
    /// `session/archive` and `session/unarchive`, and the members `archived` of a list of sessions.
    #[wire(lenient)]
    pub archive: Option<SessionArchiveCapabilities>,
    /// `session/status`.
    #[wire(lenient)]
    pub status: Option<SessionStatusCapabilities>,
    /// `session/set_title`.
    #[wire(lenient)]
    pub title: Option<SessionTitleCapabilities>,
}

capability_additions! {
    AgentCapabilitiesAdditions: "providers";
    AgentAuthCapabilitiesAdditions: "status";
    SessionCapabilitiesAdditions: "systemPrompt", "fork", "archive", "status", "title";
}

/// That an agent takes a system prompt, in the mode `append` at least.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct SessionSystemPromptCapabilities {
    /// The other modes.
    #[wire(lenient)]
    pub mode: Option<SessionSystemPromptModeCapabilities>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
    /// Members that this version does not know, unchanged: real peers send more than the schema lists.
    #[wire(extra)]
    pub extra: Meta,
}

/// The modes of a system prompt that an agent takes beyond `append`.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct SessionSystemPromptModeCapabilities {
    /// The mode `override`. On the wire `override`.
    #[wire(lenient, name = "override")]
    pub replace: Option<SessionSystemPromptOverrideCapabilities>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
    /// Members that this version does not know, unchanged: real peers send more than the schema lists.
    #[wire(extra)]
    pub extra: Meta,
}

/// The operations that a client may request for a subagent's session. Those of an ordinary session do not apply to it.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct SubagentSessionCapabilities {
    /// `session/cancel`, which ends the work and not the session.
    #[wire(lenient)]
    pub cancel: Option<SessionCancelCapabilities>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
    /// Members that this version does not know, unchanged: real peers send more than the schema lists.
    #[wire(extra)]
    pub extra: Meta,
}

marker_capability! {
    /// That an agent takes a system prompt in place of its own.
    SessionSystemPromptOverrideCapabilities,
    /// The agent answers `session/fork`.
    SessionForkCapabilities,
    /// The agent answers `session/archive` and `session/unarchive`.
    SessionArchiveCapabilities,
    /// The agent answers `session/status`.
    SessionStatusCapabilities,
    /// The agent answers `session/set_title`. It may tell titles without it.
    SessionTitleCapabilities,
    /// That the work of a subagent can be cancelled.
    SessionCancelCapabilities,
}

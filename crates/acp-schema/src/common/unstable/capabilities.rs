use super::additions::capability_additions;
use super::{AuthStatusCapabilities, ProvidersCapabilities};
use crate::wire::{marker_capability, object};

object! {
    /// What drafts add to the capabilities of an agent.
    AgentCapabilitiesAdditions {
        /// The methods `providers/*`.
        lenient providers: Option<ProvidersCapabilities>,
    }
}

object! {
    /// What drafts add to what an agent can do about authentication.
    AgentAuthCapabilitiesAdditions {
        /// `auth/status`.
        lenient status: Option<AuthStatusCapabilities>,
    }
}

object! {
    /// What drafts add to what an agent can do about sessions.
    SessionCapabilitiesAdditions {
        /// The member `systemPrompt` of the requests that begin a session.
        lenient system_prompt: Option<SessionSystemPromptCapabilities>,
        /// `session/fork`.
        lenient fork: Option<SessionForkCapabilities>,
        /// `session/archive` and `session/unarchive`, and the members `archived` of a list of sessions.
        lenient archive: Option<SessionArchiveCapabilities>,
        /// `session/status`.
        lenient status: Option<SessionStatusCapabilities>,
        /// `session/set_title`.
        lenient title: Option<SessionTitleCapabilities>,
    }
}

capability_additions! {
    AgentCapabilitiesAdditions: "providers";
    AgentAuthCapabilitiesAdditions: "status";
    SessionCapabilitiesAdditions: "systemPrompt", "fork", "archive", "status", "title";
}

object! {
    /// That an agent takes a system prompt, in the mode `append` at least.
    SessionSystemPromptCapabilities {
        /// Which other modes.
        lenient mode: Option<SessionSystemPromptModeCapabilities>,
        meta,
        extra,
    }
}

object! {
    /// Which modes of a system prompt an agent takes beyond `append`.
    SessionSystemPromptModeCapabilities {
        /// The mode `override`. On the wire `override`.
        lenient replace: Option<SessionSystemPromptOverrideCapabilities> = "override",
        meta,
        extra,
    }
}

object! {
    /// What a client may do to a subagent's session. What an ordinary session allows says nothing about it.
    SubagentSessionCapabilities {
        /// `session/cancel`, which ends the work and not the session.
        lenient cancel: Option<SessionCancelCapabilities>,
        meta,
        extra,
    }
}

marker_capability! {
    /// That an agent takes a system prompt in place of its own.
    SessionSystemPromptOverrideCapabilities,
    /// That an agent answers `session/fork`.
    SessionForkCapabilities,
    /// That an agent answers `session/archive` and `session/unarchive`.
    SessionArchiveCapabilities,
    /// That an agent answers `session/status`.
    SessionStatusCapabilities,
    /// That an agent answers `session/set_title`. It may tell titles without it.
    SessionTitleCapabilities,
    /// That the work of a subagent can be cancelled.
    SessionCancelCapabilities,
}

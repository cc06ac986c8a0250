use serde::{Deserialize, Serialize};

use crate::common::lenient::lenient;
use crate::common::{Meta, builder, marker_capability};

/// What an agent can do, as told in the answer to `initialize`.
///
/// See <https://agentclientprotocol.com/protocol/v1/initialization>.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AgentCapabilities {
    /// Whether it answers `session/load`.
    #[serde(default, deserialize_with = "lenient")]
    pub load_session: bool,
    /// Which content blocks a prompt may hold beyond text and resource links.
    #[serde(default, deserialize_with = "lenient")]
    pub prompt_capabilities: PromptCapabilities,
    /// Which MCP servers it can reach beyond those on stdio.
    #[serde(default, deserialize_with = "lenient")]
    pub mcp_capabilities: McpCapabilities,
    /// Which `session/*` methods it answers beyond new, prompt, cancel and load.
    #[serde(default, deserialize_with = "lenient")]
    pub session_capabilities: SessionCapabilities,
    /// What it can do about authentication.
    #[serde(default, deserialize_with = "lenient")]
    pub auth: AgentAuthCapabilities,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
    /// Members that this version does not know, as they came: real peers advertise more than the schema lists.
    #[serde(flatten)]
    pub extra: Meta,
}

builder! {
    AgentCapabilities::new() {
        plain load_session: bool,
        plain prompt_capabilities: PromptCapabilities,
        plain mcp_capabilities: McpCapabilities,
        plain session_capabilities: SessionCapabilities,
        plain auth: AgentAuthCapabilities,
        option meta: Meta,
        plain extra: Meta,
    }
}

/// Which content blocks a prompt may hold beyond text and resource links, which every agent takes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PromptCapabilities {
    /// Blocks of type `image`.
    #[serde(default, deserialize_with = "lenient")]
    pub image: bool,
    /// Blocks of type `audio`.
    #[serde(default, deserialize_with = "lenient")]
    pub audio: bool,
    /// Blocks of type `resource`.
    #[serde(default, deserialize_with = "lenient")]
    pub embedded_context: bool,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
    /// Members that this version does not know, as they came: real peers advertise more than the schema lists.
    #[serde(flatten)]
    pub extra: Meta,
}

builder! {
    PromptCapabilities::new() {
        plain image: bool,
        plain audio: bool,
        plain embedded_context: bool,
        option meta: Meta,
        plain extra: Meta,
    }
}

/// Which MCP servers an agent can reach beyond those on stdio, which every agent can.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct McpCapabilities {
    /// Servers of type `http`.
    #[serde(default, deserialize_with = "lenient")]
    pub http: bool,
    /// Servers of type `sse`, the transport that MCP has deprecated.
    #[serde(default, deserialize_with = "lenient")]
    pub sse: bool,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
    /// Members that this version does not know, as they came: real peers advertise more than the schema lists.
    #[serde(flatten)]
    pub extra: Meta,
}

builder! {
    McpCapabilities::new() {
        plain http: bool,
        plain sse: bool,
        option meta: Meta,
        plain extra: Meta,
    }
}

/// Which `session/*` methods an agent answers beyond the baseline.
///
/// `session/load` is not among them: that is [`AgentCapabilities::load_session`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SessionCapabilities {
    /// `session/list`.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub list: Option<SessionListCapabilities>,
    /// `session/delete`.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub delete: Option<SessionDeleteCapabilities>,
    /// The member `additionalDirectories` of the requests that begin a session.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub additional_directories: Option<SessionAdditionalDirectoriesCapabilities>,
    /// `session/resume`.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub resume: Option<SessionResumeCapabilities>,
    /// `session/close`.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub close: Option<SessionCloseCapabilities>,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
    /// Members that this version does not know, as they came: real peers advertise more than the schema lists.
    #[serde(flatten)]
    pub extra: Meta,
}

builder! {
    SessionCapabilities::new() {
        option list: SessionListCapabilities,
        option delete: SessionDeleteCapabilities,
        option additional_directories: SessionAdditionalDirectoriesCapabilities,
        option resume: SessionResumeCapabilities,
        option close: SessionCloseCapabilities,
        option meta: Meta,
        plain extra: Meta,
    }
}

/// What an agent can do about authentication.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AgentAuthCapabilities {
    /// `logout`.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub logout: Option<LogoutCapabilities>,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
    /// Members that this version does not know, as they came: real peers advertise more than the schema lists.
    #[serde(flatten)]
    pub extra: Meta,
}

builder! {
    AgentAuthCapabilities::new() {
        option logout: LogoutCapabilities,
        option meta: Meta,
        plain extra: Meta,
    }
}

marker_capability! {
    /// That an agent answers `session/list`.
    SessionListCapabilities,
    /// That an agent answers `session/delete`.
    SessionDeleteCapabilities,
    /// That an agent takes further roots.
    SessionAdditionalDirectoriesCapabilities,
    /// That an agent answers `session/resume`.
    SessionResumeCapabilities,
    /// That an agent answers `session/close`.
    SessionCloseCapabilities,
    /// That an agent answers `logout`.
    LogoutCapabilities,
}

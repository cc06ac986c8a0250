use agentwire_jsonrpc::Method;
use serde::{Deserialize, Serialize};

use crate::common::lenient::{items, lenient};
use crate::common::{Meta, SessionId, SessionModeId, builder, empty_object};

/// The modes of a session, and the one it is in.
///
/// See <https://agentclientprotocol.com/protocol/v1/session-modes>.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SessionModeState {
    /// The mode it is in, one of those available.
    pub current_mode_id: SessionModeId,
    /// All its modes.
    #[serde(deserialize_with = "items")]
    pub available_modes: Vec<SessionMode>,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    SessionModeState::new(current_mode_id: SessionModeId, available_modes: Vec<SessionMode>) {
        option meta: Meta,
    }
}

/// A way in which an agent can work, such as asking before each edit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SessionMode {
    /// Names the mode.
    pub id: SessionModeId,
    /// What to call it in front of people.
    pub name: String,
    /// A sentence about it, for people.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    SessionMode::new(id: SessionModeId, name: String) {
        option description: String,
        option meta: Meta,
    }
}

/// `session/set_mode`: change the mode, also while a prompt runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SetSessionModeRequest {
    /// The session.
    pub session_id: SessionId,
    /// One of its modes.
    pub mode_id: SessionModeId,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    SetSessionModeRequest::new(session_id: SessionId, mode_id: SessionModeId) {
        option meta: Meta,
    }
}

impl Method for SetSessionModeRequest {
    const NAME: &'static str = "session/set_mode";
    type Response = SetSessionModeResponse;
}

empty_object! {
    /// The answer to `session/set_mode`.
    SetSessionModeResponse,
}

/// The update `current_mode_update`: the session is in another mode now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CurrentModeUpdate {
    /// The mode.
    pub current_mode_id: SessionModeId,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    CurrentModeUpdate::new(current_mode_id: SessionModeId) {
        option meta: Meta,
    }
}

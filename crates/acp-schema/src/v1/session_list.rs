use std::path::PathBuf;

use agentwire_jsonrpc::Method;
use serde::{Deserialize, Serialize};

use crate::common::lenient::{items, lenient};
use crate::common::{Meta, SessionId, builder, empty_object};

/// `session/list`: which conversations there are.
///
/// Only where the agent has the capability `sessionCapabilities.list`. See
/// <https://agentclientprotocol.com/protocol/v1/session-list>.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListSessionsRequest {
    /// Only sessions with this working directory, an absolute path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    /// Where to go on: what the page before said in [`ListSessionsResponse::next_cursor`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
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
    ListSessionsRequest::new() {
        option cwd: PathBuf,
        option cursor: String,
        option meta: Meta,
    }
}

impl Method for ListSessionsRequest {
    const NAME: &'static str = "session/list";
    type Response = ListSessionsResponse;
}

/// The answer to `session/list`: one page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListSessionsResponse {
    /// The sessions of this page.
    #[serde(deserialize_with = "items")]
    pub sessions: Vec<SessionInfo>,
    /// Where the next page begins; none after the last. Only the agent knows what it means.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
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
    ListSessionsResponse::new(sessions: Vec<SessionInfo>) {
        option next_cursor: String,
        option meta: Meta,
    }
}

/// A session in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SessionInfo {
    /// The session.
    pub session_id: SessionId,
    /// The directory it works in, an absolute path.
    pub cwd: PathBuf,
    /// All its further roots in their order, absolute paths.
    #[serde(default, deserialize_with = "items", skip_serializing_if = "Vec::is_empty")]
    pub additional_directories: Vec<PathBuf>,
    /// What to call it in front of people.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// When something last happened in it, in ISO 8601.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<String>,
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
    SessionInfo::new(session_id: SessionId, cwd: PathBuf) {
        list additional_directories: PathBuf,
        option title: String,
        option updated_at: String,
        option meta: Meta,
    }
}

/// `session/delete`: take a conversation off the list. One that is not there should be no error.
///
/// Only where the agent has the capability `sessionCapabilities.delete`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DeleteSessionRequest {
    /// The session.
    pub session_id: SessionId,
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
    DeleteSessionRequest::new(session_id: SessionId) {
        option meta: Meta,
    }
}

impl Method for DeleteSessionRequest {
    const NAME: &'static str = "session/delete";
    type Response = DeleteSessionResponse;
}

/// `session/close`: stop what the session does, as `session/cancel` would, and free what it holds.
///
/// Only where the agent has the capability `sessionCapabilities.close`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CloseSessionRequest {
    /// The session.
    pub session_id: SessionId,
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
    CloseSessionRequest::new(session_id: SessionId) {
        option meta: Meta,
    }
}

impl Method for CloseSessionRequest {
    const NAME: &'static str = "session/close";
    type Response = CloseSessionResponse;
}

empty_object! {
    /// The answer to `session/delete`.
    DeleteSessionResponse,
    /// The answer to `session/close`.
    CloseSessionResponse,
}

//! Session modes: their state in session results, `session/set_mode` and the update `current_mode_update`.

use agentwire_wire_derive::{Build, Wire};

use crate::common::{Meta, SessionId, SessionModeId, empty_object};

/// The modes of a session, and the current one.
///
/// See <https://agentclientprotocol.com/protocol/v1/session-modes>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct SessionModeState {
    /// The current mode, one of those available.
    #[wire(required)]
    pub current_mode_id: SessionModeId,
    /// All its modes.
    #[wire(required_items)]
    pub available_modes: Vec<SessionMode>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// A mode of work, such as asking before each edit.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct SessionMode {
    /// Identifies the mode.
    #[wire(required)]
    pub id: SessionModeId,
    /// The name to show to people.
    #[wire(required)]
    pub name: String,
    /// A description for people.
    #[wire(lenient)]
    pub description: Option<String>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// `session/set_mode`: changes the mode, also while a prompt runs.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct SetSessionModeRequest {
    /// The session.
    #[wire(required)]
    pub session_id: SessionId,
    /// One of its modes.
    #[wire(required)]
    pub mode_id: SessionModeId,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

empty_object! {
    /// The answer to `session/set_mode`.
    SetSessionModeResponse,
}

/// The update `current_mode_update`: the session's mode has changed.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct CurrentModeUpdate {
    /// The mode.
    #[wire(required)]
    pub current_mode_id: SessionModeId,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

use agentwire_jsonrpc::Method;

use crate::common::{SessionId, SessionModeId};
use crate::wire::{empty_object, object};

object! {
    /// The modes of a session, and the one it is in.
    ///
    /// See <https://agentclientprotocol.com/protocol/v1/session-modes>.
    SessionModeState {
        /// The mode it is in, one of those available.
        required current_mode_id: SessionModeId,
        /// All its modes.
        required_items available_modes: Vec<SessionMode>,
        meta,
    }
}

object! {
    /// A way in which an agent can work, such as asking before each edit.
    SessionMode {
        /// Names the mode.
        required id: SessionModeId,
        /// What to call it in front of people.
        required name: String,
        /// A sentence about it, for people.
        lenient description: Option<String>,
        meta,
    }
}

object! {
    /// `session/set_mode`: change the mode, also while a prompt runs.
    SetSessionModeRequest {
        /// The session.
        required session_id: SessionId,
        /// One of its modes.
        required mode_id: SessionModeId,
        meta,
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

object! {
    /// The update `current_mode_update`: the session is in another mode now.
    CurrentModeUpdate {
        /// The mode.
        required current_mode_id: SessionModeId,
        meta,
    }
}

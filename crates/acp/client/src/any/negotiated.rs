//! The version of an answer to `initialize`, for a client that speaks several.

use std::sync::atomic::{AtomicU8, Ordering};

use agentwire_acp_schema::{v1, v2 as schema};
use agentwire_jsonrpc::{Frame, Message, RawJson, RequestId};
use agentwire_sync::{Mutex, MutexGuard};
use agentwire_transport::{Direction, Packet};
use serde::{Deserialize, Serialize};

/// The params of an `initialize` that a reader of either version can decode.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BothVersions<'a> {
    pub(crate) protocol_version: v1::ProtocolVersion,
    pub(crate) info: &'a v1::Implementation,
    pub(crate) capabilities: &'a schema::ClientCapabilities,
    pub(crate) client_info: &'a v1::Implementation,
    pub(crate) client_capabilities: &'a v1::ClientCapabilities,
}

/// The members that show the version of an answer to `initialize`.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
#[serde(rename_all = "camelCase")]
struct Members {
    protocol_version: v1::ProtocolVersion,
    /// Required in version 2, and not known in version 1.
    info: Option<serde::de::IgnoredAny>,
}

/// An answer to `initialize`, in its version.
pub(crate) enum Answer {
    One,
    Two,
    /// It has the number of version 2, and not its required members.
    Echo,
    Other(v1::ProtocolVersion),
    Unreadable(String),
}

impl Answer {
    pub(crate) fn of(answer: &RawJson) -> Self {
        match answer.decode::<Members>() {
            Ok(Members { protocol_version: v1::ProtocolVersion::V1, .. }) => Self::One,
            Ok(Members { protocol_version: v1::ProtocolVersion::V2, info: Some(_) }) => Self::Two,
            Ok(Members { protocol_version: v1::ProtocolVersion::V2, info: None }) => Self::Echo,
            Ok(Members { protocol_version, .. }) => Self::Other(protocol_version),
            Err(why) => Self::Unreadable(why.to_string()),
        }
    }
}

/// The selected version. It is set when the answer arrives, because the messages that follow the answer have that version
/// and are handled before the caller gets the answer.
#[derive(Debug, Default)]
pub(crate) struct NegotiatedVersion {
    /// 0 before it is agreed on.
    version: AtomicU8,
    /// The ids of the `initialize` requests.
    requests: Mutex<Vec<RequestId>>,
}

impl NegotiatedVersion {
    pub(crate) fn add_request(&self, id: RequestId) {
        self.lock().push(id);
    }

    /// Sets the version if the packet is an answer to `initialize`.
    pub(crate) fn inspect(&self, direction: Direction, packet: &Packet) {
        if self.version() != 0 || direction == Direction::Out {
            return;
        }
        let Packet::Frame { frame: Frame::Single(Message::Response(response)), .. } = packet else { return };
        if let Ok(answer) = &response.outcome
            && self.lock().contains(&response.id)
        {
            match Answer::of(answer) {
                Answer::One => self.version.store(1, Ordering::Release),
                Answer::Two => self.version.store(2, Ordering::Release),
                _ => {}
            }
        }
    }

    pub(crate) fn version(&self) -> u8 {
        self.version.load(Ordering::Acquire)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<RequestId>> {
        self.requests.lock()
    }
}

//! Reads the parts of a message that matching needs: its kind, its id and its method.

use agentwire_jsonrpc::{RawJson, read};
use serde_json::Value;

use crate::json_text::encoded;

/// The kind of a message. Ids are JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MessageKind {
    Request { id: String, method: String },
    Notification { method: String },
    Response { id: String },
}

impl MessageKind {
    /// The kind of a JSON object. One with neither an id nor a method counts as a notification without a method.
    pub(crate) fn of(message: &RawJson) -> Self {
        let id = message.member("id").map(|id| id_text(&id));
        let method = message.member("method").and_then(|method| method.decode::<String>().ok());
        match (id, method) {
            (Some(id), Some(method)) => Self::Request { id, method },
            (Some(id), None) => Self::Response { id },
            (None, method) => Self::Notification { method: method.unwrap_or_default() },
        }
    }

    pub(crate) fn method(&self) -> Option<&str> {
        match self {
            Self::Request { method, .. } | Self::Notification { method } => Some(method),
            Self::Response { .. } => None,
        }
    }
}

/// An id in the one form in which ids are compared.
fn id_text(id: &RawJson) -> String {
    id.decode::<String>().map_or_else(|_| id.as_str().trim().to_owned(), |text| encoded(&text))
}

/// The messages of a message or a batch.
pub(crate) fn messages(frame: &RawJson) -> Vec<RawJson> {
    if frame.as_str().trim_start().starts_with('[') {
        frame.elements().collect()
    } else {
        vec![frame.clone()]
    }
}

/// A message as a tree. A message that a tree cannot hold, for example because of a number, becomes a text.
pub(crate) fn tree(message: &RawJson) -> Value {
    read(message.as_str()).unwrap_or_else(|_| Value::from(message.as_str()))
}

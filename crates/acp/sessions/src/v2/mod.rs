//! The draft of version 2 of the protocol: its methods, and the conversion of values, which the rest of the crate has as
//! types of version 1.

mod agent;
pub(crate) mod client;
mod content;
mod diff;
pub(crate) mod replay;
mod settings;
mod update;
pub(crate) mod workspace;

pub(crate) use self::agent::V2Agent;

use agentwire_jsonrpc::RawJson;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Converts a value between types of the two versions that have one form on the wire.
fn transcode<A: Serialize, B: DeserializeOwned>(value: &A) -> Result<B, serde_json::Error> {
    RawJson::encode(value)?.decode()
}

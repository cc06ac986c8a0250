//! The types in both directions, against JSON as peers of each revision write it.

mod content;
mod downgrading;
mod leniency;
mod methods;
mod modern;
mod requests;
mod round_trips;
mod tasks;

use agentwire_mcp_schema::Revision;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

const A: Revision = Revision::V2024_11_05;
const B: Revision = Revision::V2025_03_26;
const C: Revision = Revision::V2025_06_18;
const D: Revision = Revision::V2025_11_25;
const E: Revision = Revision::V2026_07_28;

/// Reads text the way messages are read: from text, not from a tree.
fn read<T: DeserializeOwned>(json: &Value) -> T {
    let text = json.to_string();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn write<T: Serialize>(value: &T) -> Value {
    serde_json::from_str(&serde_json::to_string(value).unwrap()).unwrap()
}

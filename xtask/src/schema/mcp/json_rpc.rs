//! Ids and errors of the schema crate beside those of the JSON-RPC crate.

use std::collections::BTreeSet;

use agentwire_jsonrpc::{ErrorObject, RequestId};
use anyhow::{Context as _, Result, ensure};
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value};

use crate::schema::shape::Shape;

/// Checks that ids and errors of the schema crate have the schemas of the JSON-RPC types, which are on the wire.
pub(super) fn agrees(types: &Map<String, Value>) -> Result<()> {
    let mut generator = SchemaGenerator::default();
    let error = ErrorObject::json_schema(&mut generator).to_value();
    ensure!(Shape::read(&types["Error"]) == Shape::read(&error), "an error is {error}");
    let id = RequestId::json_schema(&mut generator).to_value();
    // MCP does not answer requests without a readable id.
    let kinds: BTreeSet<String> = id["anyOf"]
        .as_array()
        .context("an id is of one of several types")?
        .iter()
        .map(|kind| kind["type"].to_string())
        .filter(|kind| kind != "\"null\"")
        .collect();
    for name in ["RequestId", "ProgressToken"] {
        let types_of_name: BTreeSet<String> =
            types[name]["type"].as_array().into_iter().flatten().map(Value::to_string).collect();
        ensure!(types_of_name == kinds, "{name} is {types_of_name:?}, and ids are {kinds:?}");
    }
    Ok(())
}

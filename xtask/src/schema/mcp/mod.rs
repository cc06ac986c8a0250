//! MCP's documents. The types cover all revisions at once; each document has the part of one revision.
//!
//! The tables of the schema crate name the members, variants and methods of each revision. [`project`] restricts the types
//! to a revision. Definitions without a type are made from the method table ([`messages`]) or are written here ([`shared`],
//! [`errors`]).

mod describe;
mod errors;
mod format;
mod json_rpc;
mod messages;
mod meta;
mod project;
mod shapes;
mod shared;

use agentwire_mcp_schema::Revision;
use agentwire_mcp_schema::schema::TASK_EXTENSION;
use anyhow::Result;
use serde_json::{Map, Value, json};

use self::format::Format;
use self::project::Projection;
use crate::schema::document::{ProtocolSchema, references};

/// The document and the method table of each revision, oldest first.
pub(super) fn schemas() -> Result<Vec<ProtocolSchema>> {
    Revision::ALL.iter().map(|revision| publish(*revision)).chain([tasks()]).collect()
}

/// The document of the tasks extension, with the definitions of its revision that it uses.
fn tasks() -> Result<ProtocolSchema> {
    let revision = Revision::V2026_07_28;
    let projection = Projection::with(revision, TASK_EXTENSION)?;
    let mut all = definitions(&projection)?;
    describe::fill_in(&mut all)?;
    let mut definitions = Map::new();
    let version = format!("{revision}-tasks");
    let meta = meta::extension_table(&projection, &version, "io.modelcontextprotocol/tasks");
    let mut names: Vec<String> = TASK_EXTENSION.iter().map(|row| row.name.to_owned()).collect();
    let results =
        meta["methods"].as_array().into_iter().flatten().filter_map(|method| method["result"].as_str());
    names.extend(results.map(str::to_owned));
    while let Some(name) = names.pop() {
        if let Some(definition) = all.remove(&name) {
            names.extend(references(&definition).into_iter().map(str::to_owned));
            definitions.insert(name, definition);
        }
    }
    let Format { schema, container } = Format::of(revision);
    Ok(ProtocolSchema {
        protocol: "mcp",
        version,
        document: json!({ "$schema": schema, container: Value::Object(definitions) }),
        meta,
    })
}

fn publish(revision: Revision) -> Result<ProtocolSchema> {
    let projection = Projection::new(revision)?;
    let mut definitions = definitions(&projection)?;
    describe::fill_in(&mut definitions)?;
    let Format { schema, container } = Format::of(revision);
    Ok(ProtocolSchema {
        protocol: "mcp",
        version: revision.to_string(),
        document: json!({ "$schema": schema, container: Value::Object(definitions) }),
        meta: meta::table(&projection),
    })
}

fn definitions(projection: &Projection) -> Result<Map<String, Value>> {
    let mut definitions = projection.definitions()?;
    definitions.extend(shared::definitions(projection)?);
    definitions.extend(messages::definitions(projection)?);
    definitions.extend(errors::definitions(projection)?);
    Ok(definitions)
}

//! MCP's documents: the types cover all revisions at once, and each document is what one revision has of
//! them.
//!
//! The types say their shape, and the tables of the schema crate say what each revision has of it: names,
//! members, variants, methods. [`project`] cuts the types to a revision. What has no type is made from the
//! method table ([`messages`]) or written down here ([`shared`], [`errors`]).

mod describe;
mod errors;
mod messages;
mod meta;
mod project;
mod shapes;
mod shared;

use agentwire_mcp_schema::Revision;
use agentwire_mcp_schema::schema::TASK_EXTENSION;
use anyhow::Result;
use serde_json::{Map, Value, json};

use self::project::Projection;
use super::Published;

/// The document and the method table of each revision, oldest first.
pub(super) fn published() -> Result<Vec<Published>> {
    Revision::ALL.iter().map(|revision| publish(*revision)).chain([tasks()]).collect()
}

/// The document of the tasks extension, which is whole: what it uses of its revision is in it too.
fn tasks() -> Result<Published> {
    let revision = Revision::V2026_07_28;
    let projection = Projection::with(revision, TASK_EXTENSION)?;
    let mut all = definitions(&projection)?;
    describe::fill_in(&mut all);
    let mut definitions = Map::new();
    let version = format!("{revision}-tasks");
    let meta = meta::extension_table(&projection, &version, "io.modelcontextprotocol/tasks");
    let mut names: Vec<String> = TASK_EXTENSION.iter().map(|row| row.name.to_owned()).collect();
    let results =
        meta["methods"].as_array().into_iter().flatten().filter_map(|method| method["result"].as_str());
    names.extend(results.map(str::to_owned));
    while let Some(name) = names.pop() {
        if let Some(definition) = all.remove(&name) {
            references(&definition, &mut names);
            definitions.insert(name, definition);
        }
    }
    let Dialect { schema, container } = dialect(revision);
    Ok(Published {
        protocol: "mcp",
        version,
        document: json!({ "$schema": schema, container: Value::Object(definitions) }),
        meta,
    })
}

fn references(schema: &Value, names: &mut Vec<String>) {
    match schema {
        Value::Object(keywords) => {
            let target = keywords.get("$ref").and_then(Value::as_str);
            names.extend(target.and_then(|target| target.rsplit('/').next()).map(str::to_owned));
            keywords.values().for_each(|value| references(value, names));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, names)),
        _ => {}
    }
}

fn publish(revision: Revision) -> Result<Published> {
    let projection = Projection::new(revision)?;
    let mut definitions = definitions(&projection)?;
    describe::fill_in(&mut definitions);
    let Dialect { schema, container } = dialect(revision);
    Ok(Published {
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

struct Dialect {
    schema: &'static str,
    container: &'static str,
}

/// How a revision writes its schema down.
fn dialect(revision: Revision) -> Dialect {
    if revision < Revision::V2025_11_25 {
        Dialect { schema: "http://json-schema.org/draft-07/schema#", container: "definitions" }
    } else {
        Dialect { schema: "https://json-schema.org/draft/2020-12/schema", container: "$defs" }
    }
}

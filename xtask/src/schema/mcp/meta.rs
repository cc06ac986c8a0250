//! The method table of a revision, as data.

use agentwire_mcp_schema::{Direction, MethodInfo, MethodKind, Side};
use serde_json::{Value, json};

use super::project::Projection;

/// The methods of the revision, including those of extensions.
pub(super) fn table(projection: &Projection) -> Value {
    let methods: Vec<Value> =
        MethodInfo::all_in(projection.revision).map(|method| row(projection, method)).collect();
    json!({ "protocol": "mcp", "version": projection.revision.as_str(), "methods": methods })
}

/// The methods of an extension.
pub(super) fn extension_table(projection: &Projection, version: &str, extension: &str) -> Value {
    let methods = MethodInfo::all_in(projection.revision);
    let methods: Vec<Value> = methods
        .filter(|method| method.extension() == Some(extension))
        .map(|method| {
            let mut row = row(projection, method);
            names(projection, method, &mut row);
            row.as_object_mut().and_then(|row| row.remove("extension"));
            row
        })
        .collect();
    json!({ "protocol": "mcp", "version": version, "extension": extension, "methods": methods })
}

fn names(projection: &Projection, method: &MethodInfo, row: &mut Value) {
    let name = |type_name| projection.published_name(type_name).map(|row| row.name);
    if let Some(params) = name(method.params) {
        row["params"] = params.into();
    }
    if let Some(result) = method.result.and_then(name) {
        row["result"] = result.into();
    }
}

fn row(projection: &Projection, method: &MethodInfo) -> Value {
    let mut row = json!({
        "method": method.name,
        "kind": match method.kind {
            MethodKind::Request => "request",
            _ => "notification",
        },
        "from": match method.direction {
            Direction::ToServer => "client",
            Direction::ToClient => "server",
            _ => "both",
        },
    });
    if let Some(name) = method.extension() {
        row["extension"] = name.into();
    } else {
        names(projection, method, &mut row);
    }
    if let Some(gate) = method.gate.as_ref().filter(|gate| gate.since <= projection.revision) {
        let side = match gate.side {
            Side::Client => "client",
            Side::Server => "server",
            _ => "either",
        };
        row["gate"] = format!("{side} {}", gate.capability).into();
    }
    row
}

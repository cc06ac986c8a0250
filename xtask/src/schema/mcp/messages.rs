//! The messages: envelopes of JSON-RPC, a definition for each method, and the unions of each side's messages.

use agentwire_mcp_schema::Revision::{V2025_11_25, V2026_07_28};
use agentwire_mcp_schema::schema::Role;
use agentwire_mcp_schema::{InputRequest, MethodInfo, MethodKind, Side};
use anyhow::{Context as _, Result};
use serde_json::{Map, Value, json};

use super::project::Projection;
use super::shared::{base_params, has_envelopes, union};

type Definitions = Map<String, Value>;

/// The definitions of the revision.
pub(super) fn definitions(projection: &Projection) -> Result<Definitions> {
    let mut definitions = envelopes(projection)?;
    bases(projection, &mut definitions);
    for method in methods(projection) {
        definitions.insert(method.params.to_owned(), message(projection, method)?);
    }
    if projection.revision >= V2026_07_28 {
        embedded(projection, &mut definitions)?;
        responses(projection, &mut definitions)?;
    }
    sides(projection, &mut definitions)?;
    Ok(definitions)
}

/// The methods of the revision, without extensions.
pub(super) fn methods(projection: &Projection) -> impl Iterator<Item = &'static MethodInfo> {
    MethodInfo::all_in(projection.revision).filter(|method| method.extension().is_none())
}

/// A request or notification with its parameters.
fn message(projection: &Projection, method: &MethodInfo) -> Result<Value> {
    let params = projection.params(method)?;
    let is_request = method.kind == MethodKind::Request;
    let needs_params = needs_params(projection, method, &params)?;
    Ok(envelope(
        projection,
        is_request,
        json!({ "type": "string", "const": method.name }),
        params,
        needs_params,
    ))
}

/// Whether `params` is required: it has a definition of its own, or a required member.
fn needs_params(projection: &Projection, method: &MethodInfo, params: &Value) -> Result<bool> {
    match projection.published_name(method.params) {
        Some(row) if row.name.strip_suffix("Params") == Some(method.params) => Ok(true),
        Some(row) => Ok(projection.of_type(method.params, row.role)?.get("required").is_some()),
        None => Ok(params.get("required").is_some()),
    }
}

fn envelope(
    projection: &Projection,
    is_request: bool,
    method: Value,
    params: Value,
    needs_params: bool,
) -> Value {
    let mut properties = json!({ "method": method, "params": params });
    let mut required = vec!["method"];
    if needs_params {
        required.push("params");
    }
    if has_envelopes(projection.revision) {
        properties["jsonrpc"] = version();
        required.push("jsonrpc");
        if is_request {
            properties["id"] = projection.to("RequestId");
            required.push("id");
        }
    }
    object(properties, &required)
}

fn version() -> Value {
    json!({ "type": "string", "const": "2.0" })
}

/// The envelopes of JSON-RPC.
fn envelopes(projection: &Projection) -> Result<Definitions> {
    let id = projection.to("RequestId");
    let method = json!({ "type": "string" });
    let (request_params, params) = (base_params(projection, true), base_params(projection, false));
    let request = json!({ "jsonrpc": version(), "id": id, "method": method, "params": request_params });
    let notification = json!({ "jsonrpc": version(), "method": method, "params": params });
    let result = json!({ "jsonrpc": version(), "id": id, "result": projection.to("Result") });
    let mut definitions = Map::from_iter([
        ("JSONRPCRequest".to_owned(), object(request, &["jsonrpc", "id", "method"])),
        ("JSONRPCNotification".to_owned(), object(notification, &["jsonrpc", "method"])),
    ]);
    let result = object(result, &["jsonrpc", "id", "result"]);
    if projection.revision >= V2025_11_25 {
        answers(projection, result, &mut definitions);
    } else {
        early_answers(projection, result, &mut definitions)?;
    }
    Ok(definitions)
}

/// Responses and messages of revisions in which a response is a result or an error.
fn answers(projection: &Projection, result: Value, definitions: &mut Definitions) {
    let id = projection.to("RequestId");
    let error = json!({ "jsonrpc": version(), "id": id, "error": projection.to("Error") });
    let names = ["JSONRPCRequest", "JSONRPCNotification", "JSONRPCResultResponse", "JSONRPCErrorResponse"];
    definitions.extend([
        ("JSONRPCResultResponse".to_owned(), result),
        ("JSONRPCErrorResponse".to_owned(), object(error, &["jsonrpc", "error"])),
        ("JSONRPCResponse".to_owned(), union(projection, &names[2..])),
        ("JSONRPCMessage".to_owned(), union(projection, &names)),
    ]);
}

/// Responses and messages of revisions in which an error is not a response, and messages may be in batches.
fn early_answers(projection: &Projection, result: Value, definitions: &mut Definitions) -> Result<()> {
    let error = projection.of_type("Error", Role::Plain)?;
    let error = json!({ "jsonrpc": version(), "id": projection.to("RequestId"), "error": error });
    let names = ["JSONRPCRequest", "JSONRPCNotification", "JSONRPCResponse", "JSONRPCError"];
    let mut messages: Vec<Value> = names.iter().map(|name| projection.to(name)).collect();
    if projection.revision.has_batches() {
        let batch = |names: &[&str]| json!({ "type": "array", "items": union(projection, names) });
        let batches = [batch(&names[..2]), batch(&names[2..])];
        messages.extend(batches.clone());
        let names = ["JSONRPCBatchRequest", "JSONRPCBatchResponse"].map(str::to_owned);
        definitions.extend(names.into_iter().zip(batches));
    }
    definitions.extend([
        ("JSONRPCResponse".to_owned(), result),
        ("JSONRPCError".to_owned(), object(error, &["jsonrpc", "id", "error"])),
        ("JSONRPCMessage".to_owned(), json!({ "anyOf": messages })),
    ]);
    Ok(())
}

fn object(properties: Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required })
}

/// The bases of all requests, all notifications and all requests for pages.
fn bases(projection: &Projection, definitions: &mut Definitions) {
    let method = json!({ "type": "string" });
    for (name, is_request) in [("Request", true), ("Notification", false)] {
        let properties = json!({ "method": method, "params": base_params(projection, is_request) });
        definitions.insert(name.to_owned(), object(properties, &["method"]));
    }
    let params = if projection.revision >= V2025_11_25 {
        projection.to("PaginatedRequestParams")
    } else {
        json!({ "type": "object", "properties": { "cursor": { "type": "string" } } })
    };
    let needs_params = projection.revision >= V2026_07_28;
    definitions
        .insert("PaginatedRequest".to_owned(), envelope(projection, true, method, params, needs_params));
}

/// The requests within a result, without an envelope.
fn embedded(projection: &Projection, definitions: &mut Definitions) -> Result<()> {
    let union = projection.of_type("InputRequest", Role::Plain)?;
    let requests = union["anyOf"].as_array().context("`InputRequest` is a union")?;
    let mut names = Vec::new();
    for request in requests {
        let method = request["properties"]["method"]["const"].as_str().context("a request has a method")?;
        let known = MethodInfo::find(method).filter(|_| InputRequest::METHODS.contains(&method));
        let name = known.with_context(|| format!("{method} is in no table"))?.params;
        definitions.insert(name.to_owned(), request.clone());
        names.push(name);
    }
    definitions.insert("InputRequest".to_owned(), super::shared::union(projection, &names));
    Ok(())
}

/// The response to each request of a client. Requests with `inputResponses` may get `InputRequiredResult`.
fn responses(projection: &Projection, definitions: &mut Definitions) -> Result<()> {
    for method in requests(projection, Side::Client) {
        let Some(name) = method.result.filter(|name| *name != "EmptyResult") else { continue };
        let params = projection.of_type(method.params, Role::Params)?;
        let result = if params["properties"].get("inputResponses").is_some() {
            union(projection, &["InputRequiredResult", name])
        } else {
            projection.to(name)
        };
        let properties = json!({ "jsonrpc": version(), "id": projection.to("RequestId"), "result": result });
        definitions.insert(format!("{name}Response"), object(properties, &["jsonrpc", "id", "result"]));
    }
    Ok(())
}

fn requests(projection: &Projection, side: Side) -> impl Iterator<Item = &'static MethodInfo> {
    methods(projection).filter(move |method| method.kind == MethodKind::Request && method.is_sent_by(side))
}

/// The requests, notifications and results of each side.
fn sides(projection: &Projection, definitions: &mut Definitions) -> Result<()> {
    for (side, other, word) in
        [(Side::Client, Side::Server, "Client"), (Side::Server, Side::Client, "Server")]
    {
        let sent: Vec<&str> = requests(projection, side).map(|method| method.params).collect();
        if !sent.is_empty() {
            definitions.insert(format!("{word}Request"), union(projection, &sent));
        }
        let notifications = methods(projection)
            .filter(|method| method.kind == MethodKind::Notification && method.is_sent_by(side))
            .map(|method| method.params);
        let notifications: Vec<&str> = notifications.collect();
        definitions.insert(format!("{word}Notification"), union(projection, &notifications));
        let mut results = vec!["Result"];
        let answers = requests(projection, other).filter_map(|method| method.result);
        results.extend(answers.filter(|name| *name != "EmptyResult"));
        if side == Side::Server && projection.revision >= V2026_07_28 {
            results.push("InputRequiredResult");
        }
        definitions.insert(format!("{word}Result"), union(projection, &results));
    }
    Ok(())
}

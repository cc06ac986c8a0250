//! The envelopes of JSON-RPC around ACP's definitions, made from the method table.

use agentwire_acp_schema::v1::error_code::ErrorInfo;
use agentwire_acp_schema::v1::{Direction, MethodInfo, MethodKind};
use agentwire_acp_schema::{v1, v2};
use agentwire_jsonrpc::{ErrorObject, RawJson, RequestId};
use anyhow::{Context as _, Result, ensure};
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

/// A version's methods, sorted for the envelopes.
pub(super) struct Methods {
    all: Vec<MethodInfo>,
}

impl Methods {
    pub(super) fn new(stable: &[MethodInfo], draft: &[MethodInfo]) -> Self {
        Self { all: [stable, draft].concat() }
    }

    /// The method table, as data.
    pub(super) fn rows(&self) -> Vec<Value> {
        self.all.iter().map(row).collect()
    }

    /// Adds `x-method` and `x-side` to each params and result: its method, and the side that receives it.
    pub(super) fn stamp(&self, definitions: &mut Map<String, Value>) -> Result<()> {
        for method in &self.all {
            for name in [Some(method.params), method.result].into_iter().flatten() {
                let definition = definitions.get_mut(name).and_then(Value::as_object_mut);
                let definition =
                    definition.with_context(|| format!("{} has no definition {name}", method.name))?;
                definition.insert("x-method".to_owned(), method.name.into());
                definition.insert("x-side".to_owned(), side(method).into());
            }
        }
        Ok(())
    }

    /// The methods of a kind that this side receives.
    fn of(&self, side_of: &str, kind: MethodKind) -> impl Iterator<Item = &MethodInfo> {
        self.all.iter().filter(move |method| method.kind == kind && side(method) == side_of)
    }

    fn has_proxies(&self) -> bool {
        self.all.iter().any(|method| side(method) == "proxy")
    }
}

/// The side that receives a method, as the published schema names it.
fn side(method: &MethodInfo) -> &'static str {
    match method.direction {
        _ if method.name.starts_with("proxy/") => "proxy",
        Direction::ClientToAgent => "agent",
        Direction::AgentToClient => "client",
        Direction::Both => "protocol",
    }
}

fn row(method: &MethodInfo) -> Value {
    let from = match side(method) {
        "agent" => "client",
        "client" => "agent",
        "proxy" => "proxy",
        _ => "both",
    };
    let kind = match method.kind {
        MethodKind::Request => "request",
        MethodKind::Notification => "notification",
    };
    let mut row = json!({ "method": method.name, "kind": kind, "from": from, "params": method.params });
    for (key, value) in [("result", method.result), ("gate", method.gate)] {
        if let Some(value) = value {
            row[key] = value.into();
        }
    }
    row
}

/// Adds ids, errors and the envelopes of requests, responses and notifications.
pub(super) fn add(definitions: &mut Map<String, Value>, methods: &Methods, version: u32) -> Result<()> {
    let anything = of_type::<RawJson>();
    ensure!(anything == json!({}), "what extensions send is anything, and not {anything}");
    let id = of_type::<RequestId>();
    let error_code = error_code(version, v1::error_code::CODES, v2::error_code::CODES)?;
    let error = error(of_type::<ErrorObject>(), version)?;
    let mut define = |name: &str, schema: Value| definitions.insert(name.to_owned(), schema);
    define("RequestId", if version == 1 { id.clone() } else { without_null(&id)? });
    define("ErrorCode", error_code);
    define("Error", error);
    for (name, description) in [
        ("ExtRequest", "The params of a request whose name begins with `_`: anything."),
        ("ExtResponse", "The result of a request whose name begins with `_`: anything."),
        ("ExtNotification", "The params of a notification whose name begins with `_`: anything."),
    ] {
        define(name, json!({ "description": description }));
    }
    for (sender, receiver) in [("Agent", "client"), ("Client", "agent")] {
        let answered = sender.to_lowercase();
        let who = if sender == "Agent" { "an agent" } else { "a client" };
        let requests = methods.of(receiver, MethodKind::Request).map(|method| method.params);
        let requests = request(requests.chain(["ExtRequest"]));
        define(&format!("{sender}Request"), described(requests, format!("A request from {who}.")));
        let notifications = methods.of(receiver, MethodKind::Notification).map(|method| method.params);
        let notifications = notification(notifications.chain(["ExtNotification"]));
        define(
            &format!("{sender}Notification"),
            described(notifications, format!("A notification from {who}.")),
        );
        let results = methods.of(&answered, MethodKind::Request).filter_map(|method| method.result);
        let responses = response(results.chain(["ExtResponse"]), &id, version);
        define(&format!("{sender}Response"), described(responses, format!("An answer from {who}.")));
    }
    if methods.has_proxies() {
        let requests = || methods.of("proxy", MethodKind::Request);
        let of_chains = |kind: &str| format!("{kind} in a chain of proxies.");
        let all = request(requests().map(|method| method.params));
        define("ProxyRequest", described(all, of_chains("A request")));
        let all = response(requests().filter_map(|method| method.result), &id, version);
        define("ProxyResponse", described(all, of_chains("An answer")));
        let all = notification(methods.of("proxy", MethodKind::Notification).map(|method| method.params));
        define("ProxyNotification", described(all, of_chains("A notification")));
    }
    Ok(())
}

fn described(mut schema: Value, description: String) -> Value {
    schema["description"] = description.into();
    schema
}

/// The document without its definitions: a message of either side, or one that both may send.
pub(super) fn document(methods: &Methods) -> Value {
    let mut kinds = vec![side_message("Agent"), side_message("Client"), protocol_message(methods)];
    if methods.has_proxies() {
        kinds.push(side_message("Proxy"));
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Agent Client Protocol",
        "anyOf": kinds,
    })
}

fn version_member() -> Value {
    json!({ "description": "The version of JSON-RPC.", "type": "string", "const": "2.0" })
}

fn side_message(sender: &str) -> Value {
    let kinds = ["Request", "Response", "Notification"]
        .map(|kind| json!({ "title": kind, "$ref": format!("#/$defs/{sender}{kind}") }));
    json!({
        "title": sender,
        "type": "object",
        "properties": { "jsonrpc": version_member() },
        "required": ["jsonrpc"],
        "anyOf": kinds,
    })
}

fn protocol_message(methods: &Methods) -> Value {
    let params = methods.of("protocol", MethodKind::Notification).map(|method| method.params);
    let mut message = notification(params);
    message["title"] = "ProtocolLevel".into();
    message["properties"]["jsonrpc"] = version_member();
    message["required"] = json!(["jsonrpc", "method"]);
    message
}

fn request<'a>(params: impl Iterator<Item = &'a str>) -> Value {
    let mut request = notification(params);
    request["properties"]["id"] =
        json!({ "description": "Names the request in its answer.", "$ref": "#/$defs/RequestId" });
    request["required"] = json!(["id", "method"]);
    request
}

fn notification<'a>(params: impl Iterator<Item = &'a str>) -> Value {
    let mut params = references(params);
    params.push(json!({ "type": "null" }));
    json!({
        "type": "object",
        "properties": {
            "method": { "description": "The method's name.", "type": "string" },
            "params": { "description": "The params of that method.", "anyOf": params },
        },
        "required": ["method"],
    })
}

fn response<'a>(results: impl Iterator<Item = &'a str>, any_id: &Value, version: u32) -> Value {
    let id = json!({ "description": "The id of the request.", "$ref": "#/$defs/RequestId" });
    // Version 2 removes `null` from ids, but keeps it for an error about a request without a readable id.
    let error_id = if version == 1 { id.clone() } else { any_id.clone() };
    json!({ "anyOf": [
        {
            "title": "Result",
            "type": "object",
            "properties": {
                "id": id,
                "result": { "description": "The result of that method.", "anyOf": references(results) },
            },
            "required": ["id", "result"],
        },
        {
            "title": "Error",
            "type": "object",
            "properties": { "id": error_id, "error": { "$ref": "#/$defs/Error" } },
            "required": ["id", "error"],
        },
    ] })
}

fn references<'a>(names: impl Iterator<Item = &'a str>) -> Vec<Value> {
    names.map(|name| json!({ "title": name, "$ref": format!("#/$defs/{name}") })).collect()
}

/// The schema of a type.
fn of_type<T: JsonSchema>() -> Value {
    T::json_schema(&mut SchemaGenerator::default()).to_value()
}

/// The same without `null`, which version 2 removes from ids.
fn without_null(id: &Value) -> Result<Value> {
    let mut id = id.clone();
    let kinds = id["anyOf"].as_array_mut().context("an id is of one of several types")?;
    let null = kinds.iter().position(|kind| kind["type"] == "null").context("an id may be null")?;
    kinds.remove(null);
    Ok(id)
}

/// The codes of a version. Version 2 has those of version 1 too.
fn error_code(version: u32, first: &[ErrorInfo], second: &[ErrorInfo]) -> Result<Value> {
    let known = if version == 1 { first.to_vec() } else { [first, second].concat() };
    let mut codes = Vec::new();
    for info in known {
        let code =
            i32::try_from(info.code).with_context(|| format!("{} is published in 32 bits", info.name))?;
        let title = title(info.name);
        codes.push(json!({ "title": title, "description": info.about, "type": "integer", "format": "int32", "const": code }));
    }
    codes.push(
        json!({ "title": "Other", "description": "Any other code.", "type": "integer", "format": "int32" }),
    );
    Ok(json!({ "description": "What went wrong, as a number.", "anyOf": codes }))
}

/// `PARSE_ERROR` as `Parse error`.
fn title(constant: &str) -> String {
    let (first, rest) = constant.split_at(1);
    format!("{first}{}", rest.to_lowercase().replace('_', " "))
}

/// JSON-RPC's error with named codes, and since version 2 with data of known shapes.
fn error(mut error: Value, version: u32) -> Result<Value> {
    let members = &mut error["properties"];
    let code = bare(&members["code"]);
    ensure!(code == json!({ "type": "integer" }), "a code is an integer, and not {code}");
    members["code"] = json!({ "description": members["code"]["description"], "$ref": "#/$defs/ErrorCode" });
    let data = bare(&members["data"]);
    ensure!(data == json!({}), "the data of an error is anything, and not {data}");
    members["data"]["x-deserialize-default-on-error"] = true.into();
    if version > 1 {
        members["data"]["anyOf"] = json!([{ "$ref": "#/$defs/ErrorData" }, { "type": "null" }]);
    }
    Ok(error)
}

/// A member's schema without its description.
fn bare(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Some(keywords) = schema.as_object_mut() {
        keywords.remove("description");
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schemas_of_json_rpc_types_are_kept() {
        let base = of_type::<ErrorObject>();
        let mut wrong = base.clone();
        wrong["properties"]["code"]["type"] = "string".into();
        assert!(error(wrong, 1).is_err());
        let mut wrong = base.clone();
        wrong["properties"]["data"]["type"] = "object".into();
        assert!(error(wrong, 2).is_err());
        let mut wrong = base.clone();
        wrong["properties"]["message"]["type"] = "integer".into();
        assert_eq!(error(wrong, 1).unwrap()["properties"]["message"]["type"], "integer");
        let mut wrong = base;
        wrong["required"] = json!(["code"]);
        assert_eq!(error(wrong, 1).unwrap()["required"], json!(["code"]));
        assert!(without_null(&json!({ "type": "string" })).is_err());
        assert!(without_null(&json!({ "anyOf": [{ "type": "string" }] })).is_err());
    }

    #[test]
    fn codes_are_those_of_the_tables() {
        let first = &v1::error_code::CODES[..1];
        let codes = error_code(2, first, v2::error_code::CODES).unwrap();
        let known: Vec<&Value> =
            codes["anyOf"].as_array().unwrap().iter().map(|code| &code["const"]).collect();
        assert_eq!(known, [&json!(-32700), &json!(-32022), &Value::Null]);
        assert_eq!(
            error_code(1, first, v2::error_code::CODES).unwrap()["anyOf"].as_array().unwrap().len(),
            2
        );
    }
}

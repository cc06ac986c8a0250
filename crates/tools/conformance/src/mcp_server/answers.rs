//! How the suite answers what a server asks its client.

use serde_json::{Map, Value, json};

/// The answer of a client that can do everything and agrees to everything.
pub(super) fn answer(request: &Value) -> Option<Result<Value, Value>> {
    let params = &request["params"];
    Some(match request["method"].as_str().unwrap_or_default() {
        "ping" => Ok(json!({})),
        "roots/list" => Ok(roots()),
        "sampling/createMessage" => Ok(sample()),
        "elicitation/create" => Ok(elicited(params)),
        method => Err(json!({"code": -32601, "message": format!("method not found: {method}")})),
    })
}

/// The client's folders.
pub(super) fn roots() -> Value {
    json!({"roots": [{"uri": "file:///conformance", "name": "conformance"}]})
}

/// The text of the client's model.
pub(super) fn sample() -> Value {
    json!({
        "role": "assistant", "model": "conformance", "stopReason": "endTurn",
        "content": {"type": "text", "text": "Paris"},
    })
}

/// A form that is filled in, or a page that is visited.
pub(super) fn elicited(params: &Value) -> Value {
    if params["mode"] == "url" {
        return json!({"action": "accept"});
    }
    let properties = params.pointer("/requestedSchema/properties").and_then(Value::as_object);
    let filled: Map<String, Value> =
        properties.into_iter().flatten().map(|(name, schema)| (name.clone(), filled(schema))).collect();
    json!({"action": "accept", "content": filled})
}

fn filled(schema: &Value) -> Value {
    if let Some(default) = schema.get("default") {
        return default.clone();
    }
    let choices = ["/enum/0", "/oneOf/0/const", "/anyOf/0/const"];
    if let Some(choice) = choices.iter().find_map(|pointer| schema.pointer(pointer)) {
        return choice.clone();
    }
    match schema["type"].as_str() {
        Some("boolean") => json!(true),
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or_else(|| json!(1)),
        Some("array") => {
            let choice = schema.pointer("/items/enum/0").or_else(|| schema.pointer("/items/anyOf/0/const"));
            json!([choice])
        }
        _ => match schema["format"].as_str() {
            Some("email") => json!("person@example.com"),
            Some("uri") => json!("https://example.com/"),
            Some("date") => json!("2026-01-01"),
            Some("date-time") => json!("2026-01-01T00:00:00Z"),
            _ => json!("conformance"),
        },
    }
}

use std::collections::HashMap;

use agentwire_jsonrpc::{Members, RawJson, read};
use http::{HeaderMap, HeaderName};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::client::route;
use crate::header;

/// The member of a property's schema that asks for its value to be repeated in a header.
const MARK: &str = "x-mcp-header";

/// The most tools that are remembered. Calls of others go without these headers, which a server may refuse.
const MOST_TOOLS: usize = 4096;

/// The most headers of one tool.
const MOST_HEADERS: usize = 64;

/// The largest integer that every reader of JSON reads alike: 2^53 - 1.
const MOST_EXACT: u64 = (1 << 53) - 1;

/// Which arguments of which tools are repeated in headers (since 2026-07-28), learnt from the lists of tools that
/// pass by; see <https://modelcontextprotocol.io/specification/2026-07-28/server/tools>.
#[derive(Debug, Default)]
pub(crate) struct Mirror {
    tools: HashMap<String, Vec<Mirrored>>,
}

/// An argument that is repeated: the header, and the names that lead to the argument.
#[derive(Debug)]
struct Mirrored {
    header: HeaderName,
    path: Vec<String>,
}

#[derive(Deserialize)]
struct Tools {
    tools: Vec<RawJson>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tool {
    name: String,
    input_schema: Map<String, Value>,
}

#[derive(Deserialize)]
struct Call {
    name: String,
    arguments: RawJson,
}

impl Mirror {
    /// Takes the result of `tools/list`. What it says of a tool replaces what was known.
    pub(crate) fn learn(&mut self, result: &RawJson) {
        if self.tools.is_empty() && !result.as_str().contains(MARK) {
            return;
        }
        let Ok(list) = result.decode::<Tools>() else {
            return;
        };
        // One that cannot be read is offered to nobody.
        for tool in list.tools.iter().filter_map(|tool| tool.decode::<Tool>().ok()) {
            let mut mirrored = Vec::new();
            // A tool whose marks are wrong must not be offered to anyone, so it needs no headers.
            if collect(&tool.input_schema, &mut Vec::new(), &mut mirrored).is_none() || mirrored.is_empty() {
                self.tools.remove(&tool.name);
            } else if self.tools.len() < MOST_TOOLS || self.tools.contains_key(&tool.name) {
                self.tools.insert(tool.name, mirrored);
            }
        }
    }

    /// Adds the headers of a call of a tool, whose params these are.
    pub(crate) fn add(&self, params: Option<&RawJson>, headers: &mut HeaderMap) {
        if self.tools.is_empty() {
            return;
        }
        let Some(call) = params.and_then(|params| params.decode::<Call>().ok()) else {
            return;
        };
        for mirrored in self.tools.get(&call.name).into_iter().flatten() {
            let member = |value, name: &String| {
                // Of several of one name the last counts, as it does wherever arguments are read.
                Members::of(value).filter(|(other, _)| other == name).last().map(|(_, value)| value)
            };
            let argument = mirrored.path.iter().try_fold(call.arguments.as_str(), member);
            let text = argument.and_then(|argument| text(&read(argument).ok()?));
            headers.extend(
                text.and_then(|text| route::value(&text)).map(|value| (mirrored.header.clone(), value)),
            );
        }
    }
}

/// Looks for marks on properties, and on the properties of those. None where one is wrong.
fn collect(schema: &Map<String, Value>, path: &mut Vec<String>, found: &mut Vec<Mirrored>) -> Option<()> {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        let Some(property) = property.as_object() else {
            continue;
        };
        path.push(name.clone());
        if let Some(mark) = property.get(MARK) {
            let primitive = matches!(
                property.get("type").and_then(Value::as_str),
                Some("string" | "integer" | "boolean")
            );
            let token = mark.as_str().filter(|token| primitive && header::is_token(token))?;
            let header = format!("{}{token}", header::PARAM_PREFIX).parse::<HeaderName>().ok()?;
            if found.len() == MOST_HEADERS || found.iter().any(|other| other.header == header) {
                return None;
            }
            found.push(Mirrored { header, path: path.clone() });
        }
        collect(property, path, found)?;
        path.pop();
    }
    Some(())
}

/// The value of an argument as text. None for null, for what is no primitive, and for integers that not every
/// reader reads alike.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Number(number) => {
            let whole = number.as_i64().or_else(|| {
                let float = number.as_f64().filter(|float| float.fract() == 0.0)?;
                // Within this range the conversion is exact.
                (float.abs() <= MOST_EXACT as f64).then_some(float as i64)
            })?;
            (whole.unsigned_abs() <= MOST_EXACT).then(|| whole.to_string())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn headers(schema: Value, arguments: Value) -> Vec<(String, String)> {
        let mut mirror = Mirror::default();
        mirror.learn(&RawJson::encode(&json!({"tools": [{"name": "t", "inputSchema": schema}]})).unwrap());
        let params = RawJson::encode(&json!({"name": "t", "arguments": arguments})).unwrap();
        let mut headers = HeaderMap::new();
        mirror.add(Some(&params), &mut headers);
        headers.iter().map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect()
    }

    fn property(kind: &str, mark: &str) -> Value {
        json!({"type": kind, "x-mcp-header": mark})
    }

    #[test]
    fn one_bad_tool_and_one_odd_argument_cost_nothing_else() {
        let mut mirror = Mirror::default();
        let schema = json!({"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "A"}}});
        let tools =
            json!({"tools": [null, {"name": "bad", "inputSchema": 5}, {"name": "t", "inputSchema": schema}]});
        mirror.learn(&RawJson::encode(&tools).unwrap());
        let params = r#"{"name":"t","arguments":{"b":1e999,"a":"no","a":"half \ud83d"}}"#;
        let mut headers = HeaderMap::new();
        mirror.add(Some(&RawJson::parse(params.into()).unwrap()), &mut headers);
        assert_eq!(headers["mcp-param-a"], route::value("half \u{fffd}").unwrap());
    }

    #[test]
    fn marked_arguments_become_headers() {
        let schema = json!({"type": "object", "properties": {
            "a": property("string", "A"), "b": property("integer", "B"), "c": property("boolean", "C"),
            "d": property("string", "D"), "e": property("string", "E"),
            "f": {"type": "object", "properties": {"g": property("string", "G")}},
            "h": {"type": "string"}, "i": property("integer", "I"), "j": property("integer", "J"),
        }});
        let arguments = json!({
            "a": "=?base64?x?=", "b": 42.0, "c": true, "d": null, "f": {"g": " 日 "}, "h": "no",
            "i": 9007199254740993_u64, "j": -7,
        });
        let mut found = headers(schema, arguments);
        found.sort();
        let wanted = [
            ("mcp-param-a", "=?base64?PT9iYXNlNjQ/eD89?="),
            ("mcp-param-b", "42"),
            ("mcp-param-c", "true"),
            ("mcp-param-g", "=?base64?IOaXpSA=?="),
            ("mcp-param-j", "-7"),
        ];
        assert_eq!(found, wanted.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }

    #[test]
    fn a_tool_with_a_wrong_mark_has_no_headers() {
        let right = property("string", "Right");
        for wrong in [
            property("string", ""),
            property("string", "a b"),
            property("string", "a\r\nb"),
            property("string", "RIGHT"),
            property("number", "N"),
            property("object", "O"),
            json!({"type": "string", "x-mcp-header": 1}),
        ] {
            let schema = json!({"type": "object", "properties": {"a": right, "b": wrong}});
            assert_eq!(headers(schema, json!({"a": "x", "b": "y"})), [], "{wrong}");
        }
    }

    #[test]
    fn a_later_list_replaces_what_was_known() {
        let mut mirror = Mirror::default();
        let list = |schema: Value| {
            RawJson::encode(&json!({"tools": [{"name": "t", "inputSchema": schema}]})).unwrap()
        };
        mirror.learn(&list(json!({"type": "object", "properties": {"a": property("string", "A")}})));
        assert_eq!(mirror.tools.len(), 1);
        mirror.learn(&list(json!({"type": "object"})));
        assert!(mirror.tools.is_empty());
    }
}

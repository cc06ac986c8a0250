//! Learns from `tools/list` results which tool arguments have an `x-mcp-header` mark. Adds their `Mcp-Param-` headers to
//! modern `tools/call` requests.

use std::collections::HashMap;

use agentwire_jsonrpc::RawJson;
use agentwire_mcp_wire::HeaderMark;
use http::{HeaderMap, HeaderName};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::client::exchange::route;

/// The most tools that are remembered. Calls of others go without these headers, which a server may refuse.
const MAX_TOOLS: usize = 4096;

/// The most headers of one tool.
const MAX_HEADERS: usize = 64;

/// The arguments of tools that are repeated in headers (since 2026-07-28), as read from results of `tools/list`; see
/// <https://modelcontextprotocol.io/specification/2026-07-28/server/tools>.
#[derive(Debug, Default)]
pub(crate) struct ParamHeaders {
    tools: HashMap<String, Vec<(HeaderName, HeaderMark)>>,
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

impl ParamHeaders {
    /// Takes the result of `tools/list`. A tool in it replaces the one of its name that was known.
    pub(crate) fn learn(&mut self, result: &RawJson) {
        if self.tools.is_empty() && !result.as_str().contains(HeaderMark::KEYWORD) {
            return;
        }
        let Ok(list) = result.decode::<Tools>() else {
            return;
        };
        // `mcp-client` leaves a tool that cannot be decoded out of its lists.
        for tool in list.tools.iter().filter_map(|tool| tool.decode::<Tool>().ok()) {
            match marks(&tool.input_schema) {
                None => drop(self.tools.remove(&tool.name)),
                Some(_) if self.tools.len() >= MAX_TOOLS && !self.tools.contains_key(&tool.name) => {}
                Some(marks) => drop(self.tools.insert(tool.name, marks)),
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
        for (header, mark) in self.tools.get(&call.name).into_iter().flatten() {
            let value = mark.value(call.arguments.as_str()).and_then(|text| route::value(&text));
            headers.extend(value.map(|value| (header.clone(), value)));
        }
    }
}

/// The marks of a tool's arguments. `None` without marks, with an invalid one, or with more than [`MAX_HEADERS`].
fn marks(schema: &Map<String, Value>) -> Option<Vec<(HeaderName, HeaderMark)>> {
    let marks = HeaderMark::all_in(schema).ok().filter(|marks| (1..=MAX_HEADERS).contains(&marks.len()))?;
    marks.into_iter().map(|mark| Some((mark.header().parse().ok()?, mark))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn headers(schema: Value, arguments: Value) -> Vec<(String, String)> {
        let mut param_headers = ParamHeaders::default();
        param_headers
            .learn(&RawJson::encode(&json!({"tools": [{"name": "t", "inputSchema": schema}]})).unwrap());
        let params = RawJson::encode(&json!({"name": "t", "arguments": arguments})).unwrap();
        let mut headers = HeaderMap::new();
        param_headers.add(Some(&params), &mut headers);
        headers.iter().map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect()
    }

    fn property(kind: &str, mark: &str) -> Value {
        json!({"type": kind, "x-mcp-header": mark})
    }

    #[test]
    fn one_bad_tool_and_one_odd_argument_cost_nothing_else() {
        let mut param_headers = ParamHeaders::default();
        let schema = json!({"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "A"}}});
        let tools =
            json!({"tools": [null, {"name": "bad", "inputSchema": 5}, {"name": "t", "inputSchema": schema}]});
        param_headers.learn(&RawJson::encode(&tools).unwrap());
        let params = r#"{"name":"t","arguments":{"b":1e999,"a":"no","a":"half \ud83d"}}"#;
        let mut headers = HeaderMap::new();
        param_headers.add(Some(&RawJson::parse(params.into()).unwrap()), &mut headers);
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
        let mut param_headers = ParamHeaders::default();
        let list = |schema: Value| {
            RawJson::encode(&json!({"tools": [{"name": "t", "inputSchema": schema}]})).unwrap()
        };
        param_headers.learn(&list(json!({"type": "object", "properties": {"a": property("string", "A")}})));
        assert_eq!(param_headers.tools.len(), 1);
        param_headers.learn(&list(json!({"type": "object"})));
        assert!(param_headers.tools.is_empty());
    }
}

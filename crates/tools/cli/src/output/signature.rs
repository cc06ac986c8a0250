//! Formats a tool as a function's signature: `slow(seconds: number, steps?: integer = 1)`.
//!
//! Schemas come from the server and may be hostile: the depth, width and length of the signature are limited, and so is the work.

use std::collections::HashMap;

use agentwire_jsonrpc::{RawJson, RawObject};
use agentwire_mcp_client::schema::Tool;
use serde_json::{Map, Value};

use crate::output::schema_reference::{reference, resolve};
use crate::output::text;

/// The longest schema whose arguments are shown: 64 KiB.
const SCHEMA_LIMIT: usize = 64 << 10;

/// The most arguments that are shown.
const ARGUMENTS: usize = 24;

/// The most names of each object whose order is recorded.
const NAMES: usize = ARGUMENTS;

/// The levels of a schema at which orders are recorded. Each level parses the text below it again.
const ORDER_DEPTH: usize = 16;

/// The most members of an object's type, alternatives of a union and values of an enumeration that are shown.
const WIDTH: usize = 6;

/// The most levels of a type that are shown.
const DEPTH: usize = 3;

/// The most subschemas of a tool that are read.
const BUDGET: usize = 200;

/// The most bytes of a name, a value and a type that are shown.
const NAME_LIMIT: usize = 128;
const VALUE_LIMIT: usize = 40;
const TYPE_LIMIT: usize = 240;

/// The most bytes of a signature that are shown: 4 KiB.
const LIMIT: usize = 4 << 10;

/// The tool's name and its arguments with their types, on one line.
pub(crate) fn signature(tool: &Tool) -> String {
    let name = text::beginning(&tool.name, LIMIT);
    let is_long = tool.input_schema.text().is_some_and(|text| text.len() > SCHEMA_LIMIT);
    if is_long {
        return format!("{name}(…)");
    }
    let json = RawJson::encode(&tool.input_schema).unwrap_or(RawJson::EMPTY_OBJECT);
    // Does not use the schema's own tree, which it would keep: with a long list it takes much memory.
    let root: Map<String, Value> = json.decode().unwrap_or_default();
    let mut types = Types { root: &root, orders: Orders::of(&root, &json), budget: BUDGET };
    let empty = Map::new();
    let properties = root.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    let names = types.orders.names(properties, ARGUMENTS);
    let arguments = names.iter().map(|name| {
        let property = properties.get(name).unwrap_or(&Value::Null);
        argument(&mut types, name, property, is_required(&root, name))
    });
    let mut shown: Vec<_> = arguments.collect();
    if properties.len() > ARGUMENTS {
        shown.push("…".into());
    }
    text::beginning(format_args!("{name}({})", shown.join(", ")), LIMIT)
}

/// The order of the names in each object `properties` of a schema's text. A [`Map`] sorts them.
struct Orders(HashMap<*const Map<String, Value>, Vec<String>>);

impl Orders {
    fn of(root: &Map<String, Value>, json: &RawJson) -> Self {
        let mut orders = Self(HashMap::new());
        orders.add(root, json, 0);
        orders
    }

    fn add(&mut self, map: &Map<String, Value>, json: &RawJson, depth: usize) {
        if depth == ORDER_DEPTH {
            return;
        }
        let Ok(object) = RawObject::try_from(json.clone()) else { return };
        for (name, json) in object.iter() {
            match map.get(&*name) {
                Some(Value::Object(inner)) => {
                    if name == "properties"
                        && let Ok(properties) = RawObject::try_from(json.clone())
                    {
                        let names = properties.iter().map(|(name, _)| name.into_owned()).take(NAMES);
                        self.0.insert(inner, names.collect());
                    }
                    self.add(inner, &json, depth + 1);
                }
                Some(Value::Array(elements)) => {
                    let texts: Vec<RawJson> = json.decode().unwrap_or_default();
                    for (element, json) in elements.iter().zip(&texts) {
                        if let Some(element) = element.as_object() {
                            self.add(element, json, depth + 1);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// The first names of `properties`.
    fn names(&self, properties: &Map<String, Value>, limit: usize) -> Vec<String> {
        match self.0.get(&std::ptr::from_ref(properties)) {
            Some(names) => names.iter().take(limit).cloned().collect(),
            None => properties.keys().take(limit).cloned().collect(),
        }
    }
}

/// Whether an argument must be given.
fn is_required(schema: &Map<String, Value>, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|names| names.iter().any(|required| required == name))
}

fn argument(types: &mut Types<'_>, name: &str, property: &Value, is_required: bool) -> String {
    let mark = if is_required { "" } else { "?" };
    let shown = text::beginning(types.of(property, 0), TYPE_LIMIT);
    let default = property.get("default").map(|value| format!(" = {}", short(value))).unwrap_or_default();
    format!("{}{mark}: {shown}{default}", text::beginning(name, NAME_LIMIT))
}

/// A value as shortened JSON.
fn short(value: &Value) -> String {
    match value {
        Value::Array(values) if values.len() > WIDTH => "[…]".into(),
        Value::Object(members) if members.len() > WIDTH => "{…}".into(),
        // A string is cut before it becomes JSON, so that its end is its quote.
        Value::String(text) if text.len() > VALUE_LIMIT => {
            format!("{}…", Value::from(text.chars().take(VALUE_LIMIT).collect::<String>()))
        }
        value => {
            let json = value.to_string();
            if json.len() > VALUE_LIMIT { "…".into() } else { json }
        }
    }
}

/// The types of one tool's schema.
struct Types<'a> {
    root: &'a Map<String, Value>,
    orders: Orders,
    /// The number of subschemas that may still be read.
    budget: usize,
}

impl Types<'_> {
    /// The type that a schema describes.
    fn of(&mut self, schema: &Value, depth: usize) -> String {
        let Some(schema) = schema.as_object() else { return "any".into() };
        let Some(left) = self.budget.checked_sub(1) else { return "…".into() };
        self.budget = left;
        if let Some(name) = reference(schema) {
            let found = resolve(self.root, name);
            return match found {
                Some(found) if depth < DEPTH => self.of(found, depth + 1),
                _ => name.rsplit(['/', '#']).next().unwrap_or("any").into(),
            };
        }
        if let Some(value) = schema.get("const") {
            return short(value);
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            return union(values.iter().map(short).take(WIDTH).collect(), values.len());
        }
        for keyword in ["anyOf", "oneOf", "allOf"] {
            match schema.get(keyword).and_then(Value::as_array) {
                Some(schemas) if keyword != "allOf" || schemas.len() == 1 => {
                    let shown = schemas.iter().take(WIDTH).map(|schema| self.of(schema, depth + 1)).collect();
                    return union(shown, schemas.len());
                }
                _ => {}
            }
        }
        match schema.get("type") {
            Some(Value::String(name)) => self.named(name, schema, depth),
            Some(Value::Array(names)) => {
                let names_shown = names.iter().filter_map(Value::as_str).take(WIDTH);
                union(names_shown.map(|name| self.named(name, schema, depth)).collect(), names.len())
            }
            _ if schema.contains_key("properties") => self.named("object", schema, depth),
            _ if schema.contains_key("prefixItems") => self.named("array", schema, depth),
            _ => "any".into(),
        }
    }

    fn named(&mut self, name: &str, schema: &Map<String, Value>, depth: usize) -> String {
        match name {
            "array" => match elements(schema) {
                (first, _) if depth < DEPTH && !first.is_empty() => self.tuple(first, depth),
                (_, Some(items)) if depth < DEPTH => match self.of(items, depth + 1) {
                    item if item.contains('|') && !item.starts_with('{') => format!("({item})[]"),
                    item => format!("{item}[]"),
                },
                _ => "array".into(),
            },
            "object" => match schema.get("properties").and_then(Value::as_object) {
                Some(properties) if depth < DEPTH && !properties.is_empty() => {
                    self.object(schema, properties, depth)
                }
                _ => "object".into(),
            },
            name => text::beginning(name, NAME_LIMIT),
        }
    }

    fn tuple(&mut self, first: &[Value], depth: usize) -> String {
        let mut types: Vec<_> = first.iter().take(WIDTH).map(|schema| self.of(schema, depth + 1)).collect();
        if first.len() > WIDTH {
            types.push("…".into());
        }
        format!("[{}]", types.join(", "))
    }

    fn object(
        &mut self,
        schema: &Map<String, Value>,
        properties: &Map<String, Value>,
        depth: usize,
    ) -> String {
        let names = self.orders.names(properties, WIDTH);
        let members = names.iter().map(|name| {
            let mark = if is_required(schema, name) { "" } else { "?" };
            let property = properties.get(name).unwrap_or(&Value::Null);
            format!("{}{mark}: {}", text::beginning(name, NAME_LIMIT), self.of(property, depth + 1))
        });
        let mut members: Vec<_> = members.collect();
        if properties.len() > WIDTH {
            members.push("…".into());
        }
        format!("{{{}}}", members.join(", "))
    }
}

/// The schemas of an array's first elements, as in a tuple, and the schema of its other elements. Before 2020-12, `items`
/// with an array had the meaning of `prefixItems`.
pub(crate) fn elements(schema: &Map<String, Value>) -> (&[Value], Option<&Value>) {
    match (schema.get("prefixItems").and_then(Value::as_array), schema.get("items")) {
        (None, Some(Value::Array(first))) => (first, schema.get("additionalItems")),
        (first, items) => (first.map(Vec::as_slice).unwrap_or_default(), items),
    }
}

fn union(mut shown: Vec<String>, all: usize) -> String {
    shown.dedup();
    if all > WIDTH {
        shown.push("…".into());
    }
    if shown.is_empty() { "any".into() } else { shown.join("|") }
}

#[cfg(test)]
mod tests {
    use agentwire_mcp_client::schema::JsonSchema;
    use serde_json::json;

    use super::*;

    fn of(schema: &str) -> String {
        signature(&Tool::new("f", serde_json::from_str::<JsonSchema>(schema).unwrap()))
    }

    #[test]
    fn a_signature_has_names_types_and_defaults() {
        let rows = [
            (r#"{}"#, "f()"),
            (r#"{"type":"object","properties":{}}"#, "f()"),
            // In the order of the schema.
            (
                r#"{"properties":{"seconds":{"type":"number"},"n":{"type":"integer","default":1}},"required":["seconds"]}"#,
                "f(seconds: number, n?: integer = 1)",
            ),
            (
                r#"{"properties":{"b":{"enum":["x","y",1,null]},"a":{"const":"z"}}}"#,
                r#"f(b?: "x"|"y"|1|null, a?: "z")"#,
            ),
            (r#"{"properties":{"a":{"type":["string","null"]}}}"#, "f(a?: string|null)"),
            (
                r#"{"properties":{"a":{"anyOf":[{"type":"integer"},{"type":"null"}],"default":null}}}"#,
                "f(a?: integer|null = null)",
            ),
            (
                r#"{"properties":{"a":{"type":"array","items":{"type":"string"}},"b":{"type":"array"}}}"#,
                "f(a?: string[], b?: array)",
            ),
            (
                r#"{"properties":{"a":{"type":"array","items":{"type":["string","null"]}}}}"#,
                "f(a?: (string|null)[])",
            ),
            (
                r#"{"properties":{"o":{"type":"object","properties":{"x":{"type":"number"},"y":{}},"required":["x"]}}}"#,
                "f(o?: {x: number, y?: any})",
            ),
            (
                r#"{"properties":{"z":{"properties":{"y":{},"b":{}},"required":["b"]},"a":{"items":{"properties":{"d":{},"c":{}}}}}}"#,
                "f(z?: {y?: any, b: any}, a?: any)",
            ),
            (
                r#"{"properties":{"a":{"anyOf":[{"properties":{"d":{},"c":{}}},{"type":"null"}]}}}"#,
                "f(a?: {d?: any, c?: any}|null)",
            ),
            (
                r##"{"properties":{"o":{"$ref":"#/$defs/P"}},"$defs":{"P":{"type":"boolean"}}}"##,
                "f(o?: boolean)",
            ),
            (
                r##"{"properties":{"t":{"prefixItems":[{"type":"number"},{"$ref":"#/$defs/a~1b"}]}},"$defs":{"a/b":{"type":"string"}}}"##,
                "f(t?: [number, string])",
            ),
            (
                r##"{"properties":{"o":{"$ref":"#p"},"n":{"$dynamicRef":"#none"}},"$defs":{"P":{"$anchor":"p","type":"boolean"}}}"##,
                "f(o?: boolean, n?: none)",
            ),
            (r##"{"properties":{"o":{"$ref":"#/$defs/None"},"p":true}}"##, "f(o?: None, p?: any)"),
        ];
        for (schema, expected) in rows {
            assert_eq!(of(schema), expected, "{schema}");
        }
    }

    #[test]
    fn a_long_schema_is_not_shown() {
        let long = json!({ "properties": { "a": { "const": "x".repeat(SCHEMA_LIMIT) } } });
        assert_eq!(of(&long.to_string()), "f(…)");
    }

    #[test]
    fn a_hostile_schema_has_a_short_signature() {
        // It names itself, twice.
        let itself = r##"{"properties":{"a":{"$ref":"#/$defs/L"}},"$defs":{"L":{"properties":{"l":{"$ref":"#/$defs/L"},"r":{"$ref":"#/$defs/L"}}}}}"##;
        assert_eq!(of(itself), "f(a?: {l?: object, r?: object})");
        let long = "x".repeat(3000);
        let wide: Map<String, Value> = (0..8)
            .map(|n| (format!("{n}{long}")[..300].to_owned(), json!({ "type": long, "default": long })))
            .collect();
        let enumeration = vec![json!(long); 10];
        let deep = (0..30)
            .fold(json!({}), |deep, _| json!({ "type": "array", "items": { "anyOf": vec![deep; 1] } }));
        for schema in [
            json!({ "properties": wide }),
            json!({ "properties": { "a": { "enum": enumeration } } }),
            json!({ "properties": { "a": { "anyOf": vec![json!({ "properties": wide }); 2] } } }),
            json!({ "properties": { "a": deep } }),
        ] {
            let shown = of(&schema.to_string());
            assert!(shown.len() < LIMIT + 100, "{}", shown.len());
        }
    }
}

//! Every change of a document is reported, and no other notation of it is.

use serde_json::{Map, Value, json};

use super::compare;

/// A document with every construct of the published schemas. Each keyword of it matters to the comparison.
fn document() -> Value {
    json!({
        "anyOf": [{ "$ref": "#/$defs/Ask" }, { "$ref": "#/$defs/Tell" }],
        "$defs": {
            "Ask": {
                "type": "object",
                "properties": {
                    "at": { "type": "string", "format": "uri" },
                    "count": { "type": ["integer", "null"], "minimum": 1, "maximum": 9 },
                    "kind": { "$ref": "#/$defs/Kind", "x-deserialize-default-on-error": true },
                    "names": { "type": "array", "items": { "type": "string" }, "minItems": 1 },
                    "more": { "type": "object", "additionalProperties": { "$ref": "#/$defs/Level" } },
                    "id": { "type": ["string", "integer"] },
                },
                "required": ["at", "kind"],
                "x-method": "ask",
                "x-side": "agent",
            },
            "Kind": {
                "oneOf": [
                    { "type": "object", "properties": { "type": { "const": "a" } }, "required": ["type"], "$ref": "#/$defs/Level" },
                    { "type": "object", "properties": { "type": { "const": "b" } }, "required": ["type"] },
                    {
                        "type": "object",
                        "properties": { "type": { "type": "string" } },
                        "required": ["type"],
                        "not": { "required": ["a"] },
                    },
                ],
            },
            "Level": { "enum": ["high", "low"] },
            "Tell": { "allOf": [{ "$ref": "#/$defs/Ask" }, { "$ref": "#/$defs/Kind" }], "additionalProperties": false },
        },
    })
}

/// The JSON pointers of the schemas in a document.
fn schemas(schema: &Value, at: &str, found: &mut Vec<String>) {
    let Some(members) = schema.as_object() else { return };
    found.push(at.to_owned());
    for (keyword, value) in members {
        let inner: Vec<(String, &Value)> = match (keyword.as_str(), value) {
            ("properties" | "$defs", Value::Object(named)) => {
                named.iter().map(|(name, schema)| (format!("{at}/{keyword}/{name}"), schema)).collect()
            }
            ("anyOf" | "oneOf" | "allOf", Value::Array(listed)) => listed
                .iter()
                .enumerate()
                .map(|(index, schema)| (format!("{at}/{keyword}/{index}"), schema))
                .collect(),
            ("items" | "additionalProperties" | "not", _) => vec![(format!("{at}/{keyword}"), value)],
            _ => Vec::new(),
        };
        for (at, schema) in inner {
            schemas(schema, &at, found);
        }
    }
}

/// All changes of one schema at one place, each as a description and the changed schema.
fn changes(schema: &Map<String, Value>) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    let mut change = |what: String, edit: &dyn Fn(&mut Map<String, Value>)| {
        let mut changed = schema.clone();
        edit(&mut changed);
        all.push((what, Value::Object(changed)));
    };
    for (keyword, value) in schema {
        change(format!("{keyword} dropped"), &|schema| drop(schema.remove(keyword)));
        match value {
            Value::Array(items) => {
                for index in 0..items.len() {
                    change(format!("{keyword}[{index}] dropped"), &|schema| {
                        if let Some(items) = schema[keyword].as_array_mut() {
                            items.remove(index);
                        }
                    });
                }
                let one_more = match keyword.as_str() {
                    "anyOf" | "oneOf" | "allOf" => json!({ "type": "boolean" }),
                    _ => json!("boolean"),
                };
                change(format!("{keyword} grows"), &|schema| {
                    if let Some(items) = schema[keyword].as_array_mut() {
                        items.push(one_more.clone());
                    }
                });
            }
            Value::Object(members) if keyword == "properties" || keyword == "$defs" => {
                for name in members.keys() {
                    change(format!("{keyword}.{name} dropped"), &|schema| {
                        schema[keyword].as_object_mut().map(|members| members.remove(name));
                    });
                    change(format!("{keyword}.{name} renamed"), &|schema| {
                        if let Some(members) = schema[keyword].as_object_mut()
                            && let Some(member) = members.remove(name)
                        {
                            members.insert(format!("{name}er"), member);
                        }
                    });
                }
                if keyword == "properties" {
                    change("a property more".to_owned(), &|schema| {
                        schema[keyword]["new"] = json!({ "type": "string" })
                    });
                }
            }
            Value::String(text) if keyword == "$ref" => {
                let other = if text.ends_with("Level") { "#/$defs/Tell" } else { "#/$defs/Level" };
                change("refers elsewhere".to_owned(), &|schema| schema[keyword] = other.into());
            }
            Value::String(text) if keyword == "type" => {
                for other in ["array", "boolean", "integer", "number", "object", "string"] {
                    if other != text {
                        change(format!("type {other}"), &|schema| schema[keyword] = other.into());
                    }
                }
                change("nullable".to_owned(), &|schema| schema[keyword] = json!([text, "null"]));
            }
            Value::String(text) => {
                change(format!("{keyword} changed"), &|schema| schema[keyword] = format!("{text}s").into())
            }
            Value::Number(number) => {
                let next = number.as_i64().map(|number| number + 1);
                change(format!("{keyword} changed"), &|schema| schema[keyword] = json!(next));
            }
            _ => {}
        }
    }
    all.extend(additions(schema));
    all
}

/// All keywords that a schema may get in addition, each as a description and the changed schema.
fn additions(schema: &Map<String, Value>) -> Vec<(String, Value)> {
    let keywords = [
        ("format", json!("uuid")),
        ("minimum", json!(3)),
        ("pattern", json!("^a")),
        ("additionalProperties", json!(false)),
        ("x-deserialize-skip-invalid-items", json!(true)),
        ("required", json!(["new"])),
    ];
    let missing = keywords.into_iter().filter(|(keyword, _)| !schema.contains_key(*keyword));
    let add = |(keyword, value): (&str, Value)| {
        let mut changed = schema.clone();
        changed.insert(keyword.to_owned(), value);
        (format!("{keyword} added"), Value::Object(changed))
    };
    missing.map(add).collect()
}

#[test]
fn every_single_change_is_reported() {
    let document = document();
    let mut found = Vec::new();
    schemas(&document, "", &mut found);
    let mut tried = 0;
    for at in found {
        let schema = document.pointer(&at).and_then(Value::as_object).unwrap();
        for (what, changed) in changes(schema) {
            let mut other = document.clone();
            *other.pointer_mut(&at).unwrap() = changed;
            assert!(!compare(&document, &other).differences.is_empty(), "{at}: {what} there, unnoticed");
            assert!(!compare(&other, &document).differences.is_empty(), "{at}: {what} here, unnoticed");
            tried += 1;
        }
    }
    assert!(tried > 300, "only {tried} changes were tried");
}

#[test]
fn a_document_equals_itself_and_all_of_it_is_counted() {
    let comparison = compare(&document(), &document());
    assert_eq!(comparison.differences, []);
    assert_eq!((comparison.definitions, comparison.properties), (4, 9));
}

/// The differences that are reported of `Ask.at` for these schemas.
fn reported(ours: &Value, theirs: &Value) -> Vec<String> {
    let with = |schema: &Value| {
        let mut document = document();
        document["$defs"]["Ask"]["properties"]["at"] = schema.clone();
        document
    };
    let differences = compare(&with(ours), &with(theirs)).differences;
    differences.iter().map(ToString::to_string).collect()
}

#[test]
fn notation_is_no_difference() {
    for (ours, theirs) in [
        (
            json!({ "$ref": "#/$defs/Kind" }),
            json!({ "allOf": [{ "$ref": "#/$defs/Kind" }], "description": "A kind." }),
        ),
        (
            json!({ "type": ["string", "null"] }),
            json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] }),
        ),
        (
            json!({ "type": ["string", "null"] }),
            json!({ "oneOf": [{ "type": "null" }, { "type": "string", "title": "S" }] }),
        ),
        (
            json!({ "type": ["string", "integer"] }),
            json!({ "anyOf": [{ "type": "integer" }, { "type": "string" }] }),
        ),
        (json!({ "const": "a" }), json!({ "enum": ["a"], "type": "string" })),
        (
            json!({ "enum": ["a", "b"] }),
            json!({ "oneOf": [{ "const": "b", "type": "string" }, { "const": "a" }] }),
        ),
        (json!({ "enum": ["a", null] }), json!({ "type": ["string", "null"], "enum": ["a", null] })),
        (
            json!({ "type": "object" }),
            json!({ "type": "object", "properties": {}, "additionalProperties": true }),
        ),
        (json!({ "type": "array" }), json!({ "type": "array", "items": {} })),
        (json!({ "minimum": 1 }), json!({ "minimum": 1.0 })),
        (json!(true), json!({ "$comment": "anything", "examples": [1], "deprecated": true })),
        (
            json!({ "anyOf": [{ "$ref": "#/$defs/Ask" }, { "$ref": "#/$defs/Kind" }, { "type": "null" }] }),
            json!({ "anyOf": [{ "anyOf": [{ "$ref": "#/$defs/Kind" }, { "$ref": "#/$defs/Ask" }] }, { "type": "null" }] }),
        ),
        (
            json!({ "type": "object", "properties": { "a": {}, "b": {} }, "required": ["b", "a"] }),
            json!({
                "allOf": [
                    { "type": "object", "properties": { "a": {} }, "required": ["a"] },
                    { "type": "object", "properties": { "b": {} }, "required": ["b"] },
                ],
            }),
        ),
        // Named on one side, inlined on the other.
        (json!({ "type": "string", "enum": ["low", "high"] }), json!({ "$ref": "#/$defs/Level" })),
    ] {
        assert_eq!(reported(&ours, &theirs), [""; 0], "{ours} and {theirs}");
        assert_eq!(reported(&theirs, &ours), [""; 0], "{theirs} and {ours}");
    }
}

#[test]
fn definitions_may_be_named_on_one_side_only_if_something_uses_them() {
    let published = document();
    let mut ours = document();
    ours["$defs"]["Where"] = json!({ "type": "string", "format": "uri" });
    let unused: Vec<String> =
        compare(&ours, &published).differences.iter().map(ToString::to_string).collect();
    assert_eq!(unused, ["Where: a definition that is not published"]);
    ours["$defs"]["Ask"]["properties"]["at"] = json!({ "$ref": "#/$defs/Where" });
    assert_eq!(compare(&ours, &published).differences, []);
    ours["$defs"]["Where"]["format"] = json!("uuid");
    let differs: Vec<String> =
        compare(&ours, &published).differences.iter().map(ToString::to_string).collect();
    assert_eq!(differs, [r#"Ask.at: format "uuid", published "uri""#]);
}

#[test]
fn a_cycle_of_definitions_ends() {
    let recursive = |name: &str| {
        let list = json!({ "type": "array", "items": { "$ref": format!("#/$defs/{name}") } });
        json!({ "anyOf": [{ "$ref": format!("#/$defs/{name}") }], "$defs": { name: list } })
    };
    assert_eq!(compare(&recursive("List"), &recursive("List")).differences, []);
    let renamed = compare(&recursive("Row"), &recursive("List")).differences;
    assert_eq!(renamed.len(), 1, "{renamed:?}");
    assert_eq!(renamed[0].to_string(), "List: no such definition, published");
}

#[test]
fn difference_names_its_place_and_both_values() {
    let string = json!({ "type": "string" });
    for (ours, theirs, expected) in [
        (string.clone(), json!({ "type": "integer" }), "Ask.at: type string, published integer"),
        (string.clone(), json!({ "type": ["string", "null"] }), "Ask.at: may not be null, published it may"),
        (json!({ "enum": ["a"] }), json!({ "enum": ["a", "b"] }), r#"Ask.at: lacks the word "b", published"#),
        (
            json!({ "$ref": "#/$defs/Kind" }),
            json!({ "$ref": "#/$defs/Level" }),
            "Ask.at: is Kind, published Level",
        ),
        (
            json!({ "anyOf": [{ "$ref": "#/$defs/Ask" }, { "type": "array", "items": { "type": "integer" } }] }),
            json!({ "anyOf": [{ "type": "array", "items": { "type": "string" } }, { "$ref": "#/$defs/Ask" }] }),
            "Ask.at<array>[]: type integer, published string",
        ),
        (
            json!({ "properties": { "a": { "type": "object", "properties": { "b": {} } } } }),
            json!({ "properties": { "a": { "type": "object", "properties": { "b": {} }, "required": ["b"] } } }),
            "Ask.at.a.b: optional, published required",
        ),
    ] {
        assert_eq!(reported(&ours, &theirs), [expected]);
    }
}

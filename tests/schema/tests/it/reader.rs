//! The judge of the types is itself judged by the validator, and by examples.

use agentwire_schema_tests::{ACP, Document, Instances, Kept, MCP, Reader, Reading};
use serde_json::{Value, json};

use crate::judge::runner;
use crate::registry;

/// The maker of instances, the validator and the reader agree on what is valid.
#[test]
fn valid_value_is_taken_as_it_is() {
    for name in registry::DOCUMENTS {
        let document = registry::load(name);
        let rules = if name.starts_with("acp") { ACP } else { MCP };
        let reader = Reader::new(document, &rules);
        let mut runner = runner();
        for definition in document.names() {
            let pointer = document.pointer(definition).expect("it is there");
            let instances = Instances::new(document, &pointer);
            for _ in 0..8 {
                let value = instances.make(&mut runner);
                let reading = reader.read(&pointer, &value);
                let Reading::Taken(kept) = &reading else {
                    panic!("{name} {pointer}: {reading:?} of {value}")
                };
                kept.compare(&value).unwrap_or_else(|fault| panic!("{name} {pointer}{fault} of {value}"));
            }
        }
    }
}

fn example() -> Document {
    Document::new(
        "example",
        json!({ "$defs": {
            "Word": { "type": "string", "enum": ["on", "off"] },
            "Closed": { "$ref": "#/$defs/Word" },
            "Block": { "oneOf": [
                { "type": "object", "properties": { "type": { "const": "text" }, "text": { "type": "string" } },
                  "required": ["type", "text"] },
                { "type": "object", "properties": { "type": { "const": "gap" } }, "required": ["type"] },
            ] },
            "Object": { "type": "object", "required": ["id"], "properties": {
                "id": { "type": "integer", "format": "int32" },
                "word": { "$ref": "#/$defs/Word" },
                "soft": { "type": ["string", "null"], "x-deserialize-default-on-error": true },
                "blocks": { "type": "array", "items": { "$ref": "#/$defs/Block" },
                    "x-deserialize-default-on-error": true, "x-deserialize-skip-invalid-items": true },
                "paths": { "type": "array", "items": { "type": "string" }, "x-deserialize-default-on-null": true },
                "_meta": { "type": "object", "additionalProperties": true },
            } },
        } }),
    )
    .expect("a schema")
}

fn read(value: &Value) -> Reading {
    let document = example();
    Reader::new(&document, &ACP).read("#/$defs/Object", value)
}

fn kept(value: &Value) -> Kept {
    match read(value) {
        Reading::Taken(kept) => kept,
        other => panic!("{value}: {other:?}"),
    }
}

#[test]
fn leniency_follows_the_keywords() {
    let soft = kept(&json!({ "id": 1, "soft": 7 }));
    assert!(soft.compare(&json!({ "id": 1 })).is_ok());
    assert!(soft.compare(&json!({ "id": 1, "soft": null })).is_ok(), "null and absence mean the same");
    assert!(soft.compare(&json!({ "id": 1, "soft": 7 })).is_err());

    let items =
        kept(&json!({ "id": 1, "blocks": [{ "type": "text" }, { "type": "gap" }, 7, { "type": "song" }] }));
    assert!(items.compare(&json!({ "id": 1, "blocks": [{ "type": "gap" }, { "type": "song" }] })).is_ok());
    assert!(
        items.compare(&json!({ "id": 1, "blocks": [{ "type": "gap" }] })).is_err(),
        "a foreign item is kept"
    );

    assert!(kept(&json!({ "id": 1, "paths": null })).compare(&json!({ "id": 1, "paths": [] })).is_ok());
    assert!(matches!(read(&json!({ "id": 1, "paths": 7 })), Reading::Refused(_)));
    assert!(matches!(read(&json!({ "soft": "a" })), Reading::Refused(_)), "a required member");
    assert!(
        matches!(read(&json!({ "id": 4_294_967_296_u64 })), Reading::Refused(_)),
        "more than the format holds"
    );
    assert!(matches!(read(&json!({ "id": "1" })), Reading::Refused(_)), "1 is not \"1\"");
    assert!(matches!(read(&json!({ "id": 1, "word": 7 })), Reading::Refused(_)));
}

#[test]
fn kept_parts_come_out_again() {
    let value = json!({ "id": 1, "word": "ON", "x": 1, "soft": "s", "_meta": { "a": { "b": 1.0 } } });
    let kept = kept(&value);
    assert!(kept.is_beyond_schema(), "a foreign word");
    assert_eq!(kept.beyond_schema(), ["/word", "/x"]);
    assert!(kept.compare(&value).is_ok());
    let changed = |name: &str, with: Value| {
        let mut other = value.clone();
        other[name] = with;
        kept.compare(&other).is_ok()
    };
    assert!(changed("_meta", json!({ "a": { "b": 1 } })), "the same number");
    assert!(!changed("_meta", json!({})) && !changed("soft", json!("S")) && !changed("word", json!("on")));
    assert!(!changed("x", json!(2)), "an unknown member may go, but not change");
    assert!(!changed("y", json!(2)), "and none may appear");
}

//! A JSON Schema object that stays JSON text until its keywords are needed. Reading limits its nesting to 127 levels.

use std::fmt;
use std::sync::{Arc, OnceLock};

use agentwire_jsonrpc::{RawJson, TreeCost};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

/// How deep a schema may be nested: as deep as `serde_json` reads, less a level for the map itself.
const DEPTH_LIMIT: usize = 127;

/// A JSON Schema that is an object, such as the one for a tool's arguments.
///
/// Every keyword is kept, known or not. Cloning is cheap. Without `$schema` it means dialect 2020-12.
/// Nothing here validates it or follows a `$ref`.
///
/// A schema that was read stays text until [`as_map`](Self::as_map) is called. Before that it takes the memory of its text,
/// afterwards up to 130 times as much: see [`TreeCost`]. Reading fails if it is nested deeper than 127 levels.
#[derive(Clone)]
pub struct JsonSchema(Arc<Inner>);

struct Inner {
    /// As it was read; none for one that was made from a map.
    text: Option<RawJson>,
    keywords: OnceLock<Map<String, Value>>,
}

impl JsonSchema {
    /// The schema of any object: `{"type":"object"}`.
    pub fn any_object() -> Self {
        Map::from_iter([("type".to_owned(), json!("object"))]).into()
    }

    /// The keywords.
    pub fn as_map(&self) -> &Map<String, Value> {
        let Inner { text, keywords } = &*self.0;
        keywords.get_or_init(|| {
            let read = text.as_ref().and_then(|text| text.decode().ok());
            // What was read is an object that is not nested too deep, so it decodes.
            read.unwrap_or_default()
        })
    }

    /// The keywords, copied where they are shared.
    pub fn into_map(self) -> Map<String, Value> {
        self.as_map();
        match Arc::try_unwrap(self.0) {
            Ok(Inner { keywords, .. }) => keywords.into_inner().unwrap_or_default(),
            Err(shared) => Self(shared).as_map().clone(),
        }
    }

    /// The text that was read. None for one that was made from a map.
    pub fn text(&self) -> Option<&str> {
        self.0.text.as_ref().map(RawJson::as_str)
    }

    /// Whether there may be a keyword of that name somewhere in it. Builds no map.
    pub(crate) fn may_have(&self, keyword: &str) -> bool {
        self.text().is_none_or(|text| text.contains(keyword) || text.contains("\\u"))
    }
}

impl From<Map<String, Value>> for JsonSchema {
    fn from(keywords: Map<String, Value>) -> Self {
        Self(Arc::new(Inner { text: None, keywords: OnceLock::from(keywords) }))
    }
}

/// Fails with the value if that is not an object.
impl TryFrom<Value> for JsonSchema {
    type Error = Value;

    fn try_from(value: Value) -> Result<Self, Value> {
        match value {
            Value::Object(keywords) => Ok(keywords.into()),
            other => Err(other),
        }
    }
}

/// By their keywords, whatever their order.
impl PartialEq for JsonSchema {
    fn eq(&self, other: &Self) -> bool {
        let same_text = self.text().is_some_and(|text| other.text() == Some(text));
        Arc::ptr_eq(&self.0, &other.0) || same_text || self.as_map() == other.as_map()
    }
}

impl Eq for JsonSchema {}

impl fmt::Debug for JsonSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.text() {
            Some(text) => f.debug_tuple("JsonSchema").field(&text).finish(),
            None => f.debug_tuple("JsonSchema").field(self.as_map()).finish(),
        }
    }
}

impl Serialize for JsonSchema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0.text {
            Some(text) => text.serialize(serializer),
            None => self.as_map().serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for JsonSchema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = RawJson::deserialize(deserializer)?.into_object();
        let text = text.ok_or_else(|| D::Error::custom("a schema is an object"))?;
        if TreeCost::of(text.as_str()).depth > DEPTH_LIMIT {
            return Err(D::Error::custom(format_args!(
                "a schema is nested deeper than {DEPTH_LIMIT} levels"
            )));
        }
        let text = with_empty_maps(text);
        Ok(Self(Arc::new(Inner { text: Some(text), keywords: OnceLock::new() })))
    }
}

/// Replaces `[]` by `{}` for an empty `properties` and similar keywords. PHP writes an empty map as `[]`, which validators and
/// model APIs refuse.
fn with_empty_maps(schema: RawJson) -> RawJson {
    /// Inside a string, the quotation mark is escaped, so this does not match there.
    const END: &str = "roperties\"";

    let text = schema.as_str();
    let empty = text.match_indices(END).filter_map(|(at, _)| {
        let start = at + END.len();
        let value = text[start..].trim_ascii_start().strip_prefix(':')?.trim_ascii_start();
        let inner = value.strip_prefix('[')?.trim_ascii_start();
        inner.starts_with(']').then(|| (text.len() - value.len(), text.len() - inner.len() + 1))
    });
    let mut mended = String::new();
    let mut done = 0;
    for (start, end) in empty {
        mended.push_str(&text[done..start]);
        mended.push_str("{}");
        done = end;
    }
    if done == 0 {
        return schema;
    }
    mended.push_str(&text[done..]);
    RawJson::parse(mended.into()).unwrap_or(schema)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_that_was_read_is_the_same_as_one_that_was_made() {
        let text = r#"{"type":"object","properties":{"b":1,"a":12345678901234567890123}}"#;
        let read: JsonSchema = serde_json::from_str(text).expect("a schema");
        assert_eq!(serde_json::to_string(&read).expect("JSON"), text, "to the last byte");
        let made = JsonSchema::from(read.as_map().clone());
        assert_eq!((read.clone(), read.clone().into_map()), (made.clone(), made.into_map()));
        let from_value: JsonSchema = serde_json::from_value(json!({ "type": "object" })).expect("a schema");
        assert_eq!(from_value, JsonSchema::any_object());
    }

    #[test]
    fn empty_array_reads_as_empty_properties() {
        let read = |text: &str| serde_json::from_str::<JsonSchema>(text).expect("a schema");
        let schema = read(
            r#"{"properties":{"a":{"properties": [ ],"required":[]}},"patternProperties":[],"enum":[]}"#,
        );
        let mended =
            r#"{"properties":{"a":{"properties": {},"required":[]}},"patternProperties":{},"enum":[]}"#;
        assert_eq!(schema.text(), Some(mended));
        for same in [r#"{"const":"\"properties\":[]"}"#, r#"{"properties":[1]}"#] {
            assert_eq!(read(same).text(), Some(same));
        }
    }

    #[test]
    fn value_that_is_not_an_object_or_is_too_deep_is_not_a_schema() {
        let nested = |levels: usize| format!("{}0{}", r#"{"a":"#.repeat(levels), "}".repeat(levels));
        for text in ["true", "[1]", "null", &nested(DEPTH_LIMIT + 1)] {
            assert!(serde_json::from_str::<JsonSchema>(text).is_err(), "{text}");
        }
        let deep: JsonSchema = serde_json::from_str(&nested(DEPTH_LIMIT)).expect("a schema");
        assert_eq!(deep.as_map().len(), 1);
    }
}

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

/// A JSON Schema that is an object, such as the one for a tool's arguments.
///
/// Every keyword is kept, known or not. Cloning is cheap. Without `$schema` it means dialect 2020-12.
/// Nothing here validates it or follows a `$ref`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonSchema(Arc<Map<String, Value>>);

impl JsonSchema {
    /// The schema of any object: `{"type":"object"}`.
    pub fn any_object() -> Self {
        Self(Arc::new(Map::from_iter([("type".to_owned(), json!("object"))])))
    }

    /// The keywords.
    pub fn as_map(&self) -> &Map<String, Value> {
        &self.0
    }

    /// The keywords, copied where they are shared.
    pub fn into_map(self) -> Map<String, Value> {
        Arc::unwrap_or_clone(self.0)
    }
}

impl From<Map<String, Value>> for JsonSchema {
    fn from(keywords: Map<String, Value>) -> Self {
        Self(Arc::new(keywords))
    }
}

/// Fails, giving the value back, where it is no object.
impl TryFrom<Value> for JsonSchema {
    type Error = Value;

    fn try_from(value: Value) -> Result<Self, Value> {
        match value {
            Value::Object(keywords) => Ok(keywords.into()),
            other => Err(other),
        }
    }
}

impl Serialize for JsonSchema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for JsonSchema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Map::deserialize(deserializer).map(Self::from)
    }
}

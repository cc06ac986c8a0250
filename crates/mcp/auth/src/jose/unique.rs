//! Reads a JSON object and refuses repeated names at any depth: two readers could use different values of one name.

use std::fmt;

use agentwire_jsonrpc::TreeCost;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// The memory that an object may take, without its strings: 256 KiB. A text of small values takes a hundred times its length,
/// and a token is read before its signature is verified.
const MAX_MEMORY: usize = 256 << 10;

/// Reads a text as an object. `None` if it is not one, if a name in it is repeated, or if it takes too much memory.
pub(crate) fn read_object(bytes: &[u8]) -> Option<Map<String, Value>> {
    let text = std::str::from_utf8(bytes).ok().filter(|text| !TreeCost::is_over(text, MAX_MEMORY))?;
    match agentwire_jsonrpc::read::<Unique>(text).ok()?.0 {
        Value::Object(members) => Some(members),
        _ => None,
    }
}

struct Unique(Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueVisitor).map(Self)
    }
}

struct UniqueVisitor;

impl<'de> Visitor<'de> for UniqueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(Unique(value)) = array.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(name) = object.next_key::<String>()? {
            let Unique(value) = object.next_value()?;
            if members.insert(name, value).is_some() {
                return Err(A::Error::custom("a name is repeated"));
            }
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_name_is_refused_at_any_depth() {
        let text = r#"{"a":1,"b":{"a":[-1,1.5,"x",null,true]}}"#;
        let read = read_object(text.as_bytes()).unwrap();
        let large = |objects| format!(r#"{{"a":[{}]}}"#, vec![r#"{"":0}"#; objects].join(","));
        assert!(
            read_object(large(100).as_bytes()).is_some() && read_object(large(1000).as_bytes()).is_none()
        );
        assert_eq!(Value::Object(read), serde_json::from_str::<Value>(text).unwrap());
        for text in
            [r#"{"a":1,"a":1}"#, r#"{"b":{"a":1,"a":2}}"#, r#"{"b":[{"a":1,"\u0061":2}]}"#, "[]", "", "{"]
        {
            assert_eq!(read_object(text.as_bytes()), None, "{text}");
        }
    }
}

//! Reads a `RawObject` from a deserializer.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Error, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Map;

use crate::raw::RawJson;
use crate::raw::raw_object::RawObject;
use crate::reader::RAW_VALUE;
use crate::text::Text;
use crate::text::any_text::ObjectText;

/// Keeps the text unchanged if the deserializer is one of `serde_json`. If a visitor has already read a part of the object, as
/// that of a tagged union does, the text is built from the remaining members.
impl<'de> Deserialize<'de> for RawObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(RAW_VALUE, ObjectVisitor)
    }
}

struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = RawObject;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawObject, A::Error> {
        let mut object = ObjectText::default();
        if let Some(Text(name)) = map.next_key()? {
            if name == RAW_VALUE {
                let Text(text) = map.next_value()?;
                return whole_text(text);
            }
            object.take_value(&name, &mut map)?;
            object.take_rest(&mut map)?;
        }
        Ok(RawObject::of_text(object))
    }

    /// Called by serde's buffered deserializer, which has no raw text.
    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<RawObject, D::Error> {
        Map::deserialize(deserializer).map(RawObject::from)
    }
}

/// The text that `serde_json` has parsed as a value.
fn whole_text<E: Error>(text: Cow<'_, str>) -> Result<RawObject, E> {
    let what = kind(&text);
    RawJson::of_value(text)?.into_object().map(RawObject).ok_or_else(|| E::invalid_type(what, &ObjectVisitor))
}

fn kind(text: &str) -> Unexpected<'static> {
    Unexpected::Other(match text.as_bytes().first() {
        Some(b'[') => "array",
        Some(b'"') => "string",
        Some(b'n') => "null",
        Some(b't' | b'f') => "boolean",
        _ => "number",
    })
}

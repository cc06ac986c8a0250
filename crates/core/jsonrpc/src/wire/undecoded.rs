//! Reads a value as undecoded text, borrowed from the input if possible.
//!
//! `serde_json` reads a `&RawValue` only from text in memory and a `Box<RawValue>` always with a copy. A message is text
//! in memory nearly always, but may also come as a `Value`.

use std::borrow::Cow;
use std::fmt;
use std::iter;

use serde::de::value::{BorrowedStrDeserializer, MapDeserializer};
use serde::de::{Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, forward_to_deserialize_any};
use serde_json::value::RawValue;

use crate::text::Text;

/// Reads a value as JSON text. Succeeds for every well-formed value.
pub(super) fn undecoded<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Cow<'de, RawValue>, D::Error> {
    let mut owned = None;
    match <&RawValue>::deserialize(Lender { deserializer, owned: &mut owned }) {
        Ok(raw) => Ok(Cow::Borrowed(raw)),
        Err(error) => match owned {
            Some(text) => RawValue::from_string(text).map(Cow::Owned).map_err(D::Error::custom),
            None => Err(error),
        },
    }
}

/// Wraps the visitor of a raw value, and copies text that cannot be borrowed.
struct Lender<'a, D> {
    deserializer: D,
    owned: &'a mut Option<String>,
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Lender<'_, D> {
    type Error = D::Error;

    /// A raw value asks for a newtype, and is given an object whose one member is the text.
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        match self.deserializer.deserialize_newtype_struct(name, TextOfValue)?.into_cow() {
            Cow::Borrowed(text) => visitor
                .visit_map(MapDeserializer::new(iter::once((name, BorrowedStrDeserializer::new(text))))),
            Cow::Owned(text) => {
                *self.owned = Some(text);
                Err(D::Error::custom("the text cannot be lent"))
            }
        }
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, D::Error> {
        Err(D::Error::custom("JSON text is read by `serde_json` only"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

struct TextOfValue;

impl<'de> Visitor<'de> for TextOfValue {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Text<'de>, A::Error> {
        map.next_key::<IgnoredAny>()?;
        map.next_value()
    }
}

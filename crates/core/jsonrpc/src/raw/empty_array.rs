//! Reads an empty array as an empty object: PHP encodes an empty map as `[]`.

use std::fmt;

use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::{Deserializer, forward_to_deserialize_any};

use crate::RawJson;

/// Returns the text of an object, or `{}` for an empty array. `None` for any other value. `text` must begin with its first
/// token.
///
/// ```
/// use agentwire_jsonrpc::runtime::as_object;
///
/// assert_eq!(as_object(r#"{"a":1}"#), Some(r#"{"a":1}"#));
/// assert_eq!(as_object("[ ]"), Some("{}"));
/// assert_eq!(as_object("[1]"), None);
/// ```
#[inline]
pub fn as_object(text: &str) -> Option<&str> {
    if text.starts_with('{') { Some(text) } else { is_empty_array(text).then_some("{}") }
}

fn is_empty_array(text: &str) -> bool {
    let inner = text.strip_prefix('[').and_then(|text| text.trim_ascii_end().strip_suffix(']'));
    inner.is_some_and(|inner| inner.trim_ascii().is_empty())
}

impl RawJson {
    /// The value as an object; an empty array becomes `{}`, because PHP writes an empty map as `[]`. `None` for any other value.
    #[must_use]
    pub fn into_object(self) -> Option<Self> {
        if self.as_str().starts_with('{') {
            return Some(self);
        }
        as_object(self.as_str()).map(|_| Self::EMPTY_OBJECT)
    }
}

/// Reads an object, or an empty array as an empty object. Any other value is an error.
///
/// # Errors
///
/// When the value is neither, or the visitor fails.
#[inline]
pub fn read_object<'de, D, V>(deserializer: D, visitor: V) -> Result<V::Value, D::Error>
where
    D: Deserializer<'de>,
    V: Visitor<'de>,
{
    // Unlike `deserialize_map`, this passes an array on to the visitor.
    deserializer.deserialize_struct("", &[], ObjectVisitor(visitor))
}

struct ObjectVisitor<V>(V);

impl<'de, V: Visitor<'de>> Visitor<'de> for ObjectVisitor<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(members)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<V::Value, A::Error> {
        if array.next_element::<IgnoredAny>()?.is_some() {
            return Err(A::Error::invalid_type(Unexpected::Seq, &self.0));
        }
        // read: our own text. For a `MapAccess` of our own, the visitor's code would be compiled again for each type.
        serde_json::Deserializer::from_str("{}").deserialize_map(self.0).map_err(A::Error::custom)
    }
}

/// A deserializer under which a map of the standard library, or an option of one, accepts an empty array.
pub(crate) struct EmptyArrayAsMap<D>(pub(crate) D);

impl<'de, D: Deserializer<'de>> Deserializer<'de> for EmptyArrayAsMap<D> {
    type Error = D::Error;

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        read_object(self.0, visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_option(OptionVisitor(visitor))
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_any(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_newtype_struct(name, visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct struct enum identifier ignored_any
    }
}

struct OptionVisitor<V>(V);

impl<'de, V: Visitor<'de>> Visitor<'de> for OptionVisitor<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_none()
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        self.0.visit_some(EmptyArrayAsMap(deserializer))
    }
}

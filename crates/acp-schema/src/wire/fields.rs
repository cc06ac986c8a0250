//! Objects that are looked at before they are decoded.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use agentwire_jsonrpc::{Members, RawObject, read, value_text};
use serde::de::{DeserializeOwned, Error, Visitor};
use serde::{Deserialize, Deserializer};

/// A string that borrows from the input where it can; `Cow` on its own always copies.
pub(crate) struct Text<'de>(Cow<'de, str>);

impl<'de> Text<'de> {
    pub(super) fn into_cow(self) -> Cow<'de, str> {
        self.0
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn into_string(self) -> String {
        self.0.into_owned()
    }
}

impl From<Text<'_>> for Arc<str> {
    fn from(text: Text<'_>) -> Self {
        text.as_str().into()
    }
}

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;

        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }

            fn visit_string<E: Error>(self, text: String) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text)))
            }
        }

        deserializer.deserialize_str(TextVisitor)
    }
}

/// A deserializer of text that has been read as a value already.
// read: it has been read as text, and halves of surrogate pairs are mended where the whole message is read.
pub(crate) type TextDeserializer<'de> = serde_json::Deserializer<serde_json::de::StrRead<'de>>;

/// Decodes one member that must be there.
pub(crate) fn required<T: DeserializeOwned, E: Error>(object: &RawObject, key: &'static str) -> Result<T, E> {
    object.decode_member(key).map_err(E::custom)?.ok_or_else(|| E::missing_field(key))
}

/// Decodes a struct from the members that it names, and gives back the others.
pub(crate) fn split<'de, T: DeserializeOwned, D: Deserializer<'de>>(
    object: D,
) -> Result<(T, RawObject), D::Error> {
    let text = value_text(object)?;
    let mut named: &[&str] = &[];
    let mut object = TextDeserializer::from_str(&text);
    let decoded = T::deserialize(Named { object: &mut object, named: &mut named });
    let decoded = decoded.map_err(D::Error::custom)?;
    let is_other = |name: &str| !named.contains(&name);
    // Mostly there is none, and then nothing is copied.
    if !Members::of(&text).any(|(name, _)| is_other(&name)) {
        return Ok((decoded, RawObject::new()));
    }
    let mut others: RawObject = read(&text).map_err(D::Error::custom)?;
    others.retain(is_other);
    Ok((decoded, others))
}

/// Notes which members a struct names.
struct Named<'a, 'de> {
    object: &'a mut TextDeserializer<'de>,
    named: &'a mut &'static [&'static str],
}

impl<'de> Deserializer<'de> for Named<'_, 'de> {
    type Error = serde_json::Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        members: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, serde_json::Error> {
        *self.named = members;
        self.object.deserialize_map(visitor)
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, serde_json::Error> {
        self.object.deserialize_any(visitor)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

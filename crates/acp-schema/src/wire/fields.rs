//! A JSON object whose members are not decoded yet.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use agentwire_jsonrpc::read;
use serde::de::value::MapDeserializer;
use serde::de::{DeserializeOwned, Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::undecoded::Undecoded;

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

/// The members of an object in their order, each still JSON text, so that a look at one key can decide what
/// the others are decoded as, without a `Value` in between. Nothing is copied that the input can lend.
pub(crate) struct Fields<'de>(Vec<(Text<'de>, Cow<'de, RawValue>)>);

impl<'de> Fields<'de> {
    /// Reads what is left of an object of which `key` has already been taken.
    pub(crate) fn collect<A: MapAccess<'de>>(key: Option<Text<'de>>, mut map: A) -> Result<Self, A::Error> {
        let mut members = Vec::new();
        let mut next = key;
        while let Some(key) = next {
            members.push((key, map.next_value_seed(Undecoded)?));
            next = map.next_key()?;
        }
        Ok(Self(members))
    }

    /// Whether there is such a member, whatever its value.
    pub(crate) fn contains(&self, key: &str) -> bool {
        self.0.iter().any(|(name, _)| name.as_str() == key)
    }

    /// Decodes one member; none where it is missing. One that is there twice is an error: readers differ in which of
    /// the two they believe.
    pub(crate) fn member<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, serde_json::Error> {
        let mut named = self.0.iter().filter(|(name, _)| name.as_str() == key);
        let Some((_, value)) = named.next() else { return Ok(None) };
        if named.next().is_some() {
            return Err(serde_json::Error::custom(format_args!("duplicate field `{key}`")));
        }
        read(value.get()).map(Some)
    }

    /// Decodes one member that must be there.
    pub(crate) fn required<T: DeserializeOwned>(&self, key: &'static str) -> Result<T, serde_json::Error> {
        self.member(key)?.ok_or_else(|| serde_json::Error::missing_field(key))
    }

    /// Takes out one member that must be a string; none where it is missing.
    pub(crate) fn take_text(&mut self, key: &str) -> Result<Option<String>, serde_json::Error> {
        let text = self.member(key)?;
        self.0.retain(|(name, _)| name.as_str() != key);
        Ok(text)
    }

    /// The object, for whatever wants to be decoded from one.
    pub(crate) fn deserializer<'a>(&'a self) -> impl Deserializer<'a, Error = serde_json::Error> {
        MapDeserializer::new(self.0.iter().map(|(name, value)| (name.as_str(), &**value)))
    }

    /// Decodes the object.
    pub(crate) fn decode<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        T::deserialize(self.deserializer())
    }

    /// Decodes a struct from the members that it names, and gives back the others.
    pub(crate) fn split<T: DeserializeOwned>(mut self) -> Result<(T, Self), serde_json::Error> {
        let mut named: &[&str] = &[];
        let decoded = T::deserialize(Named { fields: &self, named: &mut named })?;
        self.0.retain(|(name, _)| !named.contains(&name.as_str()));
        Ok((decoded, self))
    }
}

/// Notes which members a struct names.
struct Named<'de, 'n> {
    fields: &'de Fields<'de>,
    named: &'n mut &'static [&'static str],
}

impl<'de> Deserializer<'de> for Named<'de, '_> {
    type Error = serde_json::Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        members: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, serde_json::Error> {
        *self.named = members;
        self.fields.deserializer().deserialize_struct(name, members, visitor)
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, serde_json::Error> {
        self.fields.deserializer().deserialize_any(visitor)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct newtype_struct
        seq tuple tuple_struct map enum identifier ignored_any
    }
}

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FieldsVisitor;

        impl<'de> Visitor<'de> for FieldsVisitor {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
                let first = map.next_key()?;
                Fields::collect(first, map)
            }
        }

        deserializer.deserialize_map(FieldsVisitor)
    }
}

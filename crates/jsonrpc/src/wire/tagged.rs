//! Unions whose variant is named by one member: `{"type":"text","text":"…"}`.
//!
//! Derived code would first buffer the whole object, because the tag might come last. It nearly always comes first,
//! and we always write it first. Then what follows is decoded straight into the variant's struct; only when it comes
//! later are the members collected, as undecoded text.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::slice;

use serde::de::value::{BorrowedStrDeserializer, MapAccessDeserializer};
use serde::de::{DeserializeOwned, DeserializeSeed, Error, IgnoredAny, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::any_text::value_text;
use crate::builder::RawObjectBuilder;
use crate::text::Text;
use crate::{RawJson, RawObject, read};

// read: it has been read as text, and halves of surrogate pairs are mended where the whole message is read.
type TextDeserializer<'de> = serde_json::Deserializer<serde_json::de::StrRead<'de>>;

/// A union whose variant is named by one member.
pub trait Tagged: Sized {
    /// The member that holds the tag.
    const KEY: &'static str;

    /// Whether there is a variant of that tag.
    fn knows(tag: &str) -> bool;

    /// Decodes the variant that `tag` names from the members other than the tag.
    ///
    /// # Errors
    ///
    /// When the members are not the variant's, or the union is closed and has no such variant.
    fn decode<'de, D: Deserializer<'de>>(tag: &str, members: D) -> Result<Self, D::Error>;

    /// Keeps an object whose tag no variant has, tag included.
    ///
    /// # Errors
    ///
    /// When the union is closed, or the object lacks a member that every variant must have.
    fn unknown<E: Error>(tag: &str, object: RawObject) -> Result<Self, E>;

    /// Decodes an object without a tag.
    ///
    /// # Errors
    ///
    /// When every variant has a tag, or the members are not those of the variant without.
    fn decode_untagged<'de, D: Deserializer<'de>>(members: D) -> Result<Self, D::Error> {
        drop(members);
        Err(D::Error::missing_field(Self::KEY))
    }
}

/// Reads a union.
///
/// # Errors
///
/// When the value is no object, has no tag or more than one, or the members are not those of the variant that it names.
pub fn read_tagged<'de, T: Tagged, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_map(TaggedVisitor(PhantomData))
}

struct TaggedVisitor<T>(PhantomData<T>);

impl<'de, T: Tagged> Visitor<'de> for TaggedVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with the member {:?}", T::KEY)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let first: Option<Text<'de>> = map.next_key()?;
        if first.as_ref().is_some_and(|key| key.as_str() == T::KEY) {
            let tag: Text<'de> = map.next_value()?;
            return T::decode(
                tag.as_str(),
                MapAccessDeserializer::new(Untagged { map, key: T::KEY, tags: 0 }),
            );
        }
        let members = Members::collect(first, map)?;
        match members.tag(T::KEY).map_err(A::Error::custom)? {
            None => T::decode_untagged(MapAccessDeserializer::new(members.access())),
            Some(tag) if T::knows(&tag) => {
                let map = Untagged { map: members.access(), key: T::KEY, tags: 1 };
                T::decode(&tag, MapAccessDeserializer::new(map))
            }
            Some(tag) => members.object().and_then(|object| T::unknown(&tag, object)),
        }
        .map_err(A::Error::custom)
    }
}

/// The members of an object whose tag does not come first: the text of each, borrowed where the input can lend it, because
/// a message may be long.
struct Members<'de>(Vec<(Cow<'de, str>, Cow<'de, str>)>);

impl<'de> Members<'de> {
    fn collect<A: MapAccess<'de>>(mut name: Option<Text<'de>>, mut map: A) -> Result<Self, A::Error> {
        let mut members = Vec::new();
        while let Some(found) = name {
            members.push((found.into_cow(), map.next_value_seed(ValueText)?));
            name = map.next_key()?;
        }
        Ok(Self(members))
    }

    fn tag(&self, key: &'static str) -> Result<Option<String>, serde_json::Error> {
        let mut tags = self.0.iter().filter(|(name, _)| name == key);
        match (tags.next(), tags.next()) {
            (None, _) => Ok(None),
            (Some((_, text)), None) => read(text).map(Some),
            _ => Err(Error::duplicate_field(key)),
        }
    }

    /// Fails with the names that [`read`] refuses.
    fn object(&self) -> Result<RawObject, serde_json::Error> {
        RawObjectBuilder::new().take_all(MapAccessDeserializer::new(self.access()))
    }

    fn access(&self) -> MembersAccess<'_> {
        MembersAccess { rest: self.0.iter(), value: "" }
    }
}

struct ValueText;

impl<'de> DeserializeSeed<'de> for ValueText {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Cow<'de, str>, D::Error> {
        value_text(deserializer)
    }
}

/// Decodes collected members.
struct MembersAccess<'a> {
    rest: slice::Iter<'a, (Cow<'a, str>, Cow<'a, str>)>,
    value: &'a str,
}

impl<'a> MapAccess<'a> for MembersAccess<'a> {
    type Error = serde_json::Error;

    fn next_key_seed<K: DeserializeSeed<'a>>(&mut self, seed: K) -> Result<Option<K::Value>, Self::Error> {
        let Some((name, value)) = self.rest.next() else { return Ok(None) };
        self.value = value;
        seed.deserialize(BorrowedStrDeserializer::new(name)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'a>>(&mut self, seed: V) -> Result<V::Value, Self::Error> {
        seed.deserialize(&mut TextDeserializer::from_str(self.value))
    }
}

/// The members other than the tag. A second tag is an error: readers differ in which of two they believe, and what one of
/// them takes for a refusal must not be another's consent.
struct Untagged<A> {
    map: A,
    key: &'static str,
    /// How many tags are still to come.
    tags: u8,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Untagged<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        let Some(mut key) = self.map.next_key::<Text<'de>>()? else { return Ok(None) };
        if key.as_str() == self.key {
            let Some(left) = self.tags.checked_sub(1) else {
                return Err(A::Error::duplicate_field(self.key));
            };
            self.tags = left;
            self.map.next_value::<IgnoredAny>()?;
            match self.map.next_key()? {
                Some(next) => key = next,
                None => return Ok(None),
            }
        }
        match key.into_cow() {
            Cow::Borrowed(key) => seed.deserialize(BorrowedStrDeserializer::new(key)).map(Some),
            Cow::Owned(key) => seed.deserialize(key.into_deserializer()).map(Some),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }

    fn size_hint(&self) -> Option<usize> {
        self.map.size_hint()
    }
}

/// Puts an object together again whose tag came first and is unknown.
///
/// # Errors
///
/// When a member cannot be read.
pub fn with_tag<'de, D: Deserializer<'de>>(key: &str, tag: &str, members: D) -> Result<RawObject, D::Error> {
    let mut object = RawObjectBuilder::new();
    object.push(key, &RawJson::encode(tag).map_err(D::Error::custom)?);
    object.take_all(members)
}

/// Reads past the members of a variant that has none.
///
/// # Errors
///
/// When the text is not JSON, or the tag stands twice.
pub fn ignore_members<'de, D: Deserializer<'de>>(members: D) -> Result<(), D::Error> {
    IgnoredAny::deserialize(members).map(drop)
}

/// Makes sure that an object with an unknown tag has the member that every variant must have.
///
/// # Errors
///
/// When the member is missing or malformed.
pub fn require<T: DeserializeOwned, E: Error>(object: &RawObject, key: &'static str) -> Result<(), E> {
    let value: Option<T> = object.decode_member(key).map_err(E::custom)?;
    value.map(drop).ok_or_else(|| E::missing_field(key))
}

//! Unions whose variant is named by one member: `{"type":"text","text":"…"}`.
//!
//! Code derived by serde would buffer the whole object, because the tag might come last. Nearly all peers write it first, and
//! this side always does. After a leading tag, the other members are decoded directly into the variant's struct. If the tag
//! comes later, the members before it are first collected as undecoded text.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::vec;

use serde::de::value::{BorrowedStrDeserializer, MapAccessDeserializer};
use serde::de::{DeserializeOwned, DeserializeSeed, Error, IgnoredAny, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::raw::builder::RawObjectBuilder;
use crate::text::Text;
use crate::text::any_text::AnyText;
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
/// When the value is not an object, has no tag or more than one, or the members are not those of the variant that it names.
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
            return T::decode(tag.as_str(), Untagged::deserializer(Members::Left(map), T::KEY, 0));
        }
        match Collected::of(first, map)? {
            Collected::Borrowed(members) => of_members::<T, A>(members),
            Collected::Copied(object) => {
                let mut members = TextDeserializer::from_str(object.as_str());
                members.deserialize_map(self).map_err(A::Error::custom)
            }
        }
    }
}

/// The name and the text of a member, borrowed from the input, because a message may be long.
type BorrowedMember<'de> = (Cow<'de, str>, &'de str);

/// The members of an object whose tag does not come first.
enum Collected<'de> {
    Borrowed(Vec<BorrowedMember<'de>>),
    /// The members are copied, because the input cannot be borrowed from.
    Copied(RawObject),
}

impl<'de> Collected<'de> {
    fn of<A: MapAccess<'de>>(mut name: Option<Text<'de>>, mut map: A) -> Result<Self, A::Error> {
        let mut members = Vec::new();
        while let Some(found) = name {
            match map.next_value_seed(AnyText)?.into_cow() {
                Cow::Borrowed(value) => members.push((found.into_cow(), value)),
                Cow::Owned(value) => {
                    let mut object = object_of(&members).map_err(A::Error::custom)?;
                    object.push_read(found.as_str(), &value).map_err(A::Error::custom)?;
                    object.take_rest(&mut map)?;
                    return Ok(Self::Copied(object.build()));
                }
            }
            name = map.next_key()?;
        }
        Ok(Self::Borrowed(members))
    }
}

/// Builds an object of members. Fails for the names that [`read`] refuses.
fn object_of(members: &[BorrowedMember<'_>]) -> Result<RawObjectBuilder, serde_json::Error> {
    let mut object = RawObjectBuilder::new();
    members.iter().try_for_each(|(name, value)| object.push_read(name, value))?;
    Ok(object)
}

fn of_members<'de, T: Tagged, A: MapAccess<'de>>(members: Vec<BorrowedMember<'de>>) -> Result<T, A::Error> {
    match only_tag(&members, T::KEY).map_err(A::Error::custom)? {
        Some(tag) if !T::knows(&tag) => {
            let object = object_of(&members).map_err(A::Error::custom)?.build();
            T::unknown(&tag, object)
        }
        Some(tag) => T::decode(&tag, Untagged::<A>::deserializer(Members::of(members), T::KEY, 1)),
        None => T::decode_untagged(Untagged::<A>::deserializer(Members::of(members), T::KEY, 0)),
    }
}

fn only_tag(members: &[BorrowedMember<'_>], key: &'static str) -> Result<Option<String>, serde_json::Error> {
    let mut tags = members.iter().filter(|(name, _)| name == key);
    match (tags.next(), tags.next()) {
        (None, _) => Ok(None),
        (Some((_, text)), None) => read(text).map(Some),
        _ => Err(Error::duplicate_field(key)),
    }
}

/// The members that are still to be read. Both cases have one type, so that the reader of each variant is compiled once.
enum Members<'de, A> {
    /// The tag came first.
    Left(A),
    /// All were collected.
    Borrowed { rest: vec::IntoIter<BorrowedMember<'de>>, value: &'de str },
}

impl<'de, A> Members<'de, A> {
    fn of(members: Vec<BorrowedMember<'de>>) -> Self {
        Self::Borrowed { rest: members.into_iter(), value: "" }
    }
}

/// The members other than the tag. A second tag is an error: readers differ in which of two they believe, and what one of
/// them takes for a refusal must not be another's consent.
struct Untagged<'de, A> {
    members: Members<'de, A>,
    key: &'static str,
    /// How many tags are still to come.
    tags: u8,
}

impl<'de, A: MapAccess<'de>> Untagged<'de, A> {
    fn deserializer(members: Members<'de, A>, key: &'static str, tags: u8) -> MapAccessDeserializer<Self> {
        MapAccessDeserializer::new(Self { members, key, tags })
    }

    /// The next name that is not the tag. Apart from what each type does with it, so that it is compiled once for all.
    fn next_name(&mut self) -> Result<Option<Cow<'de, str>>, A::Error> {
        loop {
            let name = match &mut self.members {
                Members::Left(map) => map.next_key::<Text<'de>>()?.map(Text::into_cow),
                Members::Borrowed { rest, value } => rest.next().map(|(name, text)| {
                    *value = text;
                    name
                }),
            };
            if name.as_ref().is_none_or(|name| name != self.key) {
                return Ok(name);
            }
            let Some(left) = self.tags.checked_sub(1) else {
                return Err(A::Error::duplicate_field(self.key));
            };
            self.tags = left;
            self.next_value::<IgnoredAny>()?;
        }
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Untagged<'de, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        match self.next_name()? {
            None => Ok(None),
            Some(Cow::Borrowed(name)) => seed.deserialize(BorrowedStrDeserializer::new(name)).map(Some),
            Some(Cow::Owned(name)) => seed.deserialize(name.into_deserializer()).map(Some),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        match &mut self.members {
            Members::Left(map) => map.next_value_seed(seed),
            Members::Borrowed { value, .. } => {
                seed.deserialize(&mut TextDeserializer::from_str(value)).map_err(A::Error::custom)
            }
        }
    }
}

/// Rebuilds an object whose leading tag is unknown.
///
/// # Errors
///
/// When a member cannot be read.
pub fn with_tag<'de, D: Deserializer<'de>>(key: &str, tag: &str, members: D) -> Result<RawObject, D::Error> {
    let mut object = RawObjectBuilder::new();
    object.push(key, &RawJson::encode(tag).map_err(D::Error::custom)?);
    object.take_all(members)
}

/// Skips the members of a variant without members.
///
/// # Errors
///
/// When the text is not JSON, or the tag is repeated.
pub fn ignore_members<'de, D: Deserializer<'de>>(members: D) -> Result<(), D::Error> {
    IgnoredAny::deserialize(members).map(drop)
}

/// Checks that an object with an unknown tag has the member that every variant must have.
///
/// # Errors
///
/// When the member is missing or malformed.
pub fn require<T: DeserializeOwned, E: Error>(object: &RawObject, key: &'static str) -> Result<(), E> {
    let value: Option<T> = object.decode_member(key).map_err(E::custom)?;
    value.map(drop).ok_or_else(|| E::missing_field(key))
}

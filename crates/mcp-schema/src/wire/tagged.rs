//! Objects whose member `type` says what the others are.
//!
//! serde's own `tag` attribute copies every member into a buffer before it looks at the first. Here the
//! members go straight into the variant when the tag comes first, as everybody writes it; only otherwise
//! are they collected.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use agentwire_jsonrpc::read;
use serde::de::value::{MapAccessDeserializer, MapDeserializer};
use serde::de::{Error, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// An enum whose variant a member decides.
pub(crate) trait Tagged: Sized {
    /// The member's name.
    const TAG: &'static str;

    /// Reads what is left of the object into the variant that `tag` names.
    fn variant<'de, D: Deserializer<'de>>(tag: &str, rest: D) -> Result<Self, D::Error>;
}

pub(crate) fn read_tagged<'de, T: Tagged, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_map(TaggedVisitor(PhantomData))
}

/// A string that is borrowed where the text has no escapes.
#[derive(Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

struct TaggedVisitor<T>(PhantomData<T>);

impl<'de, T: Tagged> Visitor<'de> for TaggedVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with a member `{}`", T::TAG)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let Some(Text(first)) = map.next_key()? else { return Err(A::Error::missing_field(T::TAG)) };
        if first == T::TAG {
            let Text(tag) = map.next_value()?;
            return T::variant(&tag, MapAccessDeserializer::new(map));
        }
        // As text, in which a value that no type holds costs nothing where no variant looks at it.
        let mut members: Vec<(String, Box<RawValue>)> = vec![(first.into_owned(), map.next_value()?)];
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        // Of several tags the first counts, as it does where it comes first.
        let Some((_, tag)) = members.iter().find(|(name, _)| name == T::TAG) else {
            return Err(A::Error::missing_field(T::TAG));
        };
        let tag: String = read(tag.get()).map_err(A::Error::custom)?;
        members.retain(|(name, _)| name != T::TAG);
        let members = members.iter().map(|(name, value)| (name.as_str(), &**value));
        T::variant(&tag, MapDeserializer::new(members)).map_err(A::Error::custom)
    }
}

/// All members of an object whose tag nobody here knows, the tag included.
pub(crate) fn unknown_variant<'de, D: Deserializer<'de>>(
    name: &str,
    tag: &str,
    rest: D,
) -> Result<Map<String, Value>, D::Error> {
    let mut members = Map::deserialize(rest)?;
    members.insert(name.to_owned(), tag.into());
    Ok(members)
}

/// Writes such an object back, the tag first, so that the next reader need not collect it.
pub(crate) fn write_tag_first<S: Serializer>(
    name: &str,
    members: &Map<String, Value>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(members.len()))?;
    if let Some(tag) = members.get(name) {
        map.serialize_entry(name, tag)?;
    }
    for (key, value) in members.iter().filter(|(key, _)| *key != name) {
        map.serialize_entry(key, value)?;
    }
    map.end()
}

/// Reads and writes an enum of structs by their tag. The structs write their own tag, by
/// `#[serde(tag = …, rename = …)]`, which on a struct is a plain first member and costs nothing.
macro_rules! tagged_union {
    ($name:ident by $tag:literal { $( $word:literal => $variant:ident, )+ _ => Unknown }) => {
        impl crate::wire::Tagged for $name {
            const TAG: &'static str = $tag;

            fn variant<'de, D: serde::Deserializer<'de>>(tag: &str, rest: D) -> Result<Self, D::Error> {
                match tag {
                    $( $word => serde::Deserialize::deserialize(rest).map(Self::$variant), )+
                    other => crate::wire::unknown_variant($tag, other, rest).map(Self::Unknown),
                }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $( Self::$variant(value) => value.serialize(serializer), )+
                    Self::Unknown(members) => crate::wire::write_tag_first($tag, members, serializer),
                }
            }
        }

        tagged_union!(@read $name);
    };
    ($name:ident by $tag:literal { $( $word:literal => $variant:ident, )+ }) => {
        impl crate::wire::Tagged for $name {
            const TAG: &'static str = $tag;

            fn variant<'de, D: serde::Deserializer<'de>>(tag: &str, rest: D) -> Result<Self, D::Error> {
                match tag {
                    $( $word => serde::Deserialize::deserialize(rest).map(Self::$variant), )+
                    other => Err(serde::de::Error::unknown_variant(other, &[$( $word ),+])),
                }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $( Self::$variant(value) => value.serialize(serializer), )+
                }
            }
        }

        tagged_union!(@read $name);
    };
    (@read $name:ident) => {
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                crate::wire::read_tagged(deserializer)
            }
        }
    };
}

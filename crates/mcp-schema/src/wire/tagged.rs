//! Objects whose member `type` says what the others are.
//!
//! serde's own `tag` attribute copies every member into a buffer before it looks at the first. Here the
//! members go straight into the variant when the tag comes first, as everybody writes it; only otherwise
//! are they collected.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use agentwire_jsonrpc::{RawJson, RawObject, RawObjectBuilder};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// An enum whose variant a member decides.
pub(crate) trait Tagged: Sized {
    /// The member's name.
    const TAG: &'static str;

    /// Whether there is a variant of that tag.
    fn knows(tag: &str) -> bool;

    /// Reads what is left of the object into the variant that `tag` names.
    fn variant<'de, D: Deserializer<'de>>(tag: &str, rest: D) -> Result<Self, D::Error>;

    /// Keeps the whole object, whose tag no variant has.
    fn unknown<E: Error>(object: RawObject, tag: &str) -> Result<Self, E>;
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
        let mut object = RawObjectBuilder::new();
        object.take_value(&first, &mut map)?;
        object.take_rest(&mut map)?;
        let mut object = object.build();
        // Of several tags the first counts, as it does where it comes first.
        let tag = object.iter().find_map(|(name, tag)| (name == T::TAG).then_some(tag));
        let Some(tag) = tag else { return Err(A::Error::missing_field(T::TAG)) };
        let tag: String = tag.decode().map_err(A::Error::custom)?;
        if !T::knows(&tag) {
            return T::unknown(object, &tag);
        }
        object.retain(|name| name != T::TAG);
        // read: it has been read as text, and halves of surrogate pairs are mended where the whole message is read.
        let mut rest = serde_json::Deserializer::from_str(object.as_str());
        T::variant(&tag, &mut rest).map_err(A::Error::custom)
    }
}

/// Puts an object together again whose tag came first and is none that somebody here knows.
pub(crate) fn with_tag<'de, D: Deserializer<'de>>(
    name: &str,
    tag: &str,
    rest: D,
) -> Result<RawObject, D::Error> {
    let mut object = RawObjectBuilder::new();
    object.push(name, &RawJson::encode(tag).map_err(D::Error::custom)?);
    object.take_all(rest)
}

/// Reads and writes an enum of structs by their tag. The structs write their own tag, by
/// `#[serde(tag = …, rename = …)]`, which on a struct is a plain first member and costs nothing.
macro_rules! tagged_union {
    ($name:ident by $tag:literal { $( $word:literal => $variant:ident, )+ _ => Unknown }) => {
        impl crate::wire::Tagged for $name {
            const TAG: &'static str = $tag;

            fn knows(tag: &str) -> bool {
                matches!(tag, $( $word )|+)
            }

            fn variant<'de, D: serde::Deserializer<'de>>(tag: &str, rest: D) -> Result<Self, D::Error> {
                match tag {
                    $( $word => serde::Deserialize::deserialize(rest).map(Self::$variant), )+
                    other => crate::wire::with_tag($tag, other, rest).map(Self::Unknown),
                }
            }

            fn unknown<E: serde::de::Error>(object: agentwire_jsonrpc::RawObject, _: &str) -> Result<Self, E> {
                Ok(Self::Unknown(object))
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $( Self::$variant(value) => value.serialize(serializer), )+
                    Self::Unknown(object) => object.serialize(serializer),
                }
            }
        }

        tagged_union!(@read $name);
    };
    ($name:ident by $tag:literal { $( $word:literal => $variant:ident, )+ }) => {
        impl crate::wire::Tagged for $name {
            const TAG: &'static str = $tag;

            fn knows(tag: &str) -> bool {
                matches!(tag, $( $word )|+)
            }

            fn variant<'de, D: serde::Deserializer<'de>>(tag: &str, rest: D) -> Result<Self, D::Error> {
                match tag {
                    $( $word => serde::Deserialize::deserialize(rest).map(Self::$variant), )+
                    other => Self::unknown(agentwire_jsonrpc::RawObject::new(), other),
                }
            }

            fn unknown<E: serde::de::Error>(_: agentwire_jsonrpc::RawObject, tag: &str) -> Result<Self, E> {
                Err(E::unknown_variant(tag, &[$( $word ),+]))
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

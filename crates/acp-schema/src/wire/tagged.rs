//! Unions whose variant is named by one member: `{"type":"text","text":"…"}`.
//!
//! Derived code would first buffer the whole object, because the tag might come last. It nearly always comes first,
//! and we always write it first. Then what follows is decoded straight into the variant's struct; only when it comes
//! later are the members collected, as undecoded text.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::slice;

use agentwire_jsonrpc::{RawJson, RawObject, RawObjectBuilder, read, value_text};
use serde::Deserializer;
use serde::de::value::{BorrowedStrDeserializer, MapAccessDeserializer};
use serde::de::{DeserializeOwned, DeserializeSeed, Error, IgnoredAny, IntoDeserializer, MapAccess, Visitor};

use super::fields::{Text, TextDeserializer};

/// What [`tagged_union!`] writes down about a union.
pub(crate) trait Tagged: Sized {
    /// The member that holds the tag.
    const KEY: &'static str;

    /// Whether there is a variant of that tag.
    fn knows(tag: &str) -> bool;

    /// Decodes the variant that `tag` names from the members other than the tag.
    fn decode<'de, D: Deserializer<'de>>(tag: &str, members: D) -> Result<Self, D::Error>;

    /// Keeps an object whose tag no variant has, tag included.
    fn unknown<E: Error>(object: RawObject) -> Result<Self, E>;

    /// Decodes an object without a tag.
    fn decode_untagged<'de, D: Deserializer<'de>>(members: D) -> Result<Self, D::Error> {
        drop(members);
        Err(D::Error::missing_field(Self::KEY))
    }
}

pub(crate) fn deserialize<'de, T: Tagged, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
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
            Some(_) => members.object().and_then(T::unknown),
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

/// Puts an object together again whose tag came first and is none that somebody here knows.
pub(crate) fn with_tag<'de, D: Deserializer<'de>>(
    key: &str,
    tag: &str,
    members: D,
) -> Result<RawObject, D::Error> {
    let mut object = RawObjectBuilder::new();
    object.push(key, &RawJson::encode(tag).map_err(D::Error::custom)?);
    object.take_all(members)
}

/// Makes sure that such an object has the member that every variant must have.
#[cfg_attr(not(feature = "v2"), expect(dead_code, reason = "only version 2 has such a union"))]
pub(crate) fn require<T: DeserializeOwned, E: Error>(object: &RawObject, key: &'static str) -> Result<(), E> {
    let value: Option<T> = object.decode_member(key).map_err(E::custom)?;
    value.map(drop).ok_or_else(|| E::missing_field(key))
}

/// Defines a tagged union: its enum, how it is read and written, and its schema.
///
/// ```text
/// tagged_union! {
///     /// What it is.
///     Name by "type" {
///         /// What the variant is.
///         "tag" => Variant(Type) from Type,
///     }
///     untagged {
///         /// What an object without a tag is. Its own tag is read, not written.
///         "tag" => Other(Type) from Type
///     }
///     else {
///         /// What a foreign tag means: the variant keeps the whole object.
///         Unknown
///     }
/// }
/// ```
///
/// With `from`, the type converts into the union. The part `untagged` is there only where the protocol allows it.
/// `else requiring "key" => Type` says that also an object with a foreign tag must have that member; there may be several.
macro_rules! tagged_union {
    (
        $(#[$doc:meta])*
        $name:ident by $key:literal {
            $($(#[$variant_doc:meta])* $tag:literal => $variant:ident($type:ty) $(from $from:ty)?,)+
        }
        $(untagged {
            $(#[$plain_doc:meta])*
            $plain_tag:literal => $plain:ident($plain_type:ty) $(from $plain_from:ty)?
        })?
        else $(requiring $($needed:literal => $needed_type:ty),+)? {
            $(#[$unknown_doc:meta])*
            Unknown
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$variant_doc])* $variant($type),)+
            $($(#[$plain_doc])* $plain($plain_type),)?
            $(#[$unknown_doc])*
            Unknown($crate::common::Meta),
        }

        impl $crate::wire::tagged::Tagged for $name {
            const KEY: &'static str = $key;

            fn knows(tag: &str) -> bool {
                matches!(tag, $($tag)|+ $(| $plain_tag)?)
            }

            fn decode<'de, D: serde::Deserializer<'de>>(tag: &str, members: D) -> Result<Self, D::Error> {
                use serde::Deserialize as _;

                match tag {
                    $($tag => <$type>::deserialize(members).map(Self::$variant),)+
                    $($plain_tag => <$plain_type>::deserialize(members).map(Self::$plain),)?
                    _ => Self::unknown($crate::wire::tagged::with_tag($key, tag, members)?),
                }
            }

            fn unknown<E: serde::de::Error>(object: $crate::common::Meta) -> Result<Self, E> {
                $($($crate::wire::tagged::require::<$needed_type, E>(&object, $needed)?;)+)?
                Ok(Self::Unknown(object))
            }

            $(
                fn decode_untagged<'de, D: serde::Deserializer<'de>>(members: D) -> Result<Self, D::Error> {
                    use serde::Deserialize as _;

                    <$plain_type>::deserialize(members).map(Self::$plain)
                }
            )?
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::wire::tagged::deserialize(deserializer)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                /// Flattening buffers nothing when writing.
                #[derive(serde::Serialize)]
                struct Variant<'a, T> {
                    #[serde(rename = $key)]
                    tag: &'static str,
                    #[serde(flatten)]
                    members: &'a T,
                }

                match self {
                    $(Self::$variant(members) => Variant { tag: $tag, members }.serialize(serializer),)+
                    $(Self::$plain(members) => members.serialize(serializer),)?
                    Self::Unknown(object) => object.serialize_members(serializer),
                }
            }
        }

        #[cfg(feature = "schema")]
        $crate::wire::described_by! {
            $name $(requiring $($needed => $needed_type,)+)?
            $(#[$doc])*
            #[derive(schemars::JsonSchema)]
            #[schemars(tag = $key)]
            #[allow(dead_code, reason = "only its shape is looked at")]
            enum Described {
                $($(#[$variant_doc])* #[schemars(rename = $tag)] $variant($type),)+
                $($(#[$plain_doc])* #[schemars(untagged)] $plain($plain_type),)?
            }
        }

        $($(
            impl From<$from> for $name {
                fn from(value: $from) -> Self {
                    Self::$variant(value.into())
                }
            }
        )?)+
        $($(
            impl From<$plain_from> for $name {
                fn from(value: $plain_from) -> Self {
                    Self::$plain(value.into())
                }
            }
        )?)?
    };
}
pub(crate) use tagged_union;

//! `WithAdditions`: a stable object and its draft additions, flattened into one JSON object. A macro declares the request methods whose
//! params are such a pair.

use std::ops::{Deref, DerefMut};

use agentwire_jsonrpc::RawObject;
use agentwire_jsonrpc::wire::{WriteMembers, write_members};
use agentwire_wire_derive::{Build, Wire};
use serde::de::{DeserializeOwned, Error};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A type of a version together with the members that drafts add to it. On the wire they are one object.
///
/// It dereferences to the type without the additions.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct WithAdditions<T, A> {
    /// The object without the additions.
    pub stable: T,
    /// The additions.
    pub added: A,
}

impl<T, A> WithAdditions<T, A> {
    /// Puts the two together.
    pub fn new(stable: T, added: A) -> Self {
        Self { stable, added }
    }
}

impl<T, A> Deref for WithAdditions<T, A> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.stable
    }
}

impl<T, A> DerefMut for WithAdditions<T, A> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.stable
    }
}

impl<T, A: Default> From<T> for WithAdditions<T, A> {
    fn from(stable: T) -> Self {
        Self { stable, added: A::default() }
    }
}

impl<T: WriteMembers, A: WriteMembers> WriteMembers for WithAdditions<T, A> {
    fn write_members<M: SerializeMap>(&self, members: &mut M) -> Result<(), M::Error> {
        self.stable.write_members(members)?;
        self.added.write_members(members)
    }
}

impl<T: WriteMembers, A: WriteMembers> Serialize for WithAdditions<T, A> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write_members(self, serializer)
    }
}

/// Reads the members twice: each half passes over those of the other.
impl<'de, T: DeserializeOwned, A: DeserializeOwned> Deserialize<'de> for WithAdditions<T, A> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let object = RawObject::deserialize(deserializer)?;
        let stable = object.decode().map_err(D::Error::custom)?;
        Ok(Self { stable, added: object.decode().map_err(D::Error::custom)? })
    }
}

/// The definition without the additions, which the generator lists separately.
#[cfg(feature = "schema")]
impl<T: schemars::JsonSchema, A> schemars::JsonSchema for WithAdditions<T, A> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> std::borrow::Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        T::json_schema(generator)
    }
}

#[cfg(feature = "schema")]
impl<T, A: schemars::JsonSchema> super::Added for WithAdditions<T, A> {
    fn added(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        A::json_schema(generator)
    }
}

/// No addition: for params to which drafts add nothing although they add to the answer.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct Unchanged {}

/// Defines requests of a version with an addition to their params, and perhaps with another answer.
///
/// ```text
/// draft_requests! {
///     /// `session/new` with a system prompt.
///     v1::NewSessionRequest + SystemPromptAddition -> v1::NewSessionResponse,
/// }
/// ```
macro_rules! draft_requests {
    ($($(#[$doc:meta])* $version:ident::$name:ident + $addition:ident -> $response:path,)+) => {$(
        $(#[$doc])*
        pub type $name = $crate::common::unstable::WithAdditions<$version::$name, $addition>;

        impl agentwire_jsonrpc::RequestMethod for $name {
            const NAME: &'static str = <$version::$name as agentwire_jsonrpc::RequestMethod>::NAME;
            type Response = $response;
        }
    )+};
}
pub(crate) use draft_requests;

//! Reads and writes objects member by member, for derived code.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeOwned, DeserializeSeed, Error, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserializer, Serializer};
use serde_json::{Map, Value};

use super::read_as::{ReadAs, Seed};
use crate::RawObject;
use crate::raw::empty_array::read_object;
use crate::raw::skipped::{PathStep, is_lenient, note_skipped, push_step};
use crate::text::Text;

/// A type that is read from the members of an object.
pub trait ReadMembers<'de>: Sized {
    /// The type's name, for errors.
    const NAME: &'static str;

    /// The position of the named member of the type.
    fn position(name: &str) -> Option<usize>;

    /// Reads the members.
    ///
    /// # Errors
    ///
    /// When a member is missing, is repeated or cannot be read.
    fn read<A: MapAccess<'de>>(members: A) -> Result<Self, A::Error>;
}

/// Reads a type from an object, or from an empty array, which is an empty object. Code derived by serde would accept any
/// array, as members by position.
///
/// # Errors
///
/// When the value is neither, or its members cannot be read.
#[inline]
pub fn read_members<'de, T: ReadMembers<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct ObjectVisitor<T>(PhantomData<T>);

    impl<'de, T: ReadMembers<'de>> Visitor<'de> for ObjectVisitor<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "an object of the type {}", T::NAME)
        }

        #[inline]
        fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<T, A::Error> {
            T::read(members)
        }
    }

    read_object(deserializer, ObjectVisitor(PhantomData))
}

/// Reads a name as the position of the member of `T`, without a copy.
struct Position<T>(PhantomData<T>);

/// The name of a member.
#[expect(clippy::exhaustive_enums, reason = "generated code looks at both")]
#[derive(Debug)]
pub enum Key<'de> {
    /// A member of the type.
    Own(usize),
    /// Any other member.
    Other(Text<'de>),
}

impl<'de> Key<'de> {
    /// Reads the next member's name, for a type that ignores other members. `Some(None)` is a member that the type does not have, and
    /// `None` is the end of the object.
    ///
    /// # Errors
    ///
    /// When the name cannot be read.
    #[inline]
    pub fn own<T: ReadMembers<'de>, A: MapAccess<'de>>(
        members: &mut A,
    ) -> Result<Option<Option<usize>>, A::Error> {
        members.next_key_seed(Position::<T>(PhantomData))
    }

    /// Reads the next member's name, for a type that keeps other members.
    ///
    /// # Errors
    ///
    /// When the name cannot be read.
    #[inline]
    pub fn any<T: ReadMembers<'de>, A: MapAccess<'de>>(members: &mut A) -> Result<Option<Self>, A::Error> {
        let Some(name) = members.next_key::<Text<'de>>()? else { return Ok(None) };
        Ok(Some(T::position(name.as_str()).map_or(Self::Other(name), Self::Own)))
    }
}

impl<'de, T: ReadMembers<'de>> DeserializeSeed<'de> for Position<T> {
    type Value = Option<usize>;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<usize>, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl<'de, T: ReadMembers<'de>> Visitor<'de> for Position<T> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a member")
    }

    #[inline]
    fn visit_str<E: Error>(self, name: &str) -> Result<Option<usize>, E> {
        Ok(T::position(name))
    }
}

/// Reads the value of a member into `slot`: by the rule `W`, or by the rule `L` in a
/// [lenient](crate::RawJson::decode_leniently) decoding.
///
/// # Errors
///
/// When the member is repeated, because readers differ in which of two they use, and when the value cannot be read.
#[inline]
pub fn take<'de, W, L, T, A>(
    slot: &mut Option<T>,
    name: &'static str,
    members: &mut A,
) -> Result<(), A::Error>
where
    W: ReadAs<'de, T>,
    L: ReadAs<'de, T>,
    A: MapAccess<'de>,
{
    if slot.is_some() {
        return duplicate(name);
    }
    *slot = Some(if is_lenient() {
        take_leniently::<L, T, A>(name, members)?
    } else {
        members.next_value_seed(Seed::<W, T>::NEW)?
    });
    Ok(())
}

#[cold]
#[inline(never)]
fn take_leniently<'de, L: ReadAs<'de, T>, T, A: MapAccess<'de>>(
    name: &'static str,
    members: &mut A,
) -> Result<T, A::Error> {
    let _entered = push_step(PathStep::Member(name));
    members.next_value_seed(Seed::<L, T>::NEW)
}

/// The value for a missing member that the protocol requires. A [lenient](crate::RawJson::decode_leniently) decoding uses the
/// default and records that.
///
/// # Errors
///
/// Fails in a strict decoding.
#[cold]
pub fn default_if_lenient<T: Default, E: Error>(name: &'static str) -> Result<T, E> {
    if !is_lenient() {
        return Err(E::missing_field(name));
    }
    let _entered = push_step(PathStep::Member(name));
    note_skipped::<T>(None, &E::missing_field(name));
    Ok(T::default())
}

#[cold]
fn duplicate<E: Error>(name: &'static str) -> Result<(), E> {
    Err(E::duplicate_field(name))
}

/// Decodes one required member.
///
/// # Errors
///
/// When the member is missing, is repeated or cannot be read.
pub fn required<T: DeserializeOwned, E: Error>(object: &RawObject, name: &'static str) -> Result<T, E> {
    object.decode_member(name).map_err(E::custom)?.ok_or_else(|| E::missing_field(name))
}

/// A type that stores the members of an object without a field.
pub trait ExtraMembers: Sized {
    /// Makes the value from the members.
    ///
    /// # Errors
    ///
    /// When the type cannot hold a member, such as a number beyond the greatest `f64`.
    fn from_members(members: RawObject) -> Result<Self, serde_json::Error>;
}

impl ExtraMembers for RawObject {
    #[inline]
    fn from_members(members: RawObject) -> Result<Self, serde_json::Error> {
        Ok(members)
    }
}

impl ExtraMembers for Map<String, Value> {
    fn from_members(members: RawObject) -> Result<Self, serde_json::Error> {
        if members.is_empty() { Ok(Self::new()) } else { members.decode() }
    }
}

/// A type that is written as members of an object.
pub trait WriteMembers {
    /// Writes the members into an open object.
    ///
    /// # Errors
    ///
    /// When a value has no JSON form, or the serializer fails.
    fn write_members<M: SerializeMap>(&self, members: &mut M) -> Result<(), M::Error>;
}

/// Writes a type as an object of its own.
///
/// # Errors
///
/// When a value has no JSON form, or the serializer fails.
#[inline]
pub fn write_members<T: WriteMembers, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    let mut members = serializer.serialize_map(None)?;
    value.write_members(&mut members)?;
    members.end()
}

impl<T: WriteMembers> WriteMembers for Box<T> {
    #[inline]
    fn write_members<M: SerializeMap>(&self, members: &mut M) -> Result<(), M::Error> {
        T::write_members(self, members)
    }
}

/// Writes the members, or nothing for `None`.
impl<T: WriteMembers> WriteMembers for Option<T> {
    #[inline]
    fn write_members<M: SerializeMap>(&self, members: &mut M) -> Result<(), M::Error> {
        self.as_ref().map_or(Ok(()), |value| value.write_members(members))
    }
}

impl WriteMembers for RawObject {
    fn write_members<M: SerializeMap>(&self, members: &mut M) -> Result<(), M::Error> {
        for (name, value) in self.iter() {
            members.serialize_entry(&name, &value)?;
        }
        Ok(())
    }
}

impl WriteMembers for Map<String, Value> {
    fn write_members<M: SerializeMap>(&self, members: &mut M) -> Result<(), M::Error> {
        self.iter().try_for_each(|(name, value)| members.serialize_entry(name, value))
    }
}

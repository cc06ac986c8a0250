//! Finds out whether text can fill the members of an argument type. The arguments of a prompt and the variables of a template
//! are strings.
//!
//! The `Deserialize` of a type asks for its members, and for the kind of each value. So the type is deserialized once for each
//! member, from that member alone, and a probe records the kinds.

use std::cell::Cell;

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use crate::decode::faults::{Fault, Placeholder};

/// Checks that a type can be read from texts. If `given` is set, only the texts of these names are present. A type whose members
/// are not known before it is read, such as a map or one with `#[serde(flatten)]`, always passes.
///
/// # Errors
///
/// The reason, for the author of the type.
pub(crate) fn check<A: DeserializeOwned>(given: Option<&[&str]>) -> Result<(), String> {
    let members = match declared::<A>() {
        // A function without arguments ignores the texts.
        None | Some([]) => return Ok(()),
        Some(members) => members,
    };
    for name in given.into_iter().flatten() {
        if !members.contains(name) {
            let known: Vec<_> = members.iter().map(|member| format!("`{member}`")).collect();
            return Err(format!("no member of its arguments is `{name}`; there are {}", known.join(", ")));
        }
    }
    for name in members {
        let probe = Probe::default();
        // Other members are missing, which does not matter here.
        let _missing = A::deserialize(Root { members: std::slice::from_ref(name), probe: &probe });
        if let Some(kind) = probe.structure.get() {
            return Err(format!(
                "text cannot be read as `{name}`, which is {kind}: take a string, a number, a `bool` or an enum of strings, \
                 or read it from a string with `#[serde(deserialize_with = …)]`"
            ));
        }
    }
    let Some(given) = given else { return Ok(()) };
    match A::deserialize(Root { members: given, probe: &Probe::default() }) {
        Err(fault) => fault.missing_member().map_or(Ok(()), |name| {
            Err(format!("`{name}` is required and no variable gives it: add one, or take an `Option`"))
        }),
        Ok(_) => Ok(()),
    }
}

/// The members that a type declares. `None` if it is not a struct, or has members that are not known before it is read.
fn declared<A: DeserializeOwned>() -> Option<&'static [&'static str]> {
    let probe = Probe::default();
    let _fault = A::deserialize(Root { members: &[], probe: &probe });
    probe.declared.get()
}

/// Records the requests of a type's `Deserialize`.
#[derive(Default)]
struct Probe {
    declared: Cell<Option<&'static [&'static str]>>,
    /// The structure that a member is read from.
    structure: Cell<Option<&'static str>>,
}

/// Deserializes a struct from some of its members.
struct Root<'a> {
    members: &'a [&'a str],
    probe: &'a Probe,
}

impl<'de> Deserializer<'de> for Root<'_> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Fault> {
        Err(Fault::custom("it is not a struct"))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.probe.declared.set(Some(fields));
        visitor.visit_map(Members { rest: self.members.iter(), probe: self.probe })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct seq tuple
        tuple_struct map enum identifier ignored_any
    }
}

struct Members<'a> {
    rest: std::slice::Iter<'a, &'a str>,
    probe: &'a Probe,
}

impl<'de> MapAccess<'de> for Members<'_> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        let Some(name) = self.rest.next() else { return Ok(None) };
        let name: StrDeserializer<'_, Fault> = (*name).into_deserializer();
        seed.deserialize(name).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Fault> {
        seed.deserialize(Member(self.probe))
    }
}

/// Refuses and records a request for a structure. Gives a placeholder for anything else.
struct Member<'a>(&'a Probe);

impl Member<'_> {
    fn refuse<T>(self, kind: &'static str) -> Result<T, Fault> {
        self.0.structure.set(Some(kind));
        Err(Fault::custom(kind))
    }
}

macro_rules! placeholders {
    ($($method:ident)+) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            Placeholder::default().$method(visitor)
        })+
    };
}

impl<'de> Deserializer<'de> for Member<'_> {
    type Error = Fault;

    placeholders! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128 deserialize_u8
        deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128 deserialize_f32 deserialize_f64 deserialize_char
        deserialize_str deserialize_string deserialize_identifier deserialize_bytes deserialize_byte_buf deserialize_any
        deserialize_unit deserialize_ignored_any
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        Placeholder::default().deserialize_unit_struct(name, visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        Placeholder::default().deserialize_enum(name, variants, visitor)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Fault> {
        self.refuse("an array")
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Fault> {
        self.refuse("an array")
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        _: V,
    ) -> Result<V::Value, Fault> {
        self.refuse("an array")
    }

    fn deserialize_map<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Fault> {
        self.refuse("an object")
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Fault> {
        self.refuse("an object")
    }
}

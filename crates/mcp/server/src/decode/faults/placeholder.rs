//! A value of any type, in the place of one that is wrong or absent, so that decoding goes on to the next fault. It also finds
//! the order in which a type declares its members.

use std::cell::RefCell;

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error, IntoDeserializer, MapAccess,
    SeqAccess, VariantAccess, Visitor,
};

use super::fault::Fault;

/// How deep the made values nest. A type can name itself.
const DEPTH: usize = 16;

/// How many structs are looked at for the order of their members. A type can name itself several times.
const MAX_STRUCTS: usize = 256;

/// Zero, empty, null, or the first variant: whatever the type asks for. Some types refuse all of these.
#[derive(Clone, Copy, Default)]
pub(crate) struct Placeholder<'a> {
    depth: usize,
    /// Collects the members of structs. If it is set, options and lists have a value.
    structs: Option<&'a RefCell<Vec<Members>>>,
}

/// The names of a struct's members, as it declares them.
pub(crate) type Members = &'static [&'static str];

/// The members of a type and of the types in it, as far as they can be reached.
pub(crate) fn declared_members<A: DeserializeOwned>() -> Vec<Members> {
    let structs = RefCell::default();
    // Some types refuse the values. The members that follow are not found.
    let _ = A::deserialize(Placeholder { depth: 0, structs: Some(&structs) });
    structs.into_inner()
}

impl Placeholder<'_> {
    /// Whether the inner values of options and lists are visited. Half of the depth is left for the structs in them, since
    /// one that nests too deeply ends the visit of all others.
    fn goes_on(self) -> bool {
        self.depth < DEPTH / 2 && self.structs.is_some_and(|structs| structs.borrow().len() < MAX_STRUCTS)
    }

    fn inner(self) -> Result<Self, Fault> {
        match self.depth {
            DEPTH => Err(Fault::custom("the type nests too deeply")),
            depth => Ok(Self { depth: depth + 1, ..self }),
        }
    }
}

macro_rules! zeros {
    ($($method:ident $visit:ident $value:expr;)+) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            visitor.$visit($value)
        })+
    };
}

impl<'de> Deserializer<'de> for Placeholder<'_> {
    type Error = Fault;

    zeros! {
        deserialize_bool visit_bool false;
        deserialize_i8 visit_i8 0;
        deserialize_i16 visit_i16 0;
        deserialize_i32 visit_i32 0;
        deserialize_i64 visit_i64 0;
        deserialize_i128 visit_i128 0;
        deserialize_u8 visit_u8 0;
        deserialize_u16 visit_u16 0;
        deserialize_u32 visit_u32 0;
        deserialize_u64 visit_u64 0;
        deserialize_u128 visit_u128 0;
        deserialize_f32 visit_f32 0.0;
        deserialize_f64 visit_f64 0.0;
        deserialize_char visit_char ' ';
        deserialize_str visit_str "";
        deserialize_string visit_str "";
        deserialize_identifier visit_str "";
        deserialize_bytes visit_bytes &[];
        deserialize_byte_buf visit_bytes &[];
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_unit()
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if self.goes_on() { visitor.visit_some(self.inner()?) } else { visitor.visit_none() }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_unit()
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self.inner()?)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let (left, element) = if self.goes_on() { (1, self.inner()?) } else { (0, self) };
        visitor.visit_seq(Elements { left, element })
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_seq(Elements { left: length, element: self.inner()? })
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.deserialize_tuple(length, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_map(Fields { names: &[], value: self })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        if let Some(structs) = self.structs {
            structs.borrow_mut().push(fields);
        }
        visitor.visit_map(Fields { names: fields, value: self.inner()? })
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let first = variants.first().ok_or_else(|| Fault::custom("the enum has no variants"))?;
        visitor.visit_enum(Variant { name: first, content: self.inner()? })
    }
}

struct Elements<'a> {
    left: usize,
    element: Placeholder<'a>,
}

impl<'de> SeqAccess<'de> for Elements<'_> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Fault> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
        self.left = left;
        seed.deserialize(self.element).map(Some)
    }
}

struct Fields<'a> {
    names: Members,
    value: Placeholder<'a>,
}

impl<'de> MapAccess<'de> for Fields<'_> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        let Some((name, rest)) = self.names.split_first() else { return Ok(None) };
        self.names = rest;
        let name: StrDeserializer<'_, Fault> = (*name).into_deserializer();
        seed.deserialize(name).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Fault> {
        seed.deserialize(self.value)
    }
}

struct Variant<'a> {
    name: &'static str,
    content: Placeholder<'a>,
}

impl<'de, 'a> EnumAccess<'de> for Variant<'a> {
    type Error = Fault;
    type Variant = Placeholder<'a>;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Placeholder<'a>), Fault> {
        let name: StrDeserializer<'_, Fault> = self.name.into_deserializer();
        Ok((seed.deserialize(name)?, self.content))
    }
}

impl<'de> VariantAccess<'de> for Placeholder<'_> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Fault> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_tuple(length, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.deserialize_struct("", fields, visitor)
    }
}

//! A string argument as a deserializer.

use std::marker::PhantomData;

use serde::de::value::StrDeserializer;
use serde::de::{Deserializer, Error, IntoDeserializer, Unexpected, Visitor};
use serde::forward_to_deserialize_any;

/// A string. It is parsed where the type is a number, a `bool` or an enum.
#[derive(Clone, Copy)]
pub(crate) struct StringArg<'a, E>(&'a str, PhantomData<E>);

impl<'a, E> StringArg<'a, E> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self(text, PhantomData)
    }
}

impl<'de, E: Error> IntoDeserializer<'de, E> for StringArg<'_, E> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

macro_rules! parse {
    ($($method:ident $visit:ident $kind:ty)+) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
            match self.0.parse::<$kind>() {
                Ok(parsed) => visitor.$visit(parsed),
                Err(_) => Err(E::invalid_type(Unexpected::Str(self.0), &visitor)),
            }
        })+
    };
}

impl<'de, E: Error> Deserializer<'de> for StringArg<'_, E> {
    type Error = E;

    parse! {
        deserialize_bool visit_bool bool
        deserialize_i8 visit_i8 i8
        deserialize_i16 visit_i16 i16
        deserialize_i32 visit_i32 i32
        deserialize_i64 visit_i64 i64
        deserialize_u8 visit_u8 u8
        deserialize_u16 visit_u16 u16
        deserialize_u32 visit_u32 u32
        deserialize_i128 visit_i128 i128
        deserialize_u64 visit_u64 u64
        deserialize_u128 visit_u128 u128
        deserialize_f32 visit_f32 f32
        deserialize_f64 visit_f64 f64
        deserialize_char visit_char char
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        visitor.visit_str(self.0)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, E> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, E> {
        StrDeserializer::new(self.0).deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

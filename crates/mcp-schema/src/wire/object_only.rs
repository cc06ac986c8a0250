//! Structs that are read from an object only. Derived code would also take an array for one whose members come by
//! position.

use serde::de::Visitor;
use serde::{Deserializer, forward_to_deserialize_any};

/// A deserializer that gives a struct the members of an object, and an error for anything else.
pub(crate) struct ObjectOnly<D>(pub(crate) D);

impl<'de, D: Deserializer<'de>> Deserializer<'de> for ObjectOnly<D> {
    type Error = D::Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _members: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_map(visitor)
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// Makes a struct, without `Deserialize` among what it derives, one that is read from an object. A member's attributes
/// come in this order: docs, serde's, others. Wire names are in camel case where no attribute says otherwise.
macro_rules! object {
    (
        $(#[$attribute:meta])*
        pub struct $name:ident {
            $(
                $(#[doc = $doc:literal])*
                $(#[serde($($serde:tt)*)])*
                $(#[cfg_attr($($other:tt)*)])*
                pub $member:ident: $type:ty,
            )*
        }
    ) => {
        $(#[$attribute])*
        pub struct $name {
            $(
                $(#[doc = $doc])*
                $(#[serde($($serde)*)])*
                $(#[cfg_attr($($other)*)])*
                pub $member: $type,
            )*
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                /// Errors name it as the one around it.
                #[derive(serde::Deserialize)]
                #[serde(rename_all = "camelCase")]
                struct $name {
                    $(
                        $(#[serde($($serde)*)])*
                        $member: $type,
                    )*
                }

                let $name { $($member),* } = serde::Deserialize::deserialize(crate::wire::ObjectOnly(deserializer))?;
                Ok(Self { $($member),* })
            }
        }
    };
}

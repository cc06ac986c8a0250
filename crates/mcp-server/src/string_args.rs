//! Decodes string arguments (prompt arguments, URI-template variables) into a handler's argument type.

use std::collections::BTreeMap;

use serde::de::value::{MapDeserializer, StrDeserializer};
use serde::de::{DeserializeOwned, Deserializer, Error as _, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

type Fault = serde::de::value::Error;

/// Decodes a struct from its members, which are strings.
///
/// # Errors
///
/// What is wrong, and where.
pub(crate) fn decode_string_args<T: DeserializeOwned>(args: &BTreeMap<String, String>) -> Result<T, String> {
    let args = args.iter().map(|(name, text)| (name.as_str(), StringArg(text)));
    let reader = MapDeserializer::<_, Fault>::new(args);
    serde_path_to_error::deserialize(reader).map_err(|fault| fault.to_string())
}

/// A string. It is parsed where the type is a number, a `bool` or an enum.
#[derive(Clone, Copy)]
struct StringArg<'a>(&'a str);

impl<'de> IntoDeserializer<'de, Fault> for StringArg<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

macro_rules! parse {
    ($($method:ident $visit:ident $kind:ty)+) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            let parsed: $kind = self.0.parse().map_err(|fault| Fault::custom(format_args!("`{}`: {fault}", self.0)))?;
            visitor.$visit(parsed)
        })+
    };
}

impl<'de> Deserializer<'de> for StringArg<'_> {
    type Error = Fault;

    parse! {
        deserialize_bool visit_bool bool
        deserialize_i8 visit_i8 i8
        deserialize_i16 visit_i16 i16
        deserialize_i32 visit_i32 i32
        deserialize_i64 visit_i64 i64
        deserialize_u8 visit_u8 u8
        deserialize_u16 visit_u16 u16
        deserialize_u32 visit_u32 u32
        deserialize_u64 visit_u64 u64
        deserialize_f32 visit_f32 f32
        deserialize_f64 visit_f64 f64
        deserialize_char visit_char char
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_str(self.0)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        StrDeserializer::new(self.0).deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        i128 u128 str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "lowercase")]
    enum Tone {
        Kind,
        Stern,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    struct Wanted {
        text: String,
        number: u32,
        ratio: Option<f64>,
        tone: Tone,
        left_out: Option<bool>,
    }

    fn read(args: &[(&str, &str)]) -> Result<Wanted, String> {
        let owned = |(name, word): &(&str, &str)| ((*name).to_owned(), (*word).to_owned());
        decode_string_args(&args.iter().map(owned).collect())
    }

    #[test]
    fn words_become_what_the_type_says() {
        let read =
            read(&[("number", "7"), ("ratio", "0.5"), ("text", "12"), ("tone", "stern"), ("more", "x")]);
        let wanted =
            Wanted { text: "12".into(), number: 7, ratio: Some(0.5), tone: Tone::Stern, left_out: None };
        assert_eq!(read, Ok(wanted));
    }

    #[test]
    fn a_word_that_is_none_of_these_is_named() {
        let fault = read(&[("number", "seven"), ("text", ""), ("tone", "kind")]).expect_err("no number");
        assert!(fault.starts_with("number: `seven`: "), "{fault}");
        let fault = read(&[("number", "7"), ("text", "")]).expect_err("no tone");
        assert!(fault.contains("missing field `tone`"), "{fault}");
    }
}

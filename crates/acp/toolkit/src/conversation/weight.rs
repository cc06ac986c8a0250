//! Estimates the memory of values: their weight, in bytes.
//!
//! The length of the JSON is not a measure: an object of seven bytes of JSON is a tree node of six hundred bytes. So each
//! part of a value has a fixed weight, rather too high than too low.

use std::fmt::{self, Display};

use serde::ser::{self, Impossible, Serialize, Serializer};

/// The weight of a number, a bool or a pointer, with the spare capacity of a list and the overhead of an allocation.
const SCALAR: usize = 64;
/// The weight of a struct, including its absent members.
const STRUCT: usize = 256;
/// The weight of a map: the first node of a tree.
const MAP: usize = 640;
/// The weight of a member of a map, beside its name and its value: nodes are half empty in the worst case.
const MEMBER: usize = 96;

/// Estimates the memory of a value in bytes, rather too high than too low. Returns `usize::MAX` for a value that JSON
/// cannot express.
///
/// The length of the JSON is not a measure: an object of seven bytes of JSON is a tree node of six hundred bytes.
///
/// ```
/// use agentwire_acp_toolkit::memory_estimate;
///
/// assert!(memory_estimate("twelve bytes") >= 12);
/// ```
pub fn memory_estimate<T: Serialize + ?Sized>(value: &T) -> usize {
    // A value without JSON cannot have come from the wire.
    value.serialize(Scale).unwrap_or(usize::MAX)
}

pub(super) use memory_estimate as weight;

/// A serializer whose output is the weight of the value.
struct Scale;

/// The sum of the weights of a value's parts.
struct Sum(usize);

/// The error for a value that JSON cannot express.
#[derive(Debug, thiserror::Error)]
#[error("this has no form in JSON")]
struct NoJson;

impl ser::Error for NoJson {
    fn custom<T: Display>(_: T) -> Self {
        Self
    }
}

impl Sum {
    fn add(&mut self, weight: usize) {
        self.0 = self.0.saturating_add(weight);
    }

    fn add_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NoJson> {
        self.add(value.serialize(Scale)?);
        Ok(())
    }
}

macro_rules! scalars {
    ($($method:ident: $type:ty,)+) => {$(
        fn $method(self, _: $type) -> Result<usize, NoJson> {
            Ok(SCALAR)
        }
    )+};
}

impl Serializer for Scale {
    type Ok = usize;
    type Error = NoJson;
    type SerializeSeq = Sum;
    type SerializeTuple = Sum;
    type SerializeTupleStruct = Impossible<usize, NoJson>;
    type SerializeTupleVariant = Impossible<usize, NoJson>;
    type SerializeMap = Sum;
    type SerializeStruct = Sum;
    type SerializeStructVariant = Impossible<usize, NoJson>;

    scalars! {
        serialize_bool: bool,
        serialize_i8: i8,
        serialize_i16: i16,
        serialize_i32: i32,
        serialize_i64: i64,
        serialize_u8: u8,
        serialize_u16: u16,
        serialize_u32: u32,
        serialize_u64: u64,
        serialize_f32: f32,
        serialize_f64: f64,
        serialize_char: char,
        serialize_unit_struct: &'static str,
    }

    fn serialize_str(self, text: &str) -> Result<usize, NoJson> {
        Ok(text.len().saturating_add(SCALAR))
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<usize, NoJson> {
        struct Length(usize);
        impl fmt::Write for Length {
            fn write_str(&mut self, text: &str) -> fmt::Result {
                self.0 += text.len();
                Ok(())
            }
        }
        let mut length = Length(SCALAR);
        fmt::Write::write_fmt(&mut length, format_args!("{value}")).map_err(|_| NoJson)?;
        Ok(length.0)
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<usize, NoJson> {
        Ok(bytes.len().saturating_add(SCALAR))
    }

    fn serialize_none(self) -> Result<usize, NoJson> {
        Ok(SCALAR)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<usize, NoJson> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<usize, NoJson> {
        Ok(SCALAR)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Result<usize, NoJson> {
        Ok(SCALAR)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<usize, NoJson> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Result<usize, NoJson> {
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Sum, NoJson> {
        Ok(Sum(SCALAR))
    }

    fn serialize_tuple(self, _: usize) -> Result<Sum, NoJson> {
        Ok(Sum(SCALAR))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeTupleStruct, NoJson> {
        Err(NoJson)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, NoJson> {
        Err(NoJson)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Sum, NoJson> {
        Ok(Sum(MAP))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Sum, NoJson> {
        Ok(Sum(STRUCT))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, NoJson> {
        Err(NoJson)
    }
}

impl ser::SerializeSeq for Sum {
    type Ok = usize;
    type Error = NoJson;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NoJson> {
        self.add_value(value)
    }

    fn end(self) -> Result<usize, NoJson> {
        Ok(self.0)
    }
}

impl ser::SerializeTuple for Sum {
    type Ok = usize;
    type Error = NoJson;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NoJson> {
        self.add_value(value)
    }

    fn end(self) -> Result<usize, NoJson> {
        Ok(self.0)
    }
}

impl ser::SerializeMap for Sum {
    type Ok = usize;
    type Error = NoJson;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), NoJson> {
        self.add(MEMBER);
        self.add_value(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NoJson> {
        self.add_value(value)
    }

    fn end(self) -> Result<usize, NoJson> {
        Ok(self.0)
    }
}

impl ser::SerializeStruct for Sum {
    type Ok = usize;
    type Error = NoJson;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, _: &'static str, value: &T) -> Result<(), NoJson> {
        self.add_value(value)
    }

    fn end(self) -> Result<usize, NoJson> {
        Ok(self.0)
    }
}

#[cfg(test)]
mod tests {
    use agentwire_acp_schema::v1::ToolCall;
    use serde_json::json;

    use super::*;

    #[test]
    fn small_json_can_be_heavy() {
        assert_eq!(weight("12345678"), SCALAR + 8);
        assert_eq!(weight(&json!({})), MAP);
        assert!(weight(&json!([{ "": 0 }, { "": 0 }])) > 2 * MAP);
        assert!(weight(&ToolCall::new("1", "x".repeat(1000))) > 1000);
    }
}

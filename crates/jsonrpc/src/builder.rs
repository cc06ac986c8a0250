use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::raw::RawJson;
use crate::raw_object::RawObject;
use crate::reader::{self, RAW_VALUE};
use crate::text::Text;

/// Puts a [`RawObject`] together member by member: for a visitor that has begun to read an object before it is known that
/// the text is wanted.
///
/// Values keep their text, and members their order. White space between members is left out, and names are escaped anew.
///
/// ```
/// use agentwire_jsonrpc::{RawJson, RawObjectBuilder};
///
/// let mut object = RawObjectBuilder::new();
/// object.push("type", &RawJson::encode("x")?);
/// object.push("n", &RawJson::parse("1.50".into())?);
/// assert_eq!(object.build().as_str(), r#"{"type":"x","n":1.50}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug)]
pub struct RawObjectBuilder {
    /// The object without its last brace.
    text: String,
}

impl RawObjectBuilder {
    /// What a member takes beside its name and its value: two quotation marks, a colon, a comma or brace.
    const BESIDE: usize = 4;

    /// Begins an object.
    pub fn new() -> Self {
        Self { text: String::new() }
    }

    /// Adds a member behind the others, whether or not there is one of that name.
    pub fn push(&mut self, name: &str, value: &RawJson) {
        self.push_text(name, value.as_str());
    }

    /// Adds the member whose name has been taken from `map` already.
    ///
    /// # Errors
    ///
    /// When the value cannot be read, or the name is reserved (see [`read`](crate::read)).
    pub fn take_value<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        if reader::is_reserved(name) {
            return Err(A::Error::custom(reader::Reserved));
        }
        let Text(value) = map.next_value_seed(AnyText)?;
        reader::refuse_reserved(&value).map_err(A::Error::custom)?;
        self.push_text(name, &value);
        Ok(())
    }

    /// Adds all members that `map` has left.
    ///
    /// # Errors
    ///
    /// As [`take_value`](Self::take_value).
    pub fn take_rest<'de, A: MapAccess<'de>>(&mut self, map: &mut A) -> Result<(), A::Error> {
        while let Some(Text(name)) = map.next_key()? {
            self.take_value(&name, map)?;
        }
        Ok(())
    }

    /// Adds all members that the deserializer gives, and builds the object.
    ///
    /// # Errors
    ///
    /// As [`take_value`](Self::take_value).
    pub fn take_all<'de, D: Deserializer<'de>>(self, deserializer: D) -> Result<RawObject, D::Error> {
        deserializer.deserialize_map(AllMembers(self))
    }

    /// The object.
    pub fn build(mut self) -> RawObject {
        if self.text.is_empty() {
            return RawObject::new();
        }
        self.text.push('}');
        RawObject(RawJson::of_known(self.text.into_boxed_str().into()))
    }

    pub(crate) fn push_text(&mut self, name: &str, value: &str) {
        self.text.reserve(name.len() + value.len() + Self::BESIDE + 1);
        self.text.push(if self.text.is_empty() { '{' } else { ',' });
        if name.bytes().any(|byte| matches!(byte, 0..0x20 | b'"' | b'\\')) {
            self.text.push_str(&Value::from(name).to_string());
        } else {
            self.text.push('"');
            self.text.push_str(name);
            self.text.push('"');
        }
        self.text.push(':');
        self.text.push_str(value);
    }
}

impl Default for RawObjectBuilder {
    fn default() -> Self {
        Self::new()
    }
}

struct AllMembers(RawObjectBuilder);

impl<'de> Visitor<'de> for AllMembers {
    type Value = RawObject;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<RawObject, A::Error> {
        self.0.take_rest(&mut map)?;
        Ok(self.0.build())
    }
}

/// The JSON text of the value that a deserializer gives, borrowed where `serde_json` can lend it.
///
/// # Errors
///
/// When the deserializer fails, or is of another format than `serde_json`'s and of none that serde buffers.
pub fn value_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Cow<'de, str>, D::Error> {
    AnyText.deserialize(deserializer).map(|Text(text)| text)
}

/// The text of an object that is none to the deserializer. Kept apart from what reads text.
#[cold]
fn put_together<'de, A: MapAccess<'de>>(first: Option<Text<'de>>, mut map: A) -> Result<Text<'de>, A::Error> {
    let mut object = RawObjectBuilder::new();
    if let Some(Text(name)) = first {
        object.take_value(&name, &mut map)?;
        object.take_rest(&mut map)?;
    }
    Ok(Text(object.build().as_str().to_owned().into()))
}

/// Takes any value as its text.
pub(crate) struct AnyText;

impl<'de> DeserializeSeed<'de> for AnyText {
    type Value = Text<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Text<'de>, D::Error> {
        deserializer.deserialize_newtype_struct(RAW_VALUE, self)
    }
}

impl<'de> Visitor<'de> for AnyText {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Text<'de>, A::Error> {
        match map.next_key()? {
            Some(Text(name)) if name == RAW_VALUE => map.next_value(),
            first => put_together(first, map),
        }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Text<'de>, E> {
        Ok(Text(Value::from(text).to_string().into()))
    }

    /// Serde's own buffer, which holds no text.
    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Text<'de>, D::Error> {
        Ok(Text(Value::deserialize(deserializer)?.to_string().into()))
    }
}

//! Reads any value from a deserializer as JSON text, and builds the text of an object member by member.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::reader::{self, RAW_VALUE};
use crate::text::Text;

/// The text of an object that is built member by member, without its closing brace.
#[derive(Debug, Default)]
pub(crate) struct ObjectText(String);

/// Escapes a name for the inside of a JSON string.
pub(crate) fn escaped(name: &str) -> Cow<'_, str> {
    if name.bytes().any(|byte| matches!(byte, 0..0x20 | b'"' | b'\\')) {
        let quoted = Value::from(name).to_string();
        Cow::Owned(quoted[1..quoted.len() - 1].to_owned())
    } else {
        Cow::Borrowed(name)
    }
}

impl ObjectText {
    /// The bytes of a member in addition to its name and value: two quotation marks, a colon, a comma or brace.
    const PUNCTUATION: usize = 4;

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text of the object.
    pub(crate) fn into_text(mut self) -> String {
        if self.is_empty() {
            self.0.push('{');
        }
        self.0.push('}');
        self.0
    }

    /// Adds the member whose name was already read from `map`.
    pub(crate) fn take_value<'de, A: MapAccess<'de>>(
        &mut self,
        name: &str,
        map: &mut A,
    ) -> Result<(), A::Error> {
        let Text(value) = map.next_value_seed(AnyText)?;
        self.push_read(name, &value).map_err(A::Error::custom)
    }

    /// Adds a member that a peer wrote. Fails if its name, or a name in its value, is reserved.
    pub(crate) fn push_read(&mut self, name: &str, value: &str) -> Result<(), serde_json::Error> {
        if reader::is_reserved(name) {
            return Err(Error::custom(reader::Reserved));
        }
        reader::refuse_reserved(value)?;
        self.push(name, value);
        Ok(())
    }

    /// Adds all remaining members of `map`.
    pub(crate) fn take_rest<'de, A: MapAccess<'de>>(&mut self, map: &mut A) -> Result<(), A::Error> {
        while let Some(Text(name)) = map.next_key()? {
            self.take_value(&name, map)?;
        }
        Ok(())
    }

    /// Adds a member. The value is JSON text.
    pub(crate) fn push(&mut self, name: &str, value: &str) {
        let text = &mut self.0;
        text.reserve(name.len() + value.len() + Self::PUNCTUATION + 1);
        text.push(if text.is_empty() { '{' } else { ',' });
        text.push('"');
        text.push_str(&escaped(name));
        text.push_str("\":");
        text.push_str(value);
    }
}

/// Builds the text of an object from a deserializer that does not provide raw text. Separate from the common path.
#[cold]
fn put_together<'de, A: MapAccess<'de>>(first: Option<Text<'de>>, mut map: A) -> Result<Text<'de>, A::Error> {
    let mut object = ObjectText::default();
    if let Some(Text(name)) = first {
        object.take_value(&name, &mut map)?;
        object.take_rest(&mut map)?;
    }
    Ok(Text(object.into_text().into()))
}

/// Reads any value as its JSON text. For the newtype [`RAW_VALUE`], `serde_json` returns a map whose only member has that name and the
/// raw text. Other deserializers return the value itself.
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

    /// Called by serde's buffered deserializer, which has no raw text.
    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Text<'de>, D::Error> {
        Ok(Text(Value::deserialize(deserializer)?.to_string().into()))
    }
}

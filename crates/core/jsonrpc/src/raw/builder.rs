//! Builds a `RawObject` from members or from a serde `MapAccess`, keeping the text of each value.

use std::fmt;

use serde::Deserializer;
use serde::de::{MapAccess, Visitor};

use crate::raw::RawJson;
use crate::raw::raw_object::RawObject;
use crate::text::any_text::ObjectText;

/// Builds a [`RawObject`] member by member, for a visitor that needs the text after it has read a part of the object.
///
/// Values keep their text, and members their order. White space between members is left out, and names are escaped again.
///
/// ```
/// use agentwire_jsonrpc::RawJson;
/// use agentwire_jsonrpc::wire::RawObjectBuilder;
///
/// let mut object = RawObjectBuilder::new();
/// object.push("type", &RawJson::encode("x")?);
/// object.push("n", &RawJson::parse("1.50".into())?);
/// assert_eq!(object.build().as_str(), r#"{"type":"x","n":1.50}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug)]
pub struct RawObjectBuilder {
    text: ObjectText,
}

impl RawObjectBuilder {
    /// Begins an object.
    pub fn new() -> Self {
        Self { text: ObjectText::default() }
    }

    /// Adds a member after the others, even if there is one of that name.
    pub fn push(&mut self, name: &str, value: &RawJson) {
        self.text.push(name, value.as_str());
    }

    /// Adds a member whose value is JSON text that `serde_json` has read.
    ///
    /// # Errors
    ///
    /// When its name, or a name in its value, is reserved (see [`read`](crate::read)).
    pub(crate) fn push_read(&mut self, name: &str, value: &str) -> Result<(), serde_json::Error> {
        self.text.push_read(name, value)
    }

    /// Adds the member whose name was already read from `map`.
    ///
    /// # Errors
    ///
    /// When the value cannot be read, or the name is reserved (see [`read`](crate::read)).
    pub fn take_value<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        self.text.take_value(name, map)
    }

    /// Adds all remaining members of `map`.
    ///
    /// # Errors
    ///
    /// As [`take_value`](Self::take_value).
    pub fn take_rest<'de, A: MapAccess<'de>>(&mut self, map: &mut A) -> Result<(), A::Error> {
        self.text.take_rest(map)
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
    pub fn build(self) -> RawObject {
        RawObject::of_text(self.text)
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

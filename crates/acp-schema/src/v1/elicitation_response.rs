use std::collections::BTreeMap;
use std::fmt;

use agentwire_wire_derive::{Build, Wire};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::common::Meta;

/// The answer to `elicitation/create`.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct CreateElicitationResponse {
    /// What the person did. On the wire its members, and the member `action`, are the answer's own.
    #[wire(union)]
    pub action: ElicitationAction,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

impl CreateElicitationResponse {
    /// The person filled in the form, or agreed to visit the URL.
    #[must_use]
    pub fn accept(accepted: ElicitationAcceptAction) -> Self {
        Self::new(ElicitationAction::Accept(accepted))
    }

    /// The person said no.
    #[must_use]
    pub fn decline() -> Self {
        Self::new(ElicitationAction::Decline)
    }

    /// The person went away without an answer.
    #[must_use]
    pub fn cancel() -> Self {
        Self::new(ElicitationAction::Cancel)
    }
}

/// What the person did with an elicitation.
#[derive(Clone, Debug, PartialEq, Wire)]
#[wire(tag = "action")]
#[non_exhaustive]
pub enum ElicitationAction {
    /// They filled in the form, or agreed to visit the URL.
    #[wire("accept")]
    Accept(ElicitationAcceptAction),
    /// They said no.
    #[wire("decline")]
    Decline,
    /// They went away without an answer.
    #[wire("cancel")]
    Cancel,
    /// Something that this version does not know: the answer's members other than `_meta`. It must not be taken for any
    /// of the others, least of all for consent.
    #[wire(unknown)]
    Unknown(Meta),
}

/// What the person filled in.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ElicitationAcceptAction {
    /// The values of the form's fields, by name; none for a URL.
    #[wire(optional)]
    pub content: Option<BTreeMap<String, ElicitationContentValue>>,
}

impl ElicitationAcceptAction {
    /// Adds the value of one field.
    #[must_use]
    pub fn value(mut self, name: impl Into<String>, value: impl Into<ElicitationContentValue>) -> Self {
        self.content.get_or_insert_default().insert(name.into(), value.into());
        self
    }
}

/// The value of one field of a form.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
#[non_exhaustive]
pub enum ElicitationContentValue {
    /// Text, or the choice among several.
    String(String),
    /// An integer.
    Integer(i64),
    /// A number with a fraction, or an integer that does not fit.
    Number(f64),
    /// Yes or no.
    Boolean(bool),
    /// Several choices.
    StringArray(Vec<String>),
}

impl From<&str> for ElicitationContentValue {
    fn from(value: &str) -> Self {
        Self::String(value.to_owned())
    }
}

impl From<String> for ElicitationContentValue {
    fn from(value: String) -> Self {
        Self::String(value)
    }
}

impl From<i64> for ElicitationContentValue {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<f64> for ElicitationContentValue {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

impl From<bool> for ElicitationContentValue {
    fn from(value: bool) -> Self {
        Self::Boolean(value)
    }
}

impl From<Vec<String>> for ElicitationContentValue {
    fn from(value: Vec<String>) -> Self {
        Self::StringArray(value)
    }
}

impl<'de> Deserialize<'de> for ElicitationContentValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentValueVisitor)
    }
}

struct ContentValueVisitor;

impl<'de> Visitor<'de> for ContentValueVisitor {
    type Value = ElicitationContentValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string, a number, a boolean or an array of strings")
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Self::Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(i64::try_from(value).map_or(ElicitationContentValue::Number(value as f64), Into::into))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(value.into())
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
        Vec::deserialize(de::value::SeqAccessDeserializer::new(seq)).map(ElicitationContentValue::StringArray)
    }
}

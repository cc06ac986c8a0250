use std::collections::BTreeMap;

use agentwire_jsonrpc::RequestMethod;
use agentwire_wire_derive::{Build, Wire};
use serde::{Deserialize, Serialize};

use super::CreateElicitationResponse;
use crate::common::{ElicitationPropertySchema, ElicitationScope, ElicitationUrlMode, Meta};

/// `elicitation/create`: ask the person for input, with a form or by sending them to a URL.
///
/// Only in a mode that the client's capability `elicitation` names; a client refuses any other with
/// [`INVALID_PARAMS`](super::error_code::INVALID_PARAMS).
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct CreateElicitationRequest {
    /// What is wanted, for people.
    #[wire(required)]
    pub message: String,
    /// How to ask. On the wire its members, and the member `mode`, are the request's own.
    #[wire(union)]
    pub mode: ElicitationMode,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

impl RequestMethod for CreateElicitationRequest {
    const NAME: &'static str = "elicitation/create";
    type Response = CreateElicitationResponse;
}

/// How to ask the person.
#[derive(Clone, Debug, PartialEq, Wire)]
#[wire(tag = "mode")]
#[non_exhaustive]
pub enum ElicitationMode {
    /// With a form.
    #[wire("form", from)]
    Form(ElicitationFormMode),
    /// By sending them to a URL.
    #[wire("url", from)]
    Url(ElicitationUrlMode),
    /// In a mode that this version does not know: the request's members other than `message` and `_meta`. It must not be
    /// shown as if it were a known one.
    #[wire(unknown)]
    Unknown(Meta),
}

/// A form.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ElicitationFormMode {
    /// What the question belongs to. On the wire its members are the request's own.
    #[wire(union)]
    pub scope: ElicitationScope,
    /// The form's fields.
    #[wire(required)]
    pub requested_schema: ElicitationSchema,
}

/// The fields of a form: a small part of JSON Schema, one object with flat members.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[wire(without_new)]
#[non_exhaustive]
pub struct ElicitationSchema {
    /// Always `object`.
    #[wire(required, name = "type")]
    pub schema_type: ElicitationSchemaType,
    /// The form's title.
    #[wire(lenient)]
    pub title: Option<String>,
    /// The fields by name.
    #[wire(required)]
    pub properties: BTreeMap<String, ElicitationPropertySchema>,
    /// The names of the fields that must be filled in.
    #[wire(optional_list)]
    pub required: Option<Vec<String>>,
    /// A sentence about the form.
    #[wire(lenient)]
    pub description: Option<String>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

impl ElicitationSchema {
    /// A form without fields.
    #[must_use]
    pub fn new() -> Self {
        Self {
            schema_type: ElicitationSchemaType::Object,
            title: None,
            properties: BTreeMap::new(),
            required: None,
            description: None,
            meta: None,
        }
    }

    /// Adds a field.
    #[must_use]
    pub fn property(mut self, name: impl Into<String>, schema: impl Into<ElicitationPropertySchema>) -> Self {
        self.properties.insert(name.into(), schema.into());
        self
    }

    /// Adds a field that must be filled in.
    #[must_use]
    pub fn required_property(
        mut self,
        name: impl Into<String>,
        schema: impl Into<ElicitationPropertySchema>,
    ) -> Self {
        let name = name.into();
        self.required.get_or_insert_default().push(name.clone());
        self.property(name, schema)
    }
}

impl Default for ElicitationSchema {
    fn default() -> Self {
        Self::new()
    }
}

/// What a form's schema describes. In this version any other word is an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ElicitationSchemaType {
    /// An object, the only kind there is.
    #[default]
    Object,
}

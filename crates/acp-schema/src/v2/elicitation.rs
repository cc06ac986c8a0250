use std::collections::BTreeMap;

use agentwire_jsonrpc::Method;
use serde::{Deserialize, Serialize};

use super::CreateElicitationResponse;
use crate::common::{ElicitationPropertySchema, ElicitationScope, ElicitationUrlMode};
use crate::wire::{object, tagged_union};

object! {
    /// `elicitation/create`: ask the person for input, with a form or by sending them to a URL.
    ///
    /// Only in a mode that the client's capability `elicitation` names; a client refuses any other with
    /// [`INVALID_PARAMS`](super::error_code::INVALID_PARAMS).
    CreateElicitationRequest {
        /// What is wanted, for people.
        required message: String,
        /// How to ask. On the wire its members, and the member `mode`, are the request's own.
        union mode: ElicitationMode,
        meta,
    }
}

impl Method for CreateElicitationRequest {
    const NAME: &'static str = "elicitation/create";
    type Response = CreateElicitationResponse;
}

tagged_union! {
    /// How to ask the person.
    ElicitationMode by "mode" {
        /// With a form.
        "form" => Form(ElicitationFormMode) from ElicitationFormMode,
        /// By sending them to a URL.
        "url" => Url(ElicitationUrlMode) from ElicitationUrlMode,
    }
    else {
        /// In a mode that this version does not know: the request's members other than `message` and `_meta`. It must not be
        /// shown as if it were a known one.
        Unknown
    }
}

object! {
    /// A form.
    ElicitationFormMode {
        /// What the question belongs to. On the wire its members are the request's own.
        union scope: ElicitationScope,
        /// The form's fields.
        required requested_schema: ElicitationSchema,
    }
}

object! {
    /// The fields of a form: a small part of JSON Schema, one object with flat members.
    ElicitationSchema without new {
        /// Always `object`.
        required schema_type: ElicitationSchemaType = "type",
        /// The form's title.
        lenient title: Option<String>,
        /// The fields by name.
        required properties: BTreeMap<String, ElicitationPropertySchema>,
        /// The names of the fields that must be filled in.
        optional_list required: Option<Vec<String>>,
        /// A sentence about the form.
        lenient description: Option<String>,
        meta,
    }
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

use std::collections::BTreeMap;

use agentwire_wire_derive::{Build, Wire};

use crate::common::{ElicitationPropertySchema, Meta};

/// The fields of a form: a small part of JSON Schema, one object with flat members.
///
/// See <https://agentclientprotocol.com/protocol/v1/elicitation>.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ElicitationSchema {
    /// Always `object`.
    #[wire(default, name = "type")]
    pub schema_type: ElicitationSchemaType,
    /// The form's title.
    #[wire(lenient)]
    pub title: Option<String>,
    /// The fields by name.
    #[wire(or_default)]
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

/// What a form's schema describes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
pub enum ElicitationSchemaType {
    /// An object, the only kind there is.
    #[default]
    #[wire("object")]
    Object,
    /// A word that this version of the crate does not know, as it came.
    #[wire(unknown)]
    Other(String),
}

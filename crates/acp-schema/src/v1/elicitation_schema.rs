use std::collections::BTreeMap;

use crate::common::ElicitationPropertySchema;
use crate::wire::{object, open_enum};

object! {
    /// The fields of a form: a small part of JSON Schema, one object with flat members.
    ///
    /// See <https://agentclientprotocol.com/protocol/v1/elicitation>.
    ElicitationSchema {
        /// Always `object`.
        default schema_type: ElicitationSchemaType = "type",
        /// The form's title.
        lenient title: Option<String>,
        /// The fields by name.
        or_default properties: BTreeMap<String, ElicitationPropertySchema>,
        /// The names of the fields that must be filled in.
        optional_list required: Option<Vec<String>>,
        /// A sentence about the form.
        lenient description: Option<String>,
        meta,
    }
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

open_enum! {
    /// What a form's schema describes.
    #[derive(Default)]
    ElicitationSchemaType {
        /// An object, the only kind there is.
        #[default]
        Object = "object",
    } else Other
}

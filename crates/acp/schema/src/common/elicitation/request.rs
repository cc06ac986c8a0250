//! The macro for the params of `elicitation/create`: its modes, and the form schema with builder methods.

/// Defines a version's `elicitation/create` over its `CreateElicitationResponse` and `ElicitationSchemaType`, which must be
/// in scope around the call.
///
/// Version 1 reads a form whose members `type` and `properties` are missing, version 2 requires them. The words are those of
/// `#[wire(…)]`.
macro_rules! elicitation_request_types {
    ($(#[$doc:meta])* CreateElicitationRequest, type: $type_word:ident, properties: $properties_word:ident $(= $empty:tt)?) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, agentwire_wire_derive::Wire, agentwire_wire_derive::Build)]
        #[non_exhaustive]
        pub struct CreateElicitationRequest {
            /// The question, for people.
            #[wire(required)]
            pub message: String,
            /// How to ask. On the wire its members, and the member `mode`, are members of the request.
            #[wire(union)]
            pub mode: ElicitationMode,
            /// Extension metadata; receivers make no assumptions about its keys.
            #[wire(meta)]
            pub meta: Option<$crate::common::Meta>,
        }

        /// How to ask the person.
        #[derive(Clone, Debug, PartialEq, agentwire_wire_derive::Wire)]
        #[wire(tag = "mode")]
        #[non_exhaustive]
        pub enum ElicitationMode {
            /// With a form.
            #[wire("form", from)]
            Form(ElicitationFormMode),
            /// By sending the person to a URL.
            #[wire("url", from)]
            Url($crate::common::ElicitationUrlMode),
            /// In a mode that this version does not know: the request's members other than `message` and `_meta`. Do not
            /// show it as a known mode.
            #[wire(unknown)]
            Unknown($crate::common::Meta),
        }

        /// A form.
        #[derive(Clone, Debug, PartialEq, agentwire_wire_derive::Wire, agentwire_wire_derive::Build)]
        #[non_exhaustive]
        pub struct ElicitationFormMode {
            /// The session or request that the question belongs to. On the wire its members are members of the request.
            #[wire(union)]
            pub scope: $crate::common::ElicitationScope,
            /// The form's fields.
            #[wire(required)]
            pub requested_schema: ElicitationSchema,
        }

        /// The fields of a form: a subset of JSON Schema, one object whose properties are not nested.
        #[derive(Clone, Debug, PartialEq, agentwire_wire_derive::Wire, agentwire_wire_derive::Build)]
        #[wire(without_new)]
        #[non_exhaustive]
        pub struct ElicitationSchema {
            /// Always `object`.
            #[wire($type_word, name = "type")]
            pub schema_type: ElicitationSchemaType,
            /// The form's title.
            #[wire(lenient)]
            pub title: Option<String>,
            /// The fields by name, in the order in which a person is asked.
            #[wire(
                $properties_word,
                with = agentwire_jsonrpc::wire::pairs,
                schema(with = "std::collections::BTreeMap<String, crate::common::ElicitationPropertySchema>" $(, extend("default" = $empty))?)
            )]
            pub properties: Vec<(String, $crate::common::ElicitationPropertySchema)>,
            /// The names of the fields that the person must fill in.
            #[wire(optional_list)]
            pub required: Option<Vec<String>>,
            /// A description of the form.
            #[wire(lenient)]
            pub description: Option<String>,
            /// Extension metadata; receivers make no assumptions about its keys.
            #[wire(meta)]
            pub meta: Option<$crate::common::Meta>,
        }

        impl ElicitationSchema {
            /// Makes a form without fields.
            #[must_use]
            pub fn new() -> Self {
                Self {
                    schema_type: ElicitationSchemaType::Object,
                    title: None,
                    properties: Vec::new(),
                    required: None,
                    description: None,
                    meta: None,
                }
            }

            /// The field with this name.
            pub fn field(&self, name: &str) -> Option<&$crate::common::ElicitationPropertySchema> {
                self.properties.iter().find(|(other, _)| other == name).map(|(_, schema)| schema)
            }

            /// Adds a field.
            #[must_use]
            pub fn property(
                mut self,
                name: impl Into<String>,
                schema: impl Into<$crate::common::ElicitationPropertySchema>,
            ) -> Self {
                self.properties.push((name.into(), schema.into()));
                self
            }

            /// Adds a field that the person must fill in.
            #[must_use]
            pub fn required_property(
                mut self,
                name: impl Into<String>,
                schema: impl Into<$crate::common::ElicitationPropertySchema>,
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
    };
}
pub(crate) use elicitation_request_types;

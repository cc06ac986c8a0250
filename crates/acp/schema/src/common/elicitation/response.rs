//! The macro for the result of `elicitation/create`: the action of the person, and the values of the form fields.

/// Defines a version's answer to `elicitation/create`.
///
/// Version 1 refuses a field's value of another type, version 2 keeps it: its variant is in the braces. Each version
/// implements `Deserialize` for `ElicitationContentValue`.
macro_rules! elicitation_response_types {
    (unknown values: { $($unknown_value:tt)* }) => {
        /// The answer to `elicitation/create`.
        #[derive(Clone, Debug, PartialEq, agentwire_wire_derive::Wire, agentwire_wire_derive::Build)]
        #[non_exhaustive]
        pub struct CreateElicitationResponse {
            /// The person's decision. On the wire its members, and the member `action`, are members of the answer.
            #[wire(union)]
            pub action: ElicitationAction,
            /// Extension metadata; receivers make no assumptions about its keys.
            #[wire(meta)]
            pub meta: Option<$crate::common::Meta>,
        }

        impl CreateElicitationResponse {
            /// The person filled in the form, or agreed to visit the URL.
            #[must_use]
            pub fn accept(accepted: ElicitationAcceptAction) -> Self {
                Self::new(ElicitationAction::Accept(accepted))
            }

            /// The person refused.
            #[must_use]
            pub fn decline() -> Self {
                Self::new(ElicitationAction::Decline)
            }

            /// The person dismissed the question without an answer.
            #[must_use]
            pub fn cancel() -> Self {
                Self::new(ElicitationAction::Cancel)
            }
        }

        /// The person's decision about an elicitation.
        #[derive(Clone, Debug, PartialEq, agentwire_wire_derive::Wire)]
        #[wire(tag = "action")]
        #[non_exhaustive]
        pub enum ElicitationAction {
            /// They filled in the form, or agreed to visit the URL.
            #[wire("accept")]
            Accept(ElicitationAcceptAction),
            /// They refused.
            #[wire("decline")]
            Decline,
            /// They dismissed the question without an answer.
            #[wire("cancel")]
            Cancel,
            /// An action that this version does not know: the answer's members other than `_meta`. Treat it as
            /// [`Cancel`](Self::Cancel), never as consent.
            #[wire(unknown)]
            Unknown($crate::common::Meta),
        }

        /// The values of the form.
        #[derive(Clone, Debug, Default, PartialEq, agentwire_wire_derive::Wire, agentwire_wire_derive::Build)]
        #[non_exhaustive]
        pub struct ElicitationAcceptAction {
            /// The values of the form's fields, by name; none for a URL.
            #[wire(optional)]
            pub content: Option<std::collections::BTreeMap<String, ElicitationContentValue>>,
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
        #[derive(Clone, Debug, PartialEq, serde::Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(untagged)]
        #[non_exhaustive]
        pub enum ElicitationContentValue {
            /// Text, or one choice of several.
            String(String),
            /// An integer.
            Integer(i64),
            /// A number with a fraction, or an integer that is not an `i64`.
            Number(f64),
            /// Yes or no.
            Boolean(bool),
            /// Several choices.
            StringArray(Vec<String>),
            $($unknown_value)*
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
    };
}
pub(crate) use elicitation_response_types;

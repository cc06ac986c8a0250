//! The parts of a session configuration option that both versions share. A macro makes each version's `SessionConfigOption`,
//! whose id member differs.

use agentwire_wire_derive::{Build, Wire};

use crate::common::{Meta, SessionConfigValueId};

/// An option that is on or off.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct SessionConfigBoolean {
    /// Whether it is on.
    #[wire(required)]
    pub current_value: bool,
}

/// A value of a select.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct SessionConfigSelectOption {
    /// Identifies the value.
    #[wire(required)]
    pub value: SessionConfigValueId,
    /// The name to show to people.
    #[wire(required)]
    pub name: String,
    /// A description for people.
    #[wire(lenient)]
    pub description: Option<String>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The category of a configuration option. Custom categories begin with `_`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
pub enum SessionConfigOptionCategory {
    /// The mode.
    #[wire("mode")]
    Mode,
    /// The model.
    #[wire("model")]
    Model,
    /// A parameter of the model.
    #[wire("model_config")]
    ModelConfig,
    /// How much the model reasons.
    #[wire("thought_level")]
    ThoughtLevel,
    /// A string that this version of the crate does not know, unchanged.
    #[wire(unknown)]
    Other(String),
}

/// Defines a version's configuration option over its `SessionConfigSelectOptions` and `SessionConfigSelectGroup`, which must
/// be in scope around the call.
///
/// The member that identifies the option is `id` in version 1 and `configId` in version 2, and that of a group of values is
/// `group` or `groupId`.
macro_rules! config_option_types {
    ($(#[$doc:meta])* SessionConfigOption, identified by: $id:ident, group by: $group:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, agentwire_wire_derive::Wire, agentwire_wire_derive::Build)]
        #[non_exhaustive]
        pub struct SessionConfigOption {
            /// Identifies the option.
            #[wire(required)]
            pub $id: $crate::common::SessionConfigId,
            /// The name to show to people.
            #[wire(required)]
            pub name: String,
            /// A description for people.
            #[wire(lenient)]
            pub description: Option<String>,
            /// The subject of the option: a hint for layout. Clients must not depend on it.
            #[wire(lenient)]
            pub category: Option<$crate::common::SessionConfigOptionCategory>,
            /// Its possible values and its current value. On the wire its members, and the member `type`, are members of
            /// the option.
            #[wire(union)]
            pub kind: SessionConfigKind,
            /// Extension metadata; receivers make no assumptions about its keys.
            #[wire(meta)]
            pub meta: Option<$crate::common::Meta>,
        }

        impl SessionConfigOption {
            /// Makes an option with a list of values.
            #[must_use]
            pub fn select(
                $id: impl Into<$crate::common::SessionConfigId>,
                name: impl Into<String>,
                current_value: impl Into<$crate::common::SessionConfigValueId>,
                options: impl Into<SessionConfigSelectOptions>,
            ) -> Self {
                Self::new($id, name, SessionConfigSelect::new(current_value, options))
            }

            /// Makes an option that is on or off. In version 1 only for clients with the capability
            /// `session.configOptions.boolean`.
            #[must_use]
            pub fn boolean(
                $id: impl Into<$crate::common::SessionConfigId>,
                name: impl Into<String>,
                current_value: bool,
            ) -> Self {
                Self::new($id, name, $crate::common::SessionConfigBoolean::new(current_value))
            }
        }

        /// The possible values and the current value of a [`SessionConfigOption`].
        #[derive(Clone, Debug, PartialEq, agentwire_wire_derive::Wire)]
        #[wire(tag = "type")]
        #[non_exhaustive]
        pub enum SessionConfigKind {
            /// One of several values.
            #[wire("select", from)]
            Select(SessionConfigSelect),
            /// On or off.
            #[wire("boolean", from)]
            Boolean($crate::common::SessionConfigBoolean),
            /// A type that this version does not know: the option's members other than the common ones. Do not show the
            /// option; the agent keeps using its current value.
            #[wire(unknown)]
            Unknown($crate::common::Meta),
        }

        /// A list of values, one of which is current.
        #[derive(Clone, Debug, PartialEq, agentwire_wire_derive::Wire, agentwire_wire_derive::Build)]
        #[non_exhaustive]
        pub struct SessionConfigSelect {
            /// The current value, one of those in the list.
            #[wire(required)]
            pub current_value: $crate::common::SessionConfigValueId,
            /// The list.
            #[wire(required)]
            pub options: SessionConfigSelectOptions,
        }

        impl SessionConfigSelect {
            /// Returns whether the list has this value.
            pub fn offers(&self, value: &$crate::common::SessionConfigValueId) -> bool {
                self.options.values().any(|offered| offered.value == *value)
            }
        }

        impl SessionConfigSelectOptions {
            /// Returns the values, also those in groups.
            pub fn values(&self) -> impl Iterator<Item = &$crate::common::SessionConfigSelectOption> {
                let (values, groups) = match self {
                    Self::Ungrouped(values) => (&values[..], <&[SessionConfigSelectGroup]>::default()),
                    Self::Grouped(groups) => (Default::default(), &groups[..]),
                };
                values.iter().chain(groups.iter().flat_map(|group| &group.options))
            }
        }

        impl From<Vec<$crate::common::SessionConfigSelectOption>> for SessionConfigSelectOptions {
            fn from(options: Vec<$crate::common::SessionConfigSelectOption>) -> Self {
                Self::Ungrouped(options)
            }
        }

        impl From<Vec<SessionConfigSelectGroup>> for SessionConfigSelectOptions {
            fn from(groups: Vec<SessionConfigSelectGroup>) -> Self {
                Self::Grouped(groups)
            }
        }

        impl<'de> serde::Deserialize<'de> for SessionConfigSelectOptions {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let list = agentwire_jsonrpc::RawJson::deserialize(deserializer)?;
                if list.elements().next().is_some_and(|first| first.member($group).is_some()) {
                    list.decode().map(Self::Grouped)
                } else {
                    list.decode().map(Self::Ungrouped)
                }
                .map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(crate) use config_option_types;

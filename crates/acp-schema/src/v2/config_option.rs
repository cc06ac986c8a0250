use agentwire_jsonrpc::RawJson;
use serde::{Deserialize, Deserializer, Serialize, de};

use crate::common::{
    SessionConfigBoolean, SessionConfigGroupId, SessionConfigId, SessionConfigOptionCategory,
    SessionConfigSelectOption, SessionConfigValueId,
};
use crate::wire::{object, tagged_union};

object! {
    /// Something about a session that the person can set, such as the model, and what it is set to.
    ///
    /// The order in a list means something: the agent puts the more important ones first. See
    /// <https://agentclientprotocol.com/protocol/v2/session-config-options>.
    SessionConfigOption {
        /// Names the option.
        required config_id: SessionConfigId,
        /// What to call it in front of people.
        required name: String,
        /// A sentence about it, for people.
        lenient description: Option<String>,
        /// What it is about: a hint for layout, on which nothing may depend.
        lenient category: Option<SessionConfigOptionCategory>,
        /// What it can be set to and is set to. On the wire its members, and the member `type`, are the option's own.
        union kind: SessionConfigKind,
        meta,
    }
}

impl SessionConfigOption {
    /// An option with a list of values.
    #[must_use]
    pub fn select(
        config_id: impl Into<SessionConfigId>,
        name: impl Into<String>,
        current_value: impl Into<SessionConfigValueId>,
        options: impl Into<SessionConfigSelectOptions>,
    ) -> Self {
        Self::new(config_id, name, SessionConfigSelect::new(current_value, options))
    }

    /// An option that is on or off.
    #[must_use]
    pub fn boolean(
        config_id: impl Into<SessionConfigId>,
        name: impl Into<String>,
        current_value: bool,
    ) -> Self {
        Self::new(config_id, name, SessionConfigBoolean::new(current_value))
    }
}

tagged_union! {
    /// What a [`SessionConfigOption`] can be set to and is set to.
    SessionConfigKind by "type" {
        /// One of several values.
        "select" => Select(SessionConfigSelect) from SessionConfigSelect,
        /// On or off.
        "boolean" => Boolean(SessionConfigBoolean) from SessionConfigBoolean,
    }
    else {
        /// Something of a type that this version does not know: the option's members other than the common ones. Do not
        /// show it; the agent goes on with the value it has.
        Unknown
    }
}

object! {
    /// An option with a list of values.
    SessionConfigSelect {
        /// The value it has, one of those in the list.
        required current_value: SessionConfigValueId,
        /// The list.
        required options: SessionConfigSelectOptions,
    }
}

/// The values of a select, flat or in groups: at least one, each named once. Told apart by the member `groupId` of the
/// first one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
#[non_exhaustive]
pub enum SessionConfigSelectOptions {
    /// A flat list.
    Ungrouped(#[cfg_attr(feature = "schema", schemars(length(min = 1)))] Vec<SessionConfigSelectOption>),
    /// Lists under headings.
    Grouped(#[cfg_attr(feature = "schema", schemars(length(min = 1)))] Vec<SessionConfigSelectGroup>),
}

impl From<Vec<SessionConfigSelectOption>> for SessionConfigSelectOptions {
    fn from(options: Vec<SessionConfigSelectOption>) -> Self {
        Self::Ungrouped(options)
    }
}

impl From<Vec<SessionConfigSelectGroup>> for SessionConfigSelectOptions {
    fn from(groups: Vec<SessionConfigSelectGroup>) -> Self {
        Self::Grouped(groups)
    }
}

impl<'de> Deserialize<'de> for SessionConfigSelectOptions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let list = RawJson::deserialize(deserializer)?;
        if list.elements().next().is_some_and(|first| first.member("groupId").is_some()) {
            list.decode().map(Self::Grouped)
        } else {
            list.decode().map(Self::Ungrouped)
        }
        .map_err(de::Error::custom)
    }
}

object! {
    /// Values of a select under one heading.
    SessionConfigSelectGroup {
        /// Names the group.
        required group_id: SessionConfigGroupId,
        /// The heading.
        required name: String,
        /// The values, at least one.
        #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
        required_items options: Vec<SessionConfigSelectOption>,
        meta,
    }
}

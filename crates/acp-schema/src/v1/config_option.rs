use agentwire_jsonrpc::RawJson;
use agentwire_wire_derive::{Build, Wire};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::common::{
    Meta, SessionConfigBoolean, SessionConfigGroupId, SessionConfigId, SessionConfigOptionCategory,
    SessionConfigSelectOption, SessionConfigValueId,
};

/// Something about a session that the person can set, such as the model, and what it is set to.
///
/// The order in a list means something: the agent puts the more important ones first. See
/// <https://agentclientprotocol.com/protocol/v1/session-config-options>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct SessionConfigOption {
    /// Names the option.
    #[wire(required)]
    pub id: SessionConfigId,
    /// What to call it in front of people.
    #[wire(required)]
    pub name: String,
    /// A sentence about it, for people.
    #[wire(lenient)]
    pub description: Option<String>,
    /// What it is about: a hint for layout, on which nothing may depend.
    #[wire(lenient)]
    pub category: Option<SessionConfigOptionCategory>,
    /// What it can be set to and is set to. On the wire its members, and the member `type`, are the option's own.
    #[wire(union)]
    pub kind: SessionConfigKind,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

impl SessionConfigOption {
    /// An option with a list of values.
    #[must_use]
    pub fn select(
        id: impl Into<SessionConfigId>,
        name: impl Into<String>,
        current_value: impl Into<SessionConfigValueId>,
        options: impl Into<SessionConfigSelectOptions>,
    ) -> Self {
        Self::new(id, name, SessionConfigSelect::new(current_value, options))
    }

    /// An option that is on or off. Only for clients with the capability `session.configOptions.boolean`.
    #[must_use]
    pub fn boolean(id: impl Into<SessionConfigId>, name: impl Into<String>, current_value: bool) -> Self {
        Self::new(id, name, SessionConfigBoolean::new(current_value))
    }
}

/// What a [`SessionConfigOption`] can be set to and is set to.
#[derive(Clone, Debug, PartialEq, Wire)]
#[wire(tag = "type")]
#[non_exhaustive]
pub enum SessionConfigKind {
    /// One of several values.
    #[wire("select", from)]
    Select(SessionConfigSelect),
    /// On or off.
    #[wire("boolean", from)]
    Boolean(SessionConfigBoolean),
    /// Something of a type that this version does not know: the option's members other than the common ones. Do not
    /// show it.
    #[wire(unknown)]
    Unknown(Meta),
}

/// An option with a list of values.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct SessionConfigSelect {
    /// The value it has, one of those in the list.
    #[wire(required)]
    pub current_value: SessionConfigValueId,
    /// The list.
    #[wire(required)]
    pub options: SessionConfigSelectOptions,
}

/// The values of a select, flat or in groups. Told apart by the member `group` of the first one.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(untagged))]
#[non_exhaustive]
pub enum SessionConfigSelectOptions {
    /// A flat list.
    Ungrouped(Vec<SessionConfigSelectOption>),
    /// Lists under headings.
    Grouped(Vec<SessionConfigSelectGroup>),
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

impl Serialize for SessionConfigSelectOptions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Ungrouped(options) => options.serialize(serializer),
            Self::Grouped(groups) => groups.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for SessionConfigSelectOptions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let list = RawJson::deserialize(deserializer)?;
        if list.elements().next().is_some_and(|first| first.member("group").is_some()) {
            list.decode().map(Self::Grouped)
        } else {
            list.decode().map(Self::Ungrouped)
        }
        .map_err(de::Error::custom)
    }
}

/// Values of a select under one heading.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct SessionConfigSelectGroup {
    /// Names the group.
    #[wire(required)]
    pub group: SessionConfigGroupId,
    /// The heading.
    #[wire(required)]
    pub name: String,
    /// The values.
    #[wire(required_items)]
    pub options: Vec<SessionConfigSelectOption>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The update `config_option_update`: the options are different now.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ConfigOptionUpdate {
    /// All options with their values.
    #[wire(required_items)]
    pub config_options: Vec<SessionConfigOption>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

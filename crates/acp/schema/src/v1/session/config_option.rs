//! Configuration options with flat or grouped values, and the update `config_option_update`.

use agentwire_wire_derive::{Build, Wire};
use serde::Serialize;

use crate::common::{Meta, SessionConfigGroupId, SessionConfigSelectOption, config_option_types};

config_option_types! {
    /// A setting of a session that the person can change, such as the model.
    ///
    /// The order in a list is significant: the agent puts the more important ones first. See
    /// <https://agentclientprotocol.com/protocol/v1/session-config-options>.
    SessionConfigOption, identified by: id, group by: "group"
}

/// The values of a select, flat or in groups. The member `group` of the first element decides.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
#[non_exhaustive]
pub enum SessionConfigSelectOptions {
    /// A flat list.
    Ungrouped(Vec<SessionConfigSelectOption>),
    /// Groups of values, each with a heading.
    Grouped(Vec<SessionConfigSelectGroup>),
}

/// A group of values of a select.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct SessionConfigSelectGroup {
    /// Identifies the group.
    #[wire(required)]
    pub group: SessionConfigGroupId,
    /// The heading.
    #[wire(required)]
    pub name: String,
    /// The values.
    #[wire(required_items)]
    pub options: Vec<SessionConfigSelectOption>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The update `config_option_update`: the options have changed.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ConfigOptionUpdate {
    /// All options with their values.
    #[wire(required_items)]
    pub config_options: Vec<SessionConfigOption>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

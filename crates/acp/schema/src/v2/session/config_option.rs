//! Configuration options, which `configId` identifies, with flat or grouped values.

use agentwire_wire_derive::{Build, Wire};
use serde::Serialize;

use crate::common::{Meta, SessionConfigGroupId, SessionConfigSelectOption, config_option_types};

config_option_types! {
    /// A setting of a session that the person can change, such as the model.
    ///
    /// The order in a list is significant: the agent puts the more important ones first. See
    /// <https://agentclientprotocol.com/protocol/v2/session-config-options>.
    SessionConfigOption, identified by: config_id, group by: "groupId"
}

/// The values of a select, flat or in groups: at least one, without repeated values. The member `groupId` of
/// the first element decides.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
#[non_exhaustive]
pub enum SessionConfigSelectOptions {
    /// A flat list.
    Ungrouped(#[cfg_attr(feature = "schema", schemars(length(min = 1)))] Vec<SessionConfigSelectOption>),
    /// Groups of values, each with a heading.
    Grouped(#[cfg_attr(feature = "schema", schemars(length(min = 1)))] Vec<SessionConfigSelectGroup>),
}

/// A group of values of a select.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct SessionConfigSelectGroup {
    /// Identifies the group.
    #[wire(required)]
    pub group_id: SessionConfigGroupId,
    /// The heading.
    #[wire(required)]
    pub name: String,
    /// The values, at least one.
    #[wire(required_items, schema(length(min = 1)))]
    pub options: Vec<SessionConfigSelectOption>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

use agentwire_wire_derive::{Build, Wire};

use crate::common::{Meta, PermissionOptionId};

/// One answer that a permission request offers.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct PermissionOption {
    /// Names the answer.
    #[wire(required)]
    pub option_id: PermissionOptionId,
    /// What to call it in front of people.
    #[wire(required)]
    pub name: String,
    /// What it means.
    #[wire(required)]
    pub kind: PermissionOptionKind,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// What an answer to a permission request means.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
pub enum PermissionOptionKind {
    /// Yes, this time.
    #[wire("allow_once")]
    AllowOnce,
    /// Yes, and do not ask again.
    #[wire("allow_always")]
    AllowAlways,
    /// No, this time.
    #[wire("reject_once")]
    RejectOnce,
    /// No, and do not ask again.
    #[wire("reject_always")]
    RejectAlways,
    /// A word that this version of the crate does not know, as it came.
    #[wire(unknown)]
    Other(String),
}

impl PermissionOptionKind {
    /// Whether the answer lets the call go on. Never so for an unknown kind.
    pub fn allows(&self) -> bool {
        matches!(self, Self::AllowOnce | Self::AllowAlways)
    }
}

/// The option that the person chose.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct SelectedPermissionOutcome {
    /// One of those offered.
    #[wire(required)]
    pub option_id: PermissionOptionId,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

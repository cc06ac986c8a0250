//! The options of `session/request_permission`, their kinds, and the chosen option. Only the kinds `allow_once` and
//! `allow_always` count as consent.

use agentwire_wire_derive::{Build, Wire};

use crate::common::{Meta, PermissionOptionId};

/// An option of a permission request.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct PermissionOption {
    /// Identifies the answer.
    #[wire(required)]
    pub option_id: PermissionOptionId,
    /// The name to show to people.
    #[wire(required)]
    pub name: String,
    /// Its meaning.
    #[wire(required)]
    pub kind: PermissionOptionKind,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

impl PermissionOption {
    /// The first option, in the agent's order, that lets the call go on.
    pub(crate) fn first_allowing(options: &[Self]) -> Option<&Self> {
        options.iter().find(|option| option.kind.allows())
    }
}

/// The meaning of an option of a permission request.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
pub enum PermissionOptionKind {
    /// Allow once.
    #[wire("allow_once")]
    AllowOnce,
    /// Allow, and do not ask again.
    #[wire("allow_always")]
    AllowAlways,
    /// Reject once.
    #[wire("reject_once")]
    RejectOnce,
    /// Reject, and do not ask again.
    #[wire("reject_always")]
    RejectAlways,
    /// A string that this version of the crate does not know, unchanged.
    #[wire(unknown)]
    Other(String),
}

impl PermissionOptionKind {
    /// Whether the answer allows the call. False for an unknown kind.
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
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

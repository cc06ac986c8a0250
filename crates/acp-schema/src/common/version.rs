//! The `protocolVersion` of `initialize`: any `u16`, with constants for the versions of this crate.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A version of the protocol: one number, raised only by breaking changes.
///
/// The client sends the latest version that it supports. The agent answers with the same number if it supports it, otherwise
/// with its own latest. See <https://agentclientprotocol.com/protocol/v1/initialization>.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct ProtocolVersion(u16);

impl ProtocolVersion {
    /// Version 1, the stable one.
    pub const V1: Self = Self(1);
    /// Version 2, a draft. The feature `v2` adds its types.
    pub const V2: Self = Self(2);
    /// The latest stable version that this crate has types for.
    pub const LATEST: Self = Self::V1;

    /// Any number, known here or not.
    pub const fn new(number: u16) -> Self {
        Self(number)
    }

    /// The number on the wire.
    pub const fn number(self) -> u16 {
        self.0
    }
}

impl From<u16> for ProtocolVersion {
    fn from(number: u16) -> Self {
        Self(number)
    }
}

impl fmt::Display for ProtocolVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

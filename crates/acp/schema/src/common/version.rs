//! The `protocolVersion` of `initialize`: any `u16`, with constants for the versions of this crate.

use std::fmt;

use serde::de::{Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// A version of the protocol: one number, raised only by breaking changes.
///
/// The client sends the latest version that it supports. The agent answers with the same number if it supports it, otherwise
/// with its own latest. See <https://agentclientprotocol.com/protocol/v1/initialization>.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
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

/// Accepts a whole number with a fraction of zero, such as `1.0`.
impl<'de> Deserialize<'de> for ProtocolVersion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct VersionVisitor;

        impl Visitor<'_> for VersionVisitor {
            type Value = ProtocolVersion;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a version of the protocol: a whole number from 0 to 65535")
            }

            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<ProtocolVersion, E> {
                let version = u16::try_from(number).map(ProtocolVersion);
                version.map_err(|_| E::invalid_value(Unexpected::Unsigned(number), &self))
            }

            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<ProtocolVersion, E> {
                let version = u16::try_from(number).map(ProtocolVersion);
                version.map_err(|_| E::invalid_value(Unexpected::Signed(number), &self))
            }

            fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<ProtocolVersion, E> {
                let is_version = number.fract() == 0.0 && (0.0..=f64::from(u16::MAX)).contains(&number);
                if !is_version {
                    return Err(E::invalid_value(Unexpected::Float(number), &self));
                }
                Ok(ProtocolVersion(number as u16))
            }
        }

        deserializer.deserialize_u16(VersionVisitor)
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

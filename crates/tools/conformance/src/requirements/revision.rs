//! The revisions of both protocols, in order.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::requirements::protocol::Protocol;

/// A version of ACP or a revision of MCP. Those of one protocol are ordered by age.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Revision {
    /// ACP's version 1.
    #[serde(rename = "1")]
    Acp1,
    /// The draft of ACP's version 2.
    #[serde(rename = "2")]
    Acp2,
    /// MCP's first revision.
    #[serde(rename = "2024-11-05")]
    Mcp20241105,
    /// The revision with batches and the first with Streamable HTTP.
    #[serde(rename = "2025-03-26")]
    Mcp20250326,
    /// The revision with structured results and elicitation.
    #[serde(rename = "2025-06-18")]
    Mcp20250618,
    /// The last revision with sessions, and the one with tasks in its core.
    #[serde(rename = "2025-11-25")]
    Mcp20251125,
    /// The first revision without sessions.
    #[serde(rename = "2026-07-28")]
    Mcp20260728,
}

impl Revision {
    /// Those of ACP, from the oldest on.
    pub const ACP: &[Self] = &[Self::Acp1, Self::Acp2];
    /// Those of MCP, from the oldest on.
    pub const MCP: &[Self] =
        &[Self::Mcp20241105, Self::Mcp20250326, Self::Mcp20250618, Self::Mcp20251125, Self::Mcp20260728];

    /// Those of a protocol, from the oldest on.
    pub const fn all(protocol: Protocol) -> &'static [Self] {
        match protocol {
            Protocol::Acp => Self::ACP,
            Protocol::Mcp => Self::MCP,
        }
    }

    /// The protocol that it belongs to.
    pub const fn protocol(self) -> Protocol {
        match self {
            Self::Acp1 | Self::Acp2 => Protocol::Acp,
            _ => Protocol::Mcp,
        }
    }

    /// Whether a client begins a session with `initialize`.
    pub fn is_legacy(self) -> bool {
        self != Self::Mcp20260728
    }

    /// As the protocol writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Acp1 => "1",
            Self::Acp2 => "2",
            Self::Mcp20241105 => "2024-11-05",
            Self::Mcp20250326 => "2025-03-26",
            Self::Mcp20250618 => "2025-06-18",
            Self::Mcp20251125 => "2025-11-25",
            Self::Mcp20260728 => "2026-07-28",
        }
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Revision {
    type Err = UnknownRevision;

    fn from_str(text: &str) -> Result<Self, UnknownRevision> {
        let known = Self::ACP.iter().chain(Self::MCP).copied();
        known
            .into_iter()
            .find(|revision| revision.as_str() == text)
            .ok_or_else(|| UnknownRevision(text.into()))
    }
}

/// A text that names no revision of either protocol.
#[derive(Debug, Clone, thiserror::Error)]
#[error(
    "no revision is called {0:?}; there are 1 and 2 of ACP, and 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25 and 2026-07-28 of MCP"
)]
pub struct UnknownRevision(String);

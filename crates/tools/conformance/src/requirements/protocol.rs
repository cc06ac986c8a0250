//! The two protocols.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One of the two protocols.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Protocol {
    /// The Agent Client Protocol.
    Acp,
    /// The Model Context Protocol.
    Mcp,
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Acp => "acp",
            Self::Mcp => "mcp",
        })
    }
}

//! The member `protocolVersion`: any string, which converts to a `Revision` if one has that name.

use std::fmt;

use agentwire_mcp_wire::Revision;
use serde::{Deserialize, Serialize};

/// The version of the protocol as a peer names it: usually the date of a revision, but any string may arrive.
///
/// A server answers an unknown version with one that it knows, so reading must not fail.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct ProtocolVersion(String);

impl ProtocolVersion {
    /// The revision of that name, if we know it.
    pub fn revision(&self) -> Option<Revision> {
        Revision::parse(&self.0)
    }

    /// The name as it travels.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<Revision> for ProtocolVersion {
    fn from(revision: Revision) -> Self {
        Self(revision.as_str().to_owned())
    }
}

impl From<&str> for ProtocolVersion {
    fn from(name: &str) -> Self {
        Self(name.to_owned())
    }
}

impl From<String> for ProtocolVersion {
    fn from(name: String) -> Self {
        Self(name)
    }
}

impl PartialEq<Revision> for ProtocolVersion {
    fn eq(&self, revision: &Revision) -> bool {
        self.0 == revision.as_str()
    }
}

impl fmt::Display for ProtocolVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

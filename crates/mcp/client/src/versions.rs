//! Reads the protocol versions that a server names, and selects the best one.

use agentwire_jsonrpc::ErrorObject;
use agentwire_mcp_schema::code::UnsupportedVersion;
use agentwire_mcp_schema::{ProtocolVersion, Revision};
use serde::Deserialize;

/// The versions that an error names, whatever its code is.
pub(crate) fn named(error: &ErrorObject, requested: Revision) -> Option<UnsupportedVersion> {
    #[derive(Deserialize)]
    #[serde(expecting = "an object")]
    struct Versions {
        supported: Vec<ProtocolVersion>,
        requested: Option<ProtocolVersion>,
    }

    let versions = error.data.as_ref()?.decode::<Versions>().ok()?;
    let requested = versions.requested.unwrap_or_else(|| requested.into());
    Some(UnsupportedVersion::new(versions.supported, requested))
}

/// The newest known revision among the versions that meets the condition.
pub(crate) fn best(versions: &[ProtocolVersion], condition: impl Fn(Revision) -> bool) -> Option<Revision> {
    versions.iter().filter_map(ProtocolVersion::revision).filter(|revision| condition(*revision)).max()
}

//! The params and result of `server/discover`, which since 2026-07-28 returns the versions and capabilities of a server.

use agentwire_wire_derive::Wire;

use crate::{CacheScope, Meta, ProtocolVersion, ResultType, ServerCapabilities};

/// Asks which revisions the server speaks and what it offers. Since 2026-07-28, in which nothing begins a
/// session and any request may come first.
///
/// See <https://modelcontextprotocol.io/specification/2026-07-28/server/discover>.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct DiscoverRequest {
    /// Extension metadata.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
}

empty!(DiscoverRequest);
setters!(DiscoverRequest {
    some meta: Meta,
});

/// The revisions and the capabilities of a server. Its name and version are in its `_meta`.
#[derive(Clone, Debug, PartialEq, Wire)]
#[non_exhaustive]
pub struct DiscoverResult {
    /// The versions that requests may name.
    #[wire(required)]
    pub supported_versions: Vec<ProtocolVersion>,
    /// The capabilities of the server.
    #[wire(expected)]
    pub capabilities: ServerCapabilities,
    /// How to use the server, in words for the model.
    #[wire(optional)]
    pub instructions: Option<String>,
    /// The kind of this result; absent means complete.
    #[wire(optional)]
    pub result_type: Option<ResultType>,
    /// For how many milliseconds it may be cached; absent or negative means 0, not at all.
    #[wire(optional, read = crate::wire::time_to_live, schema(with = "Option<crate::schema::Milliseconds>"))]
    pub ttl_ms: Option<u64>,
    /// The users that may get the cached result.
    #[wire(optional)]
    pub cache_scope: Option<CacheScope>,
    /// Extension metadata.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
}

impl DiscoverResult {
    /// These versions, with these capabilities.
    pub fn new(supported_versions: Vec<ProtocolVersion>, capabilities: ServerCapabilities) -> Self {
        Self {
            supported_versions,
            capabilities,
            instructions: None,
            result_type: None,
            ttl_ms: None,
            cache_scope: None,
            meta: None,
        }
    }
}

setters!(DiscoverResult {
    some instructions: String,
    some result_type: ResultType,
    some ttl_ms: u64,
    some cache_scope: CacheScope,
    some meta: Meta,
});

has_meta!(DiscoverRequest, DiscoverResult);

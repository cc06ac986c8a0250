use serde::Serialize;

use crate::{CacheScope, Meta, ProtocolVersion, ResultType, ServerCapabilities};

object! {
    /// Asks which revisions the server speaks and what it offers. Since 2026-07-28, in which nothing begins a
    /// session and any request may come first.
    ///
    /// See <https://modelcontextprotocol.io/specification/2026-07-28/server/discover>.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[non_exhaustive]
    pub struct DiscoverRequest {
        /// Attachments.
        #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
        pub meta: Option<Meta>,
    }
}

setters!(DiscoverRequest {
    some meta: Meta,
});

object! {
    /// Which revisions the server speaks and what it offers. Who it is stands in its `_meta`.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "camelCase")]
    #[non_exhaustive]
    pub struct DiscoverResult {
        /// The versions that requests may name.
        pub supported_versions: Vec<ProtocolVersion>,
        /// What the server offers to the client.
        pub capabilities: ServerCapabilities,
        /// How to use the server, in words for the model.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub instructions: Option<String>,
        /// What kind of result this is; absent means complete.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub result_type: Option<ResultType>,
        /// For how many milliseconds it may be kept; absent or negative means 0, not at all.
        #[serde(
            default,
            deserialize_with = "crate::wire::time_to_live",
            skip_serializing_if = "Option::is_none"
        )]
        #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Milliseconds>"))]
        pub ttl_ms: Option<u64>,
        /// Who may be given what was kept.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub cache_scope: Option<CacheScope>,
        /// Attachments.
        #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
        pub meta: Option<Meta>,
    }
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

use agentwire_jsonrpc::Method;
use serde::{Deserialize, Serialize};

use crate::Meta;

/// Asks whether the other side is still there. Either side may, at any time, also before `initialize`.
///
/// See <https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/ping>.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PingRequest {
    /// Attachments.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

setters!(PingRequest {
    some meta: Meta,
});

impl Method for PingRequest {
    const NAME: &'static str = "ping";
    type Response = EmptyResult;
}

/// An answer that says only that it was done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EmptyResult {
    /// Attachments.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

setters!(EmptyResult {
    some meta: Meta,
});

has_meta!(PingRequest, EmptyResult);

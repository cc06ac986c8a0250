//! The error codes that the protocol adds to those of JSON-RPC, and the data that goes with errors.

use agentwire_jsonrpc::ErrorObject;
use serde::{Deserialize, Serialize};

use crate::{ElicitUrlRequest, ProtocolVersion};

/// There is no resource at that URI. Until 2025-11-25.
pub const RESOURCE_NOT_FOUND: i64 = -32002;

/// The user must go to a web page first; the data is [`UrlElicitationRequired`]. Only 2025-11-25.
pub const URL_ELICITATION_REQUIRED: i64 = -32042;

/// `-32002`: there is no resource at that URI, which the data repeats.
pub fn resource_not_found(uri: &str) -> ErrorObject {
    #[derive(Serialize)]
    struct Data<'a> {
        uri: &'a str,
    }

    ErrorObject::new(RESOURCE_NOT_FOUND, "resource not found").with_data(&Data { uri })
}

/// What comes with [`URL_ELICITATION_REQUIRED`]: the pages to go to before another try.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UrlElicitationRequired {
    /// The pages.
    pub elicitations: Vec<ElicitUrlRequest>,
}

impl UrlElicitationRequired {
    /// These pages.
    pub fn new(elicitations: Vec<ElicitUrlRequest>) -> Self {
        Self { elicitations }
    }
}

impl From<UrlElicitationRequired> for ErrorObject {
    fn from(required: UrlElicitationRequired) -> Self {
        Self::new(URL_ELICITATION_REQUIRED, "URL elicitation required").with_data(&required)
    }
}

/// What comes with `-32602` from a server that refuses the version which `initialize` names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UnsupportedVersion {
    /// The versions that the server speaks.
    pub supported: Vec<ProtocolVersion>,
    /// The one that the client named.
    pub requested: ProtocolVersion,
}

impl UnsupportedVersion {
    /// That one is none of these.
    pub fn new(supported: Vec<ProtocolVersion>, requested: impl Into<ProtocolVersion>) -> Self {
        Self { supported, requested: requested.into() }
    }
}

//! The error codes that the protocol adds to those of JSON-RPC, and the data that goes with errors.

use agentwire_jsonrpc::ErrorObject;
pub use agentwire_mcp_wire::code::{
    HEADER_MISMATCH, MISSING_REQUIRED_CLIENT_CAPABILITY, RESOURCE_NOT_FOUND, UNSUPPORTED_PROTOCOL_VERSION,
    URL_ELICITATION_REQUIRED,
};
use agentwire_wire_derive::Wire;
use serde::Serialize;

use crate::{ClientCapabilities, ElicitUrlRequest, ProtocolVersion, Range, Revision};

/// A code that the protocol itself defines, and the revisions that do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErrorInfo {
    /// The code.
    pub code: i64,
    /// The name of its definition in the published schema, if it has one.
    pub name: Option<&'static str>,
    /// The name of the type of its data, if it has any.
    pub data: Option<&'static str>,
    /// The revisions that have it.
    pub range: Range,
}

/// Every code that the protocol adds to those of JSON-RPC.
pub const CODES: &[ErrorInfo] = &[
    ErrorInfo {
        code: RESOURCE_NOT_FOUND,
        name: None,
        data: None,
        range: Range::new(Revision::V2024_11_05, Some(Revision::V2025_11_25)),
    },
    ErrorInfo {
        code: URL_ELICITATION_REQUIRED,
        name: Some("URLElicitationRequiredError"),
        data: Some("UrlElicitationRequired"),
        range: Range::new(Revision::V2025_11_25, Some(Revision::V2025_11_25)),
    },
    ErrorInfo {
        code: HEADER_MISMATCH,
        name: Some("HeaderMismatchError"),
        data: None,
        range: Range::new(Revision::V2026_07_28, None),
    },
    ErrorInfo {
        code: MISSING_REQUIRED_CLIENT_CAPABILITY,
        name: Some("MissingRequiredClientCapabilityError"),
        data: Some("MissingCapabilities"),
        range: Range::new(Revision::V2026_07_28, None),
    },
    ErrorInfo {
        code: UNSUPPORTED_PROTOCOL_VERSION,
        name: Some("UnsupportedProtocolVersionError"),
        data: Some("UnsupportedVersion"),
        range: Range::new(Revision::V2026_07_28, None),
    },
];

/// There is no resource at that URI, which the data repeats: `-32002`.
///
/// [`missing_resource`] has the code of later revisions, too.
#[inline]
pub fn resource_not_found(uri: &str) -> ErrorObject {
    missing_resource(uri, Revision::LATEST_LEGACY)
}

/// There is no resource at that URI. The code is that of the revision: `-32002`, or `-32602` since 2026-07-28.
#[inline]
pub fn missing_resource(uri: &str, revision: Revision) -> ErrorObject {
    #[derive(Serialize)]
    struct Data<'a> {
        uri: &'a str,
    }

    let known = CODES.iter().find(|info| info.code == RESOURCE_NOT_FOUND && info.range.contains(revision));
    let code = known.map_or(agentwire_jsonrpc::code::INVALID_PARAMS, |info| info.code);
    ErrorObject::new(code, "resource not found").with_data(&Data { uri })
}

/// The data of [`URL_ELICITATION_REQUIRED`]: the pages to visit before another attempt.
#[derive(Clone, Debug, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct UrlElicitationRequired {
    /// The pages.
    #[wire(required)]
    pub elicitations: Vec<ElicitUrlRequest>,
}

impl UrlElicitationRequired {
    /// These pages.
    pub fn new(elicitations: Vec<ElicitUrlRequest>) -> Self {
        Self { elicitations }
    }
}

impl From<UrlElicitationRequired> for ErrorObject {
    #[inline]
    fn from(required: UrlElicitationRequired) -> Self {
        Self::new(URL_ELICITATION_REQUIRED, "URL elicitation required").with_data(&required)
    }
}

/// The data of [`MISSING_REQUIRED_CLIENT_CAPABILITY`].
#[derive(Clone, Debug, PartialEq, Wire)]
#[non_exhaustive]
pub struct MissingCapabilities {
    /// The capabilities that the request requires.
    #[wire(required)]
    pub required_capabilities: ClientCapabilities,
}

impl MissingCapabilities {
    /// The request requires these capabilities.
    pub fn new(required_capabilities: ClientCapabilities) -> Self {
        Self { required_capabilities }
    }
}

impl From<MissingCapabilities> for ErrorObject {
    #[inline]
    fn from(missing: MissingCapabilities) -> Self {
        Self::new(MISSING_REQUIRED_CLIENT_CAPABILITY, "a required client capability is missing")
            .with_data(&missing)
    }
}

/// The data of [`UNSUPPORTED_PROTOCOL_VERSION`], and of `-32602` from a server of an older revision
/// that refuses the version which `initialize` names.
#[derive(Clone, Debug, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct UnsupportedVersion {
    /// The versions that the server speaks.
    #[wire(required)]
    pub supported: Vec<ProtocolVersion>,
    /// The version that the client named.
    #[wire(required)]
    pub requested: ProtocolVersion,
}

impl UnsupportedVersion {
    /// The version `requested` is not one of these.
    pub fn new(supported: Vec<ProtocolVersion>, requested: impl Into<ProtocolVersion>) -> Self {
        Self { supported, requested: requested.into() }
    }
}

/// An error with the code of the revisions since 2026-07-28.
impl From<UnsupportedVersion> for ErrorObject {
    #[inline]
    fn from(unsupported: UnsupportedVersion) -> Self {
        Self::new(UNSUPPORTED_PROTOCOL_VERSION, "unsupported protocol version").with_data(&unsupported)
    }
}

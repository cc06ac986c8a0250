//! The params and result of `initialize`, and `notifications/initialized`, which begin a session in legacy revisions.

use agentwire_wire_derive::Wire;

use crate::{ClientCapabilities, Implementation, Meta, ProtocolVersion, Revision, ServerCapabilities};

/// The first message of a session: the client names its version of the protocol, itself and what it can do.
///
/// See <https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#initialization>.
#[derive(Clone, Debug, PartialEq, Wire)]
#[non_exhaustive]
pub struct InitializeRequest {
    /// The newest version that the client speaks.
    #[wire(required)]
    pub protocol_version: ProtocolVersion,
    /// The capabilities of the client.
    #[wire(expected)]
    pub capabilities: ClientCapabilities,
    /// Who the client is.
    #[wire(expected)]
    pub client_info: Implementation,
    /// Extension metadata.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
}

impl InitializeRequest {
    /// Asks for the newest revision that has sessions, offering nothing.
    pub fn new(client_info: Implementation) -> Self {
        Self {
            protocol_version: Revision::LATEST_LEGACY.into(),
            capabilities: ClientCapabilities::default(),
            client_info,
            meta: None,
        }
    }
}

setters!(InitializeRequest {
    set protocol_version: ProtocolVersion,
    set capabilities: ClientCapabilities,
    some meta: Meta,
});

/// The server's answer: the version that is spoken from here on, itself and what it can do.
///
/// The version is the client's if the server knows it, otherwise another one that the server knows. A client
/// that does not speak it ends the connection.
#[derive(Clone, Debug, PartialEq, Wire)]
#[non_exhaustive]
pub struct InitializeResult {
    /// The version that both speak from here on.
    #[wire(required)]
    pub protocol_version: ProtocolVersion,
    /// The capabilities of the server.
    #[wire(expected)]
    pub capabilities: ServerCapabilities,
    /// Who the server is.
    #[wire(expected)]
    pub server_info: Implementation,
    /// How to use the server, in words for the model.
    #[wire(optional)]
    pub instructions: Option<String>,
    /// Extension metadata.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
}

impl InitializeResult {
    /// Agrees on a version, offering nothing.
    pub fn new(protocol_version: impl Into<ProtocolVersion>, server_info: Implementation) -> Self {
        Self {
            protocol_version: protocol_version.into(),
            capabilities: ServerCapabilities::default(),
            server_info,
            instructions: None,
            meta: None,
        }
    }
}

setters!(InitializeResult {
    set capabilities: ServerCapabilities,
    some instructions: String,
    some meta: Meta,
});

/// The client took the answer to `initialize`; from here on both sides may send anything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct InitializedNotification {
    /// Extension metadata.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
}

empty!(InitializedNotification);
setters!(InitializedNotification {
    some meta: Meta,
});

has_meta!(InitializeRequest, InitializeResult, InitializedNotification);

//! `HandshakeError`: why the handshake with a server failed.

use agentwire_jsonrpc::{Printable, WithCauses};
use agentwire_mcp_schema::ProtocolVersion;
use agentwire_mcp_schema::code::UnsupportedVersion;
use agentwire_peer::CallError;

/// Why the handshake with a server failed.
///
/// [`connect`](crate::connect) returns it within a [`BoxError`](crate::BoxError):
///
/// ```
/// use agentwire_mcp_client::{BoxError, HandshakeError};
///
/// fn advise(error: &BoxError) {
///     match error.downcast_ref() {
///         Some(HandshakeError::UnknownVersion { .. }) => eprintln!("Update the server, or this program."),
///         _ => eprintln!("{error}"),
///     }
/// }
/// # advise(&"gone".into());
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HandshakeError {
    /// The server answered with a version of the protocol that this client does not speak.
    #[error("the server speaks version `{}` of the protocol, which this client does not", Printable::display(.answered))]
    #[non_exhaustive]
    UnknownVersion {
        /// The version in the server's answer.
        answered: ProtocolVersion,
    },
    /// The server named its versions, and this client speaks none of them, or none of its [`Era`](crate::Era).
    #[error("the server refuses version `{}`; it speaks {}", Printable::display(&.0.requested), Printable::display(list(&.0.supported)))]
    VersionRefused(UnsupportedVersion),
    /// None of the client's [revisions](crate::Client::revisions) belongs to its [`Era`](crate::Era).
    #[error("no revision that this client may speak belongs to its era")]
    NoRevision,
    /// With [`Era::Auto`](crate::Era::Auto): `server/discover` failed, and the server refused `initialize` too.
    #[error("the server takes neither `server/discover` ({}) nor `initialize`", WithCauses::new(.discover))]
    #[non_exhaustive]
    RefusedBoth {
        /// The outcome of `server/discover`.
        discover: Box<CallError>,
        /// The outcome of `initialize`: always [`CallError::Refused`].
        #[source]
        initialize: Box<CallError>,
    },
    /// The server gave no answer that could be used, or the transport failed.
    #[error(transparent)]
    Call(#[from] CallError),
}

fn list(versions: &[ProtocolVersion]) -> String {
    let names: Vec<_> = versions.iter().map(|version| format!("`{version}`")).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

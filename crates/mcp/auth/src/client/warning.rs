//! Warnings of a client that goes on.

use agentwire_jsonrpc::Printable;
use agentwire_transport_http::client::shown_url;

use crate::client::AuthError;

/// A store of credentials failed, and the client goes on. See [`AuthConfig::on_warning`].
///
/// [`AuthConfig::on_warning`]: crate::client::AuthConfig::on_warning
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthWarning {
    /// A token is not renewed, because the new one could not be stored. The old one is not spent.
    #[error("the token for {} is not renewed, because a new one could not be stored", Printable::display(&shown_url(.server)))]
    #[non_exhaustive]
    NotRenewed {
        /// The URL of the MCP server.
        server: String,
        /// The failure of the store.
        #[source]
        error: AuthError,
    },
    /// A new token could not be stored. It is used until the program ends, and stored as soon as the store takes it. If the store
    /// never does, the next program has to log in.
    #[error("the new token for {} is used, but could not be stored", Printable::display(&shown_url(.server)))]
    #[non_exhaustive]
    NotStored {
        /// The URL of the MCP server.
        server: String,
        /// The failure of the store.
        #[source]
        error: AuthError,
    },
    /// A record beside the token could not be stored. The result of the request is the same without it.
    #[error("{record} for {} could not be stored", Printable::display(&shown_url(.server)))]
    #[non_exhaustive]
    RecordNotStored {
        /// The URL of the MCP server.
        server: String,
        /// The contents of the record, such as `the client's registration`.
        record: &'static str,
        /// The failure of the store.
        #[source]
        error: AuthError,
    },
}

//! How a person gets to the authorization server, and its answer back.

use std::fmt;

use agentwire_transport_http::client::BoxError;
use futures_util::future::BoxFuture;
use http::Uri;

/// Why a login did not come to an end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoginError {
    /// No listener for the redirect, or no browser. No person was asked.
    #[error("{what}")]
    #[non_exhaustive]
    Unavailable {
        /// The missing part.
        what: &'static str,
        /// Why.
        #[source]
        cause: BoxError,
    },
    /// The person did not come back in time.
    #[error("the person did not log in within {after:?}")]
    #[non_exhaustive]
    TimedOut {
        /// The limit.
        after: std::time::Duration,
    },
    /// The URL may not be opened: only `https`, and `http` on this machine.
    #[error("not opening a URL of the scheme `{scheme}`")]
    #[non_exhaustive]
    Scheme {
        /// The scheme, which is one word of ASCII.
        scheme: String,
    },
    /// The URL may not be opened, because of something else in it.
    #[error("not opening the authorization server's URL: {why}")]
    #[non_exhaustive]
    Url {
        /// Why not.
        why: &'static str,
    },
}

impl LoginError {
    /// An error for what there is not, and why.
    pub fn unavailable(what: &'static str, cause: impl Into<BoxError>) -> Self {
        Self::Unavailable { what, cause: cause.into() }
    }
}

/// Sends a person to an authorization server: a browser, or a test that follows redirects itself.
///
/// The listener is open before the browser is: [`listen`](Self::listen) comes first, because the redirect URI stands in the
/// registration and in the URL that is opened.
pub trait UserAgent: fmt::Debug + Send + Sync {
    /// The redirect URIs to register, such as `http://127.0.0.1/callback`. An authorization server ignores the port of a
    /// loopback URI (RFC 8252, section 7.3).
    fn redirect_uris(&self) -> Vec<String>;

    /// Begins to listen for the redirect.
    fn listen(&self) -> BoxFuture<'static, Result<Box<dyn RedirectListener>, LoginError>>;
}

/// Listens for one redirect.
pub trait RedirectListener: Send {
    /// The redirect URI, with the port.
    fn redirect_uri(&self) -> String;

    /// Opens the URL for a person, and waits for the redirect. Returns its query: everything after `?`. A redirect whose
    /// parameter `state` is another is not taken, and the wait goes on.
    fn authorize(self: Box<Self>, url: Uri, state: String) -> BoxFuture<'static, Result<String, LoginError>>;
}

//! The ways to obtain a token without a person, and with one.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use agentwire_transport_http::client::BoxError;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::Secret;
use crate::client::identity::ClientIdentity;

/// How tokens are obtained.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Grant {
    /// A person logs in: the authorization code grant with PKCE.
    #[default]
    AuthorizationCode,
    /// The client acts for itself, with its secret or key (RFC 6749, section 4.4).
    ClientCredentials,
    /// The client acts for the workload that it runs as, by an assertion of the platform (RFC 7523, section 2.1).
    /// The assertion goes to one authorization server: that of [`ClientIdentity::issuer`], or else the first one that is used.
    WorkloadIdentity(Assertion),
    /// An enterprise's identity provider decides: its ID token is exchanged for a grant (ID-JAG), and that for a token.
    EnterpriseManaged(IdentityProvider),
}

type Obtain = dyn Fn() -> BoxFuture<'static, Result<Secret, BoxError>> + Send + Sync;

/// Obtains a signed assertion whenever a token is needed.
#[derive(Clone)]
pub struct Assertion(Arc<Obtain>);

impl Assertion {
    /// Calls a function for each assertion, such as one that reads the file in which a platform keeps it.
    ///
    /// ```
    /// use agentwire_mcp_auth::client::Assertion;
    ///
    /// let assertion = Assertion::new(async || Ok(std::fs::read_to_string("/var/run/secrets/tokens/mcp")?.into()));
    /// ```
    pub fn new<F, R>(obtain: F) -> Self
    where
        F: Fn() -> R + Send + Sync + 'static,
        R: Future<Output = Result<Secret, BoxError>> + Send + 'static,
    {
        Self(Arc::new(move || obtain().boxed()))
    }

    pub(crate) async fn obtain(&self) -> Result<Secret, BoxError> {
        (self.0)().await
    }
}

impl fmt::Debug for Assertion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Assertion").finish_non_exhaustive()
    }
}

/// An enterprise's identity provider, at which a person is logged in already.
#[derive(Clone, Debug)]
pub struct IdentityProvider {
    pub(crate) issuer: String,
    pub(crate) token_endpoint: String,
    pub(crate) client: ClientIdentity,
    pub(crate) id_token: Assertion,
}

impl IdentityProvider {
    /// The provider's issuer and token endpoint, the client as that knows it, and the ID token of the person.
    pub fn new(
        issuer: impl Into<String>,
        token_endpoint: impl Into<String>,
        client: ClientIdentity,
        id_token: Assertion,
    ) -> Self {
        Self { issuer: issuer.into(), token_endpoint: token_endpoint.into(), client, id_token }
    }
}

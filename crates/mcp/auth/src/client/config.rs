//! The settings of a client.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use agentwire_wire_derive::Build;

use crate::AddressPolicy;
use crate::client::grant::Grant;
use crate::client::identity::ClientIdentity;
use crate::client::user_agent::UserAgent;
use crate::client::{AuthError, AuthWarning};
use crate::fetch::DEFAULT_LIMIT;
use crate::store::{CredentialStore, MemoryStore};

/// How long one request to an authorization server may take by default: 30 s.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// How many times one request may ask for more scopes by default.
pub const DEFAULT_STEP_UP_LIMIT: usize = 2;

/// The value of `resource` (RFC 8707) in each request for a code or a token.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResourceParameter {
    /// The resource as the server's metadata spells it, letter by letter. The metadata must be that of the server.
    #[default]
    Metadata,
    /// This text, such as `api://…`, for an authorization server that knows the resource by another name. The `resource` in the
    /// server's metadata is then not compared with the server's URL.
    Replace(String),
    /// Nothing, for an authorization server that refuses the parameter.
    Omit,
}

/// When tokens are bound to a key that the client holds (DPoP, RFC 9449).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DpopMode {
    /// When the server asks for it and its authorization server supports ES256.
    #[default]
    Auto,
    /// Whenever the authorization server supports ES256. A token that is not bound then is refused.
    Always,
    /// Never.
    Never,
}

/// How a client obtains tokens, for all its servers.
///
/// ```
/// use agentwire_mcp_auth::client::{AuthConfig, ClientIdentity};
///
/// let config = AuthConfig::new("Example Editor")
///     .client(ClientIdentity::new("my-client-id").secret("…").issuer("https://auth.example.com"))
///     .scopes(["files:read"]);
/// ```
#[derive(Clone, Build)]
#[build(
    new = "The defaults: a store in memory, and no user agent, so no login. The name is shown to the person who logs in."
)]
pub struct AuthConfig {
    #[build(required, into)]
    pub(crate) client_name: String,
    /// Sets the page of the client, which authorization servers may show.
    #[build(into)]
    pub(crate) client_uri: Option<String>,
    /// Sets the client as it is registered at the authorization server. It comes before all other ways to get a client id.
    pub(crate) client: Option<ClientIdentity>,
    /// Sets the URL of the client's metadata document, which is its id at authorization servers that support that. The document
    /// must list the redirect URIs of the [`user_agent`](Self::user_agent).
    #[build(into)]
    pub(crate) metadata_url: Option<String>,
    pub(crate) scopes: Option<Vec<String>>,
    /// Sets what is sent as `resource` (default: [`ResourceParameter::Metadata`]).
    pub(crate) resource: ResourceParameter,
    /// Sets how tokens are obtained (default: [`Grant::AuthorizationCode`], a person who logs in).
    pub(crate) grant: Grant,
    /// Sets how a person gets to the authorization server (default: not at all, [`AuthError::NeedsPerson`]).
    ///
    /// [`AuthError::NeedsPerson`]: crate::client::AuthError::NeedsPerson
    #[build(dynamic)]
    pub(crate) user_agent: Option<Arc<dyn UserAgent>>,
    /// Sets whether a request that needs a login begins it (default: yes). Otherwise it fails with [`AuthError::NeedsPerson`], and
    /// the program calls [`Authorization::login`](crate::client::Authorization::login) when the person wants that. A login that
    /// failed is not offered again by itself either.
    ///
    /// [`AuthError::NeedsPerson`]: crate::client::AuthError::NeedsPerson
    #[build(default = true)]
    pub(crate) automatic_login: bool,
    /// Sets where credentials are kept (default: in memory).
    #[build(dynamic, default = Arc::new(MemoryStore::new()))]
    pub(crate) store: Arc<dyn CredentialStore>,
    /// Sets when tokens are bound to a key (default: [`DpopMode::Auto`]).
    pub(crate) dpop: DpopMode,
    /// Sets which addresses may be asked for metadata and tokens (default: public ones, and the network of the server).
    #[build(name = addresses, default = AddressPolicy::new())]
    pub(crate) policy: AddressPolicy,
    /// Sets how many bytes a document or an answer of an authorization server may have (default 256 KiB).
    #[build(default = DEFAULT_LIMIT)]
    pub(crate) document_limit: usize,
    /// Sets how long one request to an authorization server may take, its body included (default 30 s).
    #[build(default = DEFAULT_TIMEOUT)]
    pub(crate) timeout: Duration,
    /// Sets how often one request may ask for more scopes before its refusal is final (default
    /// [`DEFAULT_STEP_UP_LIMIT`]). A scope that was asked for and is demanded again ends it at once.
    #[build(default = DEFAULT_STEP_UP_LIMIT)]
    pub(crate) step_up_limit: usize,
    /// Sets whether `offline_access` is asked for where the authorization server lists it (default: yes). Many give a refresh token
    /// only then.
    #[build(default = true)]
    pub(crate) offline_access: bool,
    /// Sets the command that logs a person in, given the URL of a server. Errors name it.
    #[build(into)]
    pub(crate) login_command: Option<String>,
    /// Sets whether the [`client`](Self::client) is kept in the store, its secret included, as the registration at its authorization
    /// server (default: no). Then programs that share the store find it there. One with a key is not kept.
    pub(crate) keep_client: bool,
    /// Sets the authorization server by its issuer, whatever the server's metadata names, for a server whose metadata is wrong.
    /// The metadata of the authorization server must still be that of this issuer, letter by letter.
    #[build(into)]
    pub(crate) authorization_server: Option<String>,
    pub(crate) parameters: Vec<(String, String)>,
    /// Sets whether PKCE is used also where the authorization server's metadata does not say that it supports it (default: no, such
    /// a login is refused, as the specification demands). Only right for a product that is known to support it and not to say so.
    pub(crate) assume_pkce: bool,
    /// Sets the function that is called when the store fails and the client goes on, with the token in hand or without a record
    /// beside it (default: none). It is called inside a task, so it must not block.
    #[build(dynamic)]
    #[expect(clippy::type_complexity, reason = "the derived setter takes any such function")]
    pub(crate) on_warning: Option<Arc<dyn Fn(&AuthWarning) + Send + Sync>>,
    /// The authorization server that the client and its assertions were used with first.
    #[build(skip)]
    first_issuer: OnceLock<String>,
}

impl AuthConfig {
    /// Fails where the client of these settings, or their assertion, belongs to another authorization server: what proves an identity
    /// to one must not reach another, which could use it there.
    pub(crate) fn bind(&self, issuer: &str) -> Result<(), AuthError> {
        let named = self.client.as_ref().and_then(|client| client.issuer.as_deref());
        let own = named.unwrap_or_else(|| self.first_issuer.get_or_init(|| issuer.to_owned()));
        if own == issuer {
            return Ok(());
        }
        let problem = "the client is registered at another authorization server than the server's";
        Err(AuthError::differs(problem, own, issuer))
    }

    /// The redirect URIs to register.
    pub(crate) fn redirect_uris(&self) -> Vec<String> {
        self.user_agent.as_ref().map(|agent| agent.redirect_uris()).unwrap_or_default()
    }

    /// Sets which scopes to ask for (default: those of the server's challenge, or else all that its metadata lists). Scopes that a
    /// later challenge asks for are added.
    #[must_use]
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.scopes = Some(scopes.into_iter().map(Into::into).collect());
        self
    }

    /// Adds a parameter to the URL that a person is sent to, such as `audience` or `access_type`, for products that need one of their
    /// own. It replaces none of the standard's, except `prompt`. May be called again.
    #[must_use]
    pub fn parameter(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.parameters.push((name.into(), value.into()));
        self
    }
}

impl fmt::Debug for AuthConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthConfig")
            .field("client_name", &self.client_name)
            .field("client", &self.client)
            .field("metadata_url", &self.metadata_url)
            .field("scopes", &self.scopes)
            .field("resource", &self.resource)
            .field("grant", &self.grant)
            .field("user_agent", &self.user_agent)
            .field("automatic_login", &self.automatic_login)
            .field("store", &self.store)
            .field("dpop", &self.dpop)
            .finish_non_exhaustive()
    }
}

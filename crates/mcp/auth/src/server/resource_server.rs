//! The settings of a server that takes access tokens.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use agentwire_transport_http::server::{Caller, Operation};
use agentwire_wire_derive::Build;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::Secret;
use crate::jose::KeyError;
use crate::server::access_token::AccessToken;
use crate::server::dpop::nonce::Nonces;
use crate::server::dpop::replay::{MemoryReplayStore, ReplayStore};
use crate::server::dpop::{DpopPolicy, Proofs};
use crate::server::issuer::Issuer;
use crate::server::public_url::{InvalidPublicUrl, PublicUrl};
use crate::server::rejection::Rejection;
use crate::server::scopes::ScopePolicy;

/// How far clocks may differ.
const LEEWAY: Duration = Duration::from_secs(60);
/// How long a token may be, in bytes.
const TOKEN_LIMIT: usize = 16 << 10;
/// How long a proof is taken.
const PROOF_LIFETIME: Duration = Duration::from_secs(60);
/// How long a check of the program's own may take.
const CHECK_TIMEOUT: Duration = Duration::from_secs(30);

/// A check of tokens by a function.
pub(crate) type CustomCheck =
    dyn Fn(Secret) -> BoxFuture<'static, Result<AccessToken, Rejection>> + Send + Sync;
/// A server that takes access tokens: by whom they are issued, what they must allow, and its responses to clients. It makes the
/// [layer](Self::layer) that checks requests and the [metadata](Self::metadata) by which clients find the authorization server.
///
/// A clone shares the keys that were fetched and the proofs that were used.
///
/// The module [`server`](crate::server) shows a whole server.
#[derive(Clone, Build)]
pub struct ResourceServer {
    pub(crate) resource: PublicUrl,
    /// Adds an authorization server whose tokens are taken. A JWT goes to the issuer that it names; any other token to each
    /// issuer with introspection, in turn.
    #[build(name = issuer, push)]
    pub(crate) issuers: Vec<Issuer>,
    pub(crate) custom: Option<Arc<CustomCheck>>,
    /// Sets how long the [check](Self::check) of a token may take, and the [store](Self::replay_store) of used proofs (default
    /// 30 s). After that, the request gets 503.
    pub(crate) check_timeout: Duration,
    pub(crate) scopes: Arc<ScopePolicy>,
    pub(crate) proofs: Proofs,
    /// Sets how far clocks may differ (default 60 s).
    pub(crate) leeway: Duration,
    /// Sets how long a token may be, in bytes (default 16 KiB, at most 64 KiB for a JWT).
    pub(crate) token_limit: usize,
    pub(crate) keep_token: bool,
    /// Calls a function with the reason of each refusal, and whose request it was (default: none). The client does not learn the
    /// reason, and no reason has a token in it.
    #[build(name = on_rejection, dynamic)]
    #[expect(clippy::type_complexity, reason = "the derived setter takes any such function")]
    pub(crate) observer: Option<Arc<dyn Fn(&Rejection, &Caller) + Send + Sync>>,
    pub(crate) documents: Documents,
}

/// The part that only the metadata has.
#[derive(Clone, Debug, Default, Build)]
#[build(of = ResourceServer, at = documents)]
pub(crate) struct Documents {
    /// Adds an authorization server to the metadata, for a [check](Self::check) of your own. The [issuers](Self::issuer) stand
    /// there anyway.
    #[build(name = authorization_server, push, into)]
    pub(crate) authorization_servers: Vec<String>,
    pub(crate) scopes: Option<Vec<String>>,
    /// Sets the name of the server in the metadata, for people (default: none).
    #[build(into)]
    pub(crate) name: Option<String>,
    /// Sets the URL of the documentation in the metadata (default: none).
    #[build(into)]
    pub(crate) documentation: Option<String>,
}

impl ResourceServer {
    /// A server that clients know by this URL, such as `https://mcp.example.com/mcp`. It is the resource identifier, which stands
    /// in the metadata and, unless an issuer has [other names](Issuer::audience), in the `aud` of every token. No request
    /// changes it.
    ///
    /// # Errors
    ///
    /// When it is not a URL of `http` or `https`, or has a query, a fragment or a user.
    pub fn new(public_url: impl Into<String>) -> Result<Self, InvalidPublicUrl> {
        let store = Arc::new(MemoryReplayStore::default());
        Ok(Self {
            resource: PublicUrl::parse(public_url.into())?,
            issuers: Vec::new(),
            custom: None,
            check_timeout: CHECK_TIMEOUT,
            scopes: Arc::default(),
            proofs: Proofs { policy: DpopPolicy::Off, lifetime: PROOF_LIFETIME, nonces: None, store },
            leeway: LEEWAY,
            token_limit: TOKEN_LIMIT,
            keep_token: false,
            observer: None,
            documents: Documents::default(),
        })
    }

    /// Sets a check of your own, for tokens that are of none of the [issuers](Self::issuer). The layer checks the
    /// [expiry](AccessToken::with_expiry), the scopes and a [proof](AccessToken::with_key_thumbprint) of what it returns; the
    /// signature and the audience are the function's to check.
    ///
    /// ```
    /// use agentwire_mcp_auth::Secret;
    /// use agentwire_mcp_auth::server::{AccessToken, InvalidPublicUrl, Rejection, ResourceServer};
    ///
    /// # fn main() -> Result<(), InvalidPublicUrl> {
    /// let server = ResourceServer::new("https://mcp.example/mcp")?.check(async |token: Secret| {
    ///     if token == Secret::new("a token of ann") {
    ///         Ok(AccessToken::new("https://mcp.example", "ann").with_scopes(["mcp"]))
    ///     } else {
    ///         Err(Rejection::Inactive)
    ///     }
    /// });
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn check<F, A>(mut self, check: F) -> Self
    where
        F: Fn(Secret) -> A + Send + Sync + 'static,
        A: Future<Output = Result<AccessToken, Rejection>> + Send + 'static,
    {
        self.custom = Some(Arc::new(move |token| check(token).boxed()));
        self
    }

    /// Sets the scopes that every request needs (default: none). A request without them is refused before its body is read, so
    /// in a session the challenge cannot name the scopes of its operation as well.
    #[must_use]
    pub fn scopes<S: Into<String>>(self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.with_policy(|policy| policy.set_endpoint(owned(scopes)))
    }

    /// Sets the scopes that calls of a tool need beside those of the endpoint (default: none).
    ///
    /// The endpoints of `agentwire-transport-http` and `agentwire-transport-sse` check this, the next two and nothing else once
    /// they have read a request, in every revision. A refusal names all scopes of the request.
    #[must_use]
    pub fn tool_scopes<S: Into<String>>(
        self,
        tool: impl Into<String>,
        scopes: impl IntoIterator<Item = S>,
    ) -> Self {
        self.with_policy(|policy| policy.set_tool(tool.into(), owned(scopes)))
    }

    /// Sets the scopes that requests of a method need beside those of the endpoint, such as `resources/read` (default: none).
    #[must_use]
    pub fn method_scopes<S: Into<String>>(
        self,
        method: impl Into<String>,
        scopes: impl IntoIterator<Item = S>,
    ) -> Self {
        self.with_policy(|policy| policy.set_method(method.into(), owned(scopes)))
    }

    /// Sets a function that knows which scopes an operation needs beside all others (default: none).
    #[must_use]
    pub fn operation_scopes(
        self,
        scopes: impl Fn(&Operation<'_>) -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        self.with_policy(|policy| policy.set_function(Arc::new(scopes)))
    }

    /// Declares that a broader scope implies narrower ones, and what those imply (default: none does). May be called again.
    #[must_use]
    pub fn scope_implies<S: Into<String>>(
        self,
        broad: impl Into<String>,
        narrow: impl IntoIterator<Item = S>,
    ) -> Self {
        self.with_policy(|policy| policy.add_implied(broad.into(), owned(narrow)))
    }

    fn with_policy(mut self, change: impl FnOnce(&mut ScopePolicy)) -> Self {
        change(Arc::make_mut(&mut self.scopes));
        self
    }

    /// Sets whether tokens are bound to keys of their clients (default: [`DpopPolicy::Off`]).
    #[must_use]
    pub fn dpop(mut self, policy: DpopPolicy) -> Self {
        self.proofs.policy = policy;
        self
    }

    /// Sets how long a proof is taken after it was made (default 60 s, beside the [leeway](Self::leeway)).
    #[must_use]
    pub fn proof_lifetime(mut self, lifetime: Duration) -> Self {
        self.proofs.lifetime = lifetime;
        self
    }

    /// Sets where used proofs are remembered (default: a [`MemoryReplayStore`]).
    #[must_use]
    pub fn replay_store(mut self, store: Arc<dyn ReplayStore>) -> Self {
        self.proofs.store = store;
        self
    }

    /// Demands a nonce of this server in each proof, which clients get with a refusal and with each response (default: no). It
    /// changes every 5 min, and is taken for as long again.
    ///
    /// # Errors
    ///
    /// When the operating system has no randomness.
    pub fn proof_nonces(mut self) -> Result<Self, KeyError> {
        self.proofs.nonces = Some(Nonces::random()?);
        Ok(self)
    }

    /// The same for several servers, which share a secret of at least 32 random bytes.
    #[must_use]
    pub fn proof_nonces_of(mut self, secret: &[u8]) -> Self {
        self.proofs.nonces = Some(Nonces::of(secret));
        self
    }

    /// Keeps the token for handlers, in [`AccessToken::token`], which exchange it at the authorization server (default: no).
    ///
    /// In any case the layer takes `Authorization` and `DPoP` out of the request: a session keeps the head of the request that
    /// opened it, and no other server may get the token.
    #[must_use]
    pub fn keep_token(mut self) -> Self {
        self.keep_token = true;
        self
    }

    /// Sets the scopes in the metadata (default: all that are configured). `offline_access` is never among them.
    #[must_use]
    pub fn scopes_supported<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.documents.scopes = Some(owned(scopes));
        self
    }

    /// The resource identifier.
    pub fn public_url(&self) -> &str {
        self.resource.as_str()
    }
}

fn owned<S: Into<String>>(texts: impl IntoIterator<Item = S>) -> Vec<String> {
    texts.into_iter().map(Into::into).collect()
}

impl fmt::Debug for ResourceServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResourceServer")
            .field("resource", &self.resource.as_str())
            .field("issuers", &self.issuers)
            .field("scopes", &self.scopes)
            .field("dpop", &self.proofs.policy)
            .finish_non_exhaustive()
    }
}

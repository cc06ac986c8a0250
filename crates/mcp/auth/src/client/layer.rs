//! The HTTP client that sends tokens, and gets them when a server asks for one.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use agentwire_sync::Mutex;
use agentwire_transport_http::client::{Body, BoxError, Config, Declined, HttpClient, InvalidUrl};
use agentwire_transport_http::runtime::client::is_same_origin;
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::header::{ACCEPT, AUTHORIZATION};
use http::{HeaderValue, Request, Response, StatusCode, Uri};

use crate::client::AuthError;
use crate::client::config::AuthConfig;
use crate::client::discovery::challenge::Challenge;
use crate::client::discovery::origin::canonical;
use crate::client::dpop::DPOP;
use crate::client::keeper::{Job, Keeper, Token};

/// Obtains, keeps and renews the tokens of all servers of a program. A clone is the same.
///
/// It needs tokio: a renewal is a task of its own, so that a caller that goes away loses no token.
///
/// ```no_run
/// use std::time::Duration;
///
/// use agentwire_mcp_auth::client::{AuthConfig, Authorization};
/// # #[cfg(feature = "file")]
/// use agentwire_mcp_auth::store::FileStore;
/// use agentwire_transport_http::client::{Config, Hyper};
///
/// # #[cfg(feature = "file")]
/// # fn transport() -> Result<agentwire_transport_http::client::Http, Box<dyn std::error::Error + Send + Sync>> {
/// let http = Hyper::new(Duration::from_secs(10))?;
/// let config = AuthConfig::new("Example Editor").store(FileStore::open("credentials.json")?);
/// let authorization = Authorization::new(config, http.clone());
///
/// let url = "https://example.com/mcp";
/// let transport = Config::new(url)?.open_with(authorization.wrap(url, http)?);
/// # Ok(transport)
/// # }
/// ```
#[derive(Clone)]
pub struct Authorization {
    config: Arc<AuthConfig>,
    http: Arc<dyn HttpClient>,
    keepers: Arc<Mutex<HashMap<String, Arc<Keeper>>>>,
}

impl Authorization {
    /// Uses these settings, and this client for requests to authorization servers.
    pub fn new(config: AuthConfig, http: impl HttpClient + 'static) -> Self {
        Self { config: Arc::new(config), http: Arc::new(http), keepers: Arc::default() }
    }

    /// The client for the requests to one server, over whatever transport: it sends a token with each of them, and answers 401 and
    /// 403. All clients for one URL share its token. Requests to another origin are sent as they are, and so are those that
    /// have an `Authorization` already.
    ///
    /// A request that cannot get a token fails with an [`AuthError`], which is among the sources of the transport's error.
    ///
    /// # Errors
    ///
    /// When that is not a URL of a server.
    pub fn wrap<C: HttpClient>(&self, server: &str, client: C) -> Result<AuthorizedClient<C>, InvalidUrl> {
        Ok(AuthorizedClient { client: Arc::new(client), keeper: self.keeper(server)? })
    }

    /// Obtains a token for a server now if the server asks for one, so that no later request has to wait for a person: sends a GET,
    /// and gives up the response.
    ///
    /// # Errors
    ///
    /// An [`AuthError`]. An unreachable server is not an error here: the next request reports it.
    pub async fn ensure(&self, server: &str) -> Result<(), AuthError> {
        let keeper = self.keeper(server).map_err(|error| AuthError::misconfigured(error.to_string()))?;
        let http = Timed { http: self.http.clone(), after: self.config.timeout };
        match send(&http, &keeper, probe(&keeper.server)).await {
            Err(error) => error.downcast::<AuthError>().map_or(Ok(()), |error| Err(*error)),
            Ok(_) => Ok(()),
        }
    }

    /// Logs in at a server, whatever tokens there are.
    ///
    /// # Errors
    ///
    /// An [`AuthError`]. One that is not a [`NeedsPerson`](AuthError::NeedsPerson) has the fault.
    pub async fn login(&self, server: &str) -> Result<(), AuthError> {
        let keeper = self.keeper(server).map_err(|error| AuthError::misconfigured(error.to_string()))?;
        let challenge = self.challenge(&keeper.server).await?;
        keeper.run(Job::Login { challenge }).await.map(drop)
    }

    /// Forgets the token of a server, and revokes it where its authorization server supports that (RFC 7009). Returns whether there
    /// was one. The registration of the client is kept.
    ///
    /// # Errors
    ///
    /// When the store fails. The token is then not forgotten. A revocation that fails is not an error.
    pub async fn logout(&self, server: &str) -> Result<bool, AuthError> {
        let keeper = self.keeper(server).map_err(|error| AuthError::misconfigured(error.to_string()))?;
        let Some(token) = keeper.forget().await? else { return Ok(false) };
        keeper.revoke(&token).await;
        Ok(true)
    }

    fn keeper(&self, server: &str) -> Result<Arc<Keeper>, InvalidUrl> {
        let url = canonical(Config::new(server)?.url());
        let make = || Keeper::new(self.config.clone(), url.clone(), self.http.clone());
        Ok(self.keepers.lock().entry(url.to_string()).or_insert_with(make).clone())
    }

    /// The demands of the server for a request without a token.
    async fn challenge(&self, server: &Uri) -> Result<Option<Challenge>, AuthError> {
        let http = Timed { http: self.http.clone(), after: self.config.timeout };
        let failed = |error: BoxError| AuthError::transient("a request to the server", error);
        let response = http.send(probe(server)).await.map_err(failed)?;
        let asks = response.status() == StatusCode::UNAUTHORIZED;
        Ok(if asks { Challenge::of(response.headers()) } else { None })
    }
}

/// A client whose requests fail after some time: a server may begin to answer a GET only when it has something to say.
struct Timed {
    http: Arc<dyn HttpClient>,
    after: Duration,
}

impl HttpClient for Timed {
    fn send(&self, request: Request<Bytes>) -> BoxFuture<'static, Result<Response<Body>, BoxError>> {
        let sent = tokio::time::timeout(self.after, self.http.send(request));
        async move { sent.await.unwrap_or_else(|elapsed| Err(elapsed.into())) }.boxed()
    }
}

/// A request that every server answers, and that changes nothing.
fn probe(server: &Uri) -> Request<Bytes> {
    let mut request = Request::new(Bytes::new());
    *request.uri_mut() = server.clone();
    request.headers_mut().insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    request
}

impl fmt::Debug for Authorization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authorization").field("config", &self.config).finish_non_exhaustive()
    }
}

/// An [`HttpClient`] that sends the tokens of one server. See [`Authorization::wrap`].
#[derive(Clone)]
pub struct AuthorizedClient<C> {
    client: Arc<C>,
    keeper: Arc<Keeper>,
}

impl<C> fmt::Debug for AuthorizedClient<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthorizedClient").field("server", &self.keeper.server).finish_non_exhaustive()
    }
}

/// How often one request gets another token after a 401: by a refresh, and then by an authorization.
const RENEWALS: usize = 2;

impl<C: HttpClient + 'static> HttpClient for AuthorizedClient<C> {
    fn send(&self, request: Request<Bytes>) -> BoxFuture<'static, Result<Response<Body>, BoxError>> {
        let is_authorized = request.headers().contains_key(AUTHORIZATION);
        if is_authorized || !is_same_origin(&self.keeper.server, request.uri()) {
            return self.client.send(request);
        }
        let (client, keeper) = (self.client.clone(), self.keeper.clone());
        async move { send(&*client, &keeper, request).await.map_err(declined) }.boxed()
    }
}

/// An error of ours, marked as such for the transport.
fn declined(error: BoxError) -> BoxError {
    if error.is::<AuthError>() { Declined::new(error).into() } else { error }
}

async fn send<C: HttpClient + ?Sized>(
    client: &C,
    keeper: &Arc<Keeper>,
    request: Request<Bytes>,
) -> Result<Response<Body>, BoxError> {
    let mut token = keeper.current().await?;
    let (mut renewals, mut step_ups, mut nonces) = (0, 0, 0);
    loop {
        let response = client.send(with_token(&request, token.as_deref())?).await?;
        let gave_nonce = match token.as_ref().and_then(|token| token.dpop.as_ref()) {
            Some(dpop) => dpop.remember(request.uri(), response.headers()),
            None => false,
        };
        if response.status() != StatusCode::UNAUTHORIZED
            && let Some(token) = &token
        {
            token.set_accepted();
        }
        let challenge = Challenge::of(response.headers());
        match (response.status(), challenge) {
            (StatusCode::UNAUTHORIZED, Some(challenge))
                if challenge.demands_nonce() && gave_nonce && nonces == 0 =>
            {
                nonces += 1;
            }
            (StatusCode::UNAUTHORIZED, challenge) if renewals < RENEWALS => {
                renewals += 1;
                let is_challenged = challenge.is_some();
                token = match keeper.run(Job::Unauthorized { challenge, used: token }).await {
                    // A server without a challenge about tokens may demand something else, which is in its response.
                    Err(AuthError::NeedsPerson { .. }) if !is_challenged => return Ok(response),
                    renewed => renewed?,
                };
                nonces = 0;
            }
            (StatusCode::FORBIDDEN, Some(challenge))
                if challenge.is_insufficient_scope() && step_ups < keeper.config.step_up_limit =>
            {
                step_ups += 1;
                let used = token.clone();
                match keeper.run(Job::StepUp { challenge, used }).await? {
                    Some(more) => token = Some(more),
                    None => return Ok(response),
                }
                nonces = 0;
            }
            _ => return Ok(response),
        }
    }
}

/// The request with its token.
fn with_token(request: &Request<Bytes>, token: Option<&Token>) -> Result<Request<Bytes>, BoxError> {
    let mut request = request.clone();
    let Some(token) = token else { return Ok(request) };
    let scheme = if token.dpop.is_some() { "DPoP" } else { "Bearer" };
    let unusable = |_| AuthError::misconfigured("the access token cannot be the value of a header");
    let value = HeaderValue::try_from(format!("{scheme} {}", token.access_token().expose()));
    let mut value = value.map_err(unusable)?;
    value.set_sensitive(true);
    if let Some(dpop) = &token.dpop {
        let proof = dpop.proof(request.method(), request.uri(), Some(token.access_token()))?;
        request.headers_mut().insert(DPOP, proof);
    }
    request.headers_mut().insert(AUTHORIZATION, value);
    Ok(request)
}

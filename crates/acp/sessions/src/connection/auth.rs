//! The authentication methods of an agent, and whether the user of a connection is authenticated.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agentwire_acp_agent::{BoxError, Error};
use agentwire_acp_schema::v1::{AuthMethod, AuthMethodId, error_code};
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, TryFutureExt};

use crate::client::RemoteClient;

/// The authentication methods of an agent, and their handlers.
///
/// Until the user is authenticated, requests about sessions are refused with -32000, which makes the client authenticate.
/// Cancelling a turn and closing a session are always allowed.
///
/// A client without a terminal is not offered methods of type `terminal`. If there are no others, requests are refused
/// with -32600 instead, because -32000 is for clients that were offered a method.
///
/// ```
/// use agentwire_acp_sessions::schema::{AuthMethodAgent, StopReason};
/// use agentwire_acp_sessions::{Auth, Turn, agent};
///
/// # async fn log_in(_method: &str) -> std::io::Result<()> { Ok(()) }
/// let auth = Auth::new([AuthMethodAgent::new("browser", "Log in with a browser")])
///     .authenticated(std::env::var_os("API_KEY").is_some())
///     .on_authenticate(async |method| {
///         log_in(&method).await?; // The id of the method, here always `browser`.
///         Ok(())
///     });
/// let agent = agent(async |_turn: Turn| Ok(StopReason::EndTurn)).auth(auth);
/// ```
#[derive(Clone)]
#[must_use = "it does nothing until it is given to an agent"]
pub struct Auth {
    methods: Vec<AuthMethod>,
    authenticated: bool,
    authenticate: Option<Arc<Authenticate>>,
    logout: Option<Arc<Logout>>,
}

type Authenticate = dyn Fn(AuthMethodId) -> BoxFuture<'static, Result<(), BoxError>> + Send + Sync;
type Logout = dyn Fn() -> BoxFuture<'static, Result<(), BoxError>> + Send + Sync;

impl Auth {
    /// Offers these methods. The user is not authenticated yet.
    pub fn new(methods: impl IntoIterator<Item = impl Into<AuthMethod>>) -> Self {
        let methods = methods.into_iter().map(Into::into).collect();
        Self { methods, authenticated: false, authenticate: None, logout: None }
    }

    /// Sets whether the user is authenticated already, such as by stored credentials (default: no).
    pub fn authenticated(mut self, authenticated: bool) -> Self {
        self.authenticated = authenticated;
        self
    }

    /// Sets the handler of `authenticate`, for the methods that are not of type `terminal`. On success the user is
    /// authenticated. Without it, `authenticate` is refused as "method not found".
    ///
    /// The handler may fail with any error: an [`Error`] is the answer as it is, any other an internal error with its text.
    pub fn on_authenticate<F>(
        mut self,
        authenticate: impl Fn(AuthMethodId) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<(), BoxError>> + Send + 'static,
    {
        self.authenticate = Some(Arc::new(move |method| authenticate(method).err_into().boxed()));
        self
    }

    /// Sets the handler of `logout`, and advertises the method. On success the user is no longer authenticated, and requests
    /// about open sessions are refused too. The handler may fail as that of [`on_authenticate`](Self::on_authenticate).
    pub fn on_logout<F>(mut self, logout: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), BoxError>> + Send + 'static,
    {
        self.logout = Some(Arc::new(move || logout().err_into().boxed()));
        self
    }
}

impl fmt::Debug for Auth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Auth")
            .field("methods", &self.methods)
            .field("authenticated", &self.authenticated)
            .finish_non_exhaustive()
    }
}

/// The authentication of one connection.
#[derive(Debug)]
pub(crate) struct AuthState {
    auth: Option<Auth>,
    is_authenticated: AtomicBool,
}

impl AuthState {
    pub(crate) fn new(auth: Option<Auth>) -> Self {
        let is_authenticated = auth.as_ref().is_none_or(|auth| auth.authenticated);
        Self { auth, is_authenticated: AtomicBool::new(is_authenticated) }
    }

    /// Returns the methods that the client is offered.
    pub(crate) fn methods(&self) -> Vec<AuthMethod> {
        self.auth.as_ref().map(|auth| auth.methods.clone()).unwrap_or_default()
    }

    pub(crate) fn has_logout(&self) -> bool {
        self.auth.as_ref().is_some_and(|auth| auth.logout.is_some())
    }

    /// # Errors
    ///
    /// While the user is not authenticated.
    pub(crate) fn check(&self, client: &RemoteClient) -> Result<(), Error> {
        if self.is_authenticated.load(Ordering::Acquire) {
            return Ok(());
        }
        let terminal = client.capabilities().is_some_and(|client| client.auth.terminal);
        let offered = self.auth.iter().flat_map(|auth| &auth.methods);
        let is_usable = |method: &AuthMethod| terminal || !matches!(method, AuthMethod::Terminal(_));
        if offered.into_iter().any(is_usable) {
            return Err(Error::new(error_code::AUTH_REQUIRED, "authenticate first"));
        }
        // -32000 would ask the client for what it was not offered.
        Err(Error::invalid_request(
            "authentication is required, and there is no method for it that this client can use",
        ))
    }

    /// # Errors
    ///
    /// Those of the handler.
    pub(crate) async fn authenticate(&self, method: AuthMethodId) -> Result<(), Error> {
        match self.auth.as_ref().and_then(|auth| auth.authenticate.as_ref()) {
            Some(authenticate) => authenticate(method).await?,
            None => return Err(Error::method_not_found("authenticate")),
        }
        self.is_authenticated.store(true, Ordering::Release);
        Ok(())
    }

    /// Sets the user to not authenticated, without calling a handler.
    #[cfg(feature = "v2")]
    pub(crate) fn forget(&self) {
        self.is_authenticated.store(false, Ordering::Release);
    }

    /// # Errors
    ///
    /// Those of the handler.
    pub(crate) async fn logout(&self) -> Result<(), Error> {
        match self.auth.as_ref().and_then(|auth| auth.logout.as_ref()) {
            Some(logout) => logout().await?,
            None => return Err(Error::method_not_found("logout")),
        }
        self.is_authenticated.store(false, Ordering::Release);
        Ok(())
    }
}

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agentwire_acp_agent::{Client, Error};
use agentwire_acp_schema::v1::{AuthMethod, AuthMethodId, error_code};
use futures::FutureExt;
use futures::future::BoxFuture;

/// How a person proves who they are, and whether they have.
///
/// Until they have, whatever touches a session is refused with -32000, which tells the client to authenticate. A turn
/// that runs can be cancelled, and a session that is open closed, all the same.
///
/// A client without a terminal is not offered methods of type `terminal`. Where there are no others it is refused with
/// -32600 instead, since -32000 is only for who was offered a method.
#[derive(Clone)]
#[must_use = "it says nothing until an agent is given it"]
pub struct Auth {
    methods: Vec<AuthMethod>,
    authenticated: bool,
    authenticate: Option<Arc<Authenticate>>,
    logout: Option<Arc<Logout>>,
}

type Authenticate = dyn Fn(AuthMethodId) -> BoxFuture<'static, Result<(), Error>> + Send + Sync;
type Logout = dyn Fn() -> BoxFuture<'static, Result<(), Error>> + Send + Sync;

impl Auth {
    /// These ways to authenticate, of which none has been gone yet.
    pub fn new(methods: impl IntoIterator<Item = impl Into<AuthMethod>>) -> Self {
        let methods = methods.into_iter().map(Into::into).collect();
        Self { methods, authenticated: false, authenticate: None, logout: None }
    }

    /// Sets whether the person is known already, such as from credentials that an earlier run has kept (default:
    /// they are not).
    pub fn authenticated(mut self, authenticated: bool) -> Self {
        self.authenticated = authenticated;
        self
    }

    /// Carries out `authenticate` by one of the methods that are not of type `terminal`. Success opens the gate. Without
    /// it, `authenticate` is "method not found".
    pub fn on_authenticate<F>(
        mut self,
        authenticate: impl Fn(AuthMethodId) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<(), Error>> + Send + 'static,
    {
        self.authenticate = Some(Arc::new(move |method| authenticate(method).boxed()));
        self
    }

    /// Carries out `logout`, which is advertised then. Success shuts the gate, also for sessions that are open.
    pub fn on_logout<F>(mut self, logout: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), Error>> + Send + 'static,
    {
        self.logout = Some(Arc::new(move || logout().boxed()));
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

/// What keeps out whoever has not authenticated, on one connection.
#[derive(Debug)]
pub(crate) struct Gate {
    auth: Option<Auth>,
    open: AtomicBool,
}

impl Gate {
    pub(crate) fn new(auth: Option<Auth>) -> Self {
        let open = auth.as_ref().is_none_or(|auth| auth.authenticated);
        Self { auth, open: AtomicBool::new(open) }
    }

    /// What is offered to the client.
    pub(crate) fn methods(&self) -> Vec<AuthMethod> {
        self.auth.as_ref().map(|auth| auth.methods.clone()).unwrap_or_default()
    }

    pub(crate) fn has_logout(&self) -> bool {
        self.auth.as_ref().is_some_and(|auth| auth.logout.is_some())
    }

    /// # Errors
    ///
    /// While the person has not authenticated.
    pub(crate) fn pass(&self, client: &Client) -> Result<(), Error> {
        if self.open.load(Ordering::Acquire) {
            return Ok(());
        }
        let terminal = client.capabilities().is_some_and(|client| client.auth.terminal);
        let offered = self.auth.iter().flat_map(|auth| &auth.methods);
        let can = |method: &AuthMethod| terminal || !matches!(method, AuthMethod::Terminal(_));
        if offered.into_iter().any(can) {
            return Err(Error::new(error_code::AUTH_REQUIRED, "authenticate first"));
        }
        // That code asks the client to do what it was not offered.
        Err(Error::invalid_request(
            "authentication is required, and there is no method for it that this client can use",
        ))
    }

    /// # Errors
    ///
    /// Those of whoever carries it out.
    pub(crate) async fn authenticate(&self, method: AuthMethodId) -> Result<(), Error> {
        match self.auth.as_ref().and_then(|auth| auth.authenticate.as_ref()) {
            Some(authenticate) => authenticate(method).await?,
            None => return Err(Error::method_not_found("authenticate")),
        }
        self.open.store(true, Ordering::Release);
        Ok(())
    }

    /// # Errors
    ///
    /// Those of whoever carries it out.
    pub(crate) async fn logout(&self) -> Result<(), Error> {
        match self.auth.as_ref().and_then(|auth| auth.logout.as_ref()) {
            Some(logout) => logout().await?,
            None => return Err(Error::method_not_found("logout")),
        }
        self.open.store(false, Ordering::Release);
        Ok(())
    }
}

//! Receives requests: on a connection that [`peer`](agentwire_peer) drives, or one by one, as exchanges.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::{Arc, OnceLock};

use agentwire_jsonrpc::{ErrorObject, Notification, NotificationMethod, RawJson, Request, Response, code};
use agentwire_mcp_schema::InitializedNotification;
use agentwire_mcp_wire::header;
use agentwire_peer::observe::{CallObserver, Observer};
use agentwire_peer::runtime::{ExchangeObservation, in_scope};
use agentwire_peer::{Clock, Closed, Handler, Peer, RequestContext, Shutdown, TokioClock, driver};
use agentwire_transport::{Exchange, MessageSource, Service, Transport};
use futures::FutureExt;

use crate::Server;
use crate::lifecycle::{legacy, modern};
use crate::request::client_meta::ClientMeta;
use crate::request::params::Params;
use crate::request::request_future::{Reply, RequestFuture};
use crate::request::session::Session;
use crate::scope::RequestScope;
use crate::value_limit;

/// Handles the messages of one connection. It takes little memory until a client begins a session.
pub(crate) struct ConnectionHandler {
    server: Server,
    session: OnceLock<Arc<Session>>,
}

impl ConnectionHandler {
    pub(crate) fn new(server: Server) -> Self {
        Self { server, session: OnceLock::new() }
    }
}

/// Decides about a request. The message that arrived can be dropped when this returns.
fn reply(
    server: &Server,
    session: &OnceLock<Arc<Session>>,
    request: &Request,
    scope: RequestScope,
) -> Result<Reply, ErrorObject> {
    let params = Params::of(request.params.as_ref(), scope.source().map(|source| &**source));
    value_limit::check(&server.parts.settings, request, &params)?;
    match ClientMeta::of(&params, session.get().is_some(), &server.parts.settings.warnings)? {
        Some(client) => modern::reply(server, client, request, params, scope),
        None => legacy::reply(server, session, request, params, scope),
    }
}

/// The error of a request whose function panicked, which the panic hook has reported.
const PANICKED: &str = "the handler panicked";

impl Reply {
    async fn run(self) -> Result<RawJson, ErrorObject> {
        match self {
            Self::Done(answer) => answer,
            Self::Handler(context, handler) => RequestFuture::new(context, handler).await,
            Self::Task(call) => call.await,
        }
    }
}

impl Handler for ConnectionHandler {
    fn request(
        &self,
        request: Request,
        context: RequestContext,
    ) -> impl Future<Output = Result<RawJson, ErrorObject>> {
        let scope = RequestScope::Connection(context);
        let reply = reply(&self.server, &self.session, &request, scope);
        // A large message must not wait in memory for the function that works on what was decoded from it.
        drop(request);
        reply.unwrap_or_else(|error| Reply::Done(Err(error))).run()
    }

    fn notification(&self, notification: Notification, _peer: &Peer) {
        if &*notification.method == InitializedNotification::NAME
            && let Some(session) = self.session.get()
        {
            session.open();
        }
    }
}

/// The tasks of a session end with it, unless they belong to a caller who may begin another, or other nodes have the session.
impl Drop for ConnectionHandler {
    fn drop(&mut self) {
        if let Some(session) = self.session.get() {
            session.end_tasks();
        }
    }
}

impl Server {
    /// Serves one client until it closes the connection.
    ///
    /// A client may begin a session with `initialize`, send modern requests, or do both. A connection without a
    /// session costs little.
    ///
    /// The future needs the clock of a tokio runtime. It is `Send` if the transport is, and does not borrow
    /// the server, so it can be spawned, once for each client. Dropping it ends the connection and all that
    /// runs for it.
    ///
    /// # Errors
    ///
    /// The last error of the transport.
    pub fn serve<T: Transport>(&self, transport: T) -> impl Future<Output = Result<(), Closed>> + use<T> {
        let (_, driver) = driver(self.parts.settings.connection.clone().into(), TokioClock::default());
        driver.serve(ConnectionHandler::new(self.clone()), transport)
    }

    fn is_shutting_down(&self) -> bool {
        self.parts.settings.connection.0.shutdown.as_ref().is_some_and(Shutdown::is_given)
    }
}

/// Serves a transport that delivers connections and modern requests, such as Streamable HTTP.
///
/// A modern request needs no connection: its function runs within the future that the transport polls, and is
/// dropped with it. When the transport is about to end, it decides how long running functions may take; subscriptions end at
/// once.
impl<T: Transport + Send + 'static> Service<T> for Server {
    fn connection(&self, connection: T) -> impl Future<Output = ()> + Send + 'static {
        // The transport that failed knows why. An `async` block would hold the future twice.
        self.serve(connection).map(drop)
    }

    fn exchange(&self, exchange: Exchange) -> impl Future<Output = Response> + Send + 'static {
        let Exchange { request, source, notifications, .. } = exchange;
        let id = request.id.clone();
        let observer = self.parts.settings.connection.0.observer.as_ref();
        let observation = observer.map(|observer| observe(observer, &request, source.as_ref()));
        let scope = RequestScope::exchange(id.clone(), source, notifications, observer.cloned());
        let reply = || match self.is_shutting_down() {
            true => Err(ErrorObject::new(code::INTERNAL_ERROR, "the server is shutting down")),
            false => reply(self, &OnceLock::new(), &request, scope),
        };
        let reply = catch_unwind(AssertUnwindSafe(|| in_scope(call_observer(&observation), reply)));
        // A large message must not wait in memory for the function that works on what was decoded from it.
        drop(request);
        async move {
            let outcome = match reply {
                Ok(Ok(reply)) => {
                    let mut answer = pin!(AssertUnwindSafe(reply.run()).catch_unwind());
                    poll_fn(|cx| in_scope(call_observer(&observation), || answer.as_mut().poll(cx))).await
                }
                Ok(Err(error)) => Ok(Err(error)),
                Err(panic) => Err(panic),
            };
            let outcome = outcome.unwrap_or_else(|_panic| Err(ErrorObject::internal_error(PANICKED)));
            let response = Response::new(id, outcome);
            if let Some(observation) = observation {
                observation.end(&response);
            }
            response
        }
    }
}

/// Reports an exchange to the observer.
#[cold]
fn observe(
    observer: &Arc<dyn Observer>,
    request: &Request,
    source: Option<&Arc<dyn MessageSource>>,
) -> Box<ExchangeObservation> {
    let revision = source
        .and_then(|source| String::from_utf8(source.header(header::PROTOCOL_VERSION)?.into_owned()).ok());
    let revision = revision.map(Into::into);
    let now = || TokioClock::default().now();
    Box::new(ExchangeObservation::begin(observer.clone(), request, source, revision, now))
}

fn call_observer(observation: &Option<Box<ExchangeObservation>>) -> Option<&dyn CallObserver> {
    observation.as_ref().and_then(|observation| observation.call_observer())
}

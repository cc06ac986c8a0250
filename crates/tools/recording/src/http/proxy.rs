//! A reverse proxy for MCP over Streamable HTTP and HTTP+SSE that records the exchanges.

use std::convert::Infallible;
use std::error::Error;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use agentwire_jsonrpc::WithCauses;
use agentwire_wire_derive::Build;
use bytes::Bytes;
use futures_util::future::{BoxFuture, Either, LocalBoxFuture, select};
use futures_util::stream::{BoxStream, FuturesUnordered};
use futures_util::{FutureExt, StreamExt};
use http::header::{self, HOST, HeaderName, HeaderValue, ORIGIN};
use http::uri::PathAndQuery;
use http::{HeaderMap, Method, Request, Response, StatusCode, Uri};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;

use super::exchange::{ExchangeTap, is_event_stream};
use super::proxy_body::{EndpointRewriter, ProxyBody};
use super::request_body::read_body;
use crate::line_buffer::Budget;
use crate::recorder::Recorder;

/// The most bytes of the bodies of all requests together: 128 MiB.
const DEFAULT_BODIES_LIMIT: usize = 128 << 20;

/// The timeout for the head of a request, and for each piece of its body.
const DEFAULT_STALL_LIMIT: Duration = Duration::from_secs(30);

/// The most open connections. Further ones wait to be accepted.
const CONNECTION_LIMIT: usize = 1024;

/// The pause after a connection that could not be accepted.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Headers that belong to one connection.
const HOP_BY_HOP: &[HeaderName] = &[
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::PROXY_AUTHENTICATE,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// An error below HTTP.
pub type ProxyError = Box<dyn Error + Send + Sync>;

/// The body of a response of the server.
pub type UpstreamBody = BoxStream<'static, Result<Bytes, ProxyError>>;

/// Sends requests to the server, and returns their responses as soon as their heads arrive.
pub type Upstream = Box<
    dyn Fn(Request<Bytes>) -> BoxFuture<'static, Result<Response<UpstreamBody>, ProxyError>> + Send + Sync,
>;

/// A recording reverse proxy. Everything runs in the future of [`serve`](Self::serve).
#[derive(Build)]
pub struct Proxy {
    server: Uri,
    upstream: Upstream,
    recorder: Recorder,
    bodies: Arc<Budget>,
    /// Sets the timeout for the head of a request, and for each piece of its body (default 30 s). After it, the connection is closed.
    stall_limit: Duration,
}

impl std::fmt::Debug for Proxy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Proxy").finish_non_exhaustive()
    }
}

impl Proxy {
    /// A proxy for the server at a URL with a scheme and a host. Its paths are those of the server.
    pub fn new(server: Uri, upstream: Upstream, recorder: Recorder) -> Self {
        let bodies = Budget::new(DEFAULT_BODIES_LIMIT);
        Self { server, upstream, recorder, bodies, stall_limit: DEFAULT_STALL_LIMIT }
    }

    /// Sets the most bytes of all request bodies that are being read or whose response is outstanding (default 128 MiB). Further
    /// requests are refused with status 503.
    #[must_use]
    pub fn bodies_limit(mut self, bytes: usize) -> Self {
        self.bodies = Budget::new(bytes);
        self
    }

    /// Serves connections until it is dropped.
    ///
    /// A listener on a loopback address refuses requests whose `Host` names another machine: a web page must not reach the server
    /// through the proxy by a name of its own.
    ///
    /// # Errors
    ///
    /// When the address of the listener is not known.
    pub async fn serve(&self, listener: TcpListener) -> io::Result<Infallible> {
        let local = listener.local_addr()?;
        let mut connections: FuturesUnordered<LocalBoxFuture<'_, ()>> = FuturesUnordered::new();
        loop {
            match accept(&listener, &mut connections).await {
                Some(Ok((stream, _))) => {
                    let service =
                        service_fn(move |request| self.answer(request, local).map(Ok::<_, Infallible>));
                    let connection = http1::Builder::new()
                        .timer(TokioTimer::new())
                        .header_read_timeout(self.stall_limit)
                        .serve_connection(TokioIo::new(stream), service);
                    connections.push(connection.map(drop).boxed_local());
                }
                // Descriptors may be exhausted. A connection that ends may free some.
                Some(Err(_)) => {
                    let pause = pin!(tokio::time::sleep(ACCEPT_PAUSE));
                    let _either = select(pause, connections.next()).await;
                }
                None => {}
            }
        }
    }

    async fn answer(&self, request: Request<Incoming>, local: SocketAddr) -> Response<ProxyBody> {
        if local.ip().to_canonical().is_loopback() && !names_this_machine(request.headers()) {
            return refusal(StatusCode::FORBIDDEN, "the host is another machine");
        }
        let (head, body) = request.into_parts();
        let is_get = head.method == Method::GET;
        let mut tap = ExchangeTap::new(&self.recorder, &head.method, &head.uri, &head.headers);
        let response = self.pass_on(head, body, local, &mut tap).await;
        let (status, why) = match response {
            Ok(response) => {
                let (mut head, body) = response.into_parts();
                tap.response(head.status, &head.headers);
                // Only such a stream may begin with the URL of the endpoint.
                let rewriting = (is_get && is_event_stream(&head.headers)).then(|| {
                    EndpointRewriter::new(
                        self.server.clone(),
                        format!("http://{local}"),
                        self.recorder.line_buffer(),
                    )
                });
                remove_connection_headers(&mut head.headers);
                return Response::from_parts(head, ProxyBody::passing(body, tap, rewriting));
            }
            Err(refusal) => refusal,
        };
        let response = refusal(status, &why);
        tap.response(response.status(), response.headers());
        tap.response_body(why.as_bytes());
        response
    }

    /// The response of the server, or the status and the text of a refusal.
    async fn pass_on(
        &self,
        head: http::request::Parts,
        body: Incoming,
        local: SocketAddr,
        tap: &mut ExchangeTap,
    ) -> Result<Response<UpstreamBody>, (StatusCode, String)> {
        let (body, _kept) = read_body(body, tap, &self.bodies, self.stall_limit)
            .await
            .map_err(|(status, why)| (status, why.to_owned()))?;
        let request = self
            .request(head, body, local)
            .ok_or_else(|| (StatusCode::BAD_REQUEST, "the path is none of the server".to_owned()))?;
        let sent = (self.upstream)(request).await;
        sent.map_err(|error| {
            let causes = WithCauses::new(&*error).plain();
            (StatusCode::BAD_GATEWAY, format!("the server cannot be reached: {causes}"))
        })
    }

    /// The request that is sent to the server.
    fn request(&self, head: http::request::Parts, body: Bytes, local: SocketAddr) -> Option<Request<Bytes>> {
        let path = head.uri.path_and_query().cloned().unwrap_or(PathAndQuery::from_static("/"));
        let mut uri = self.server.clone().into_parts();
        uri.path_and_query = Some(path);
        let mut headers = head.headers;
        remove_connection_headers(&mut headers);
        // The bodies are read here, so the client behind this decides how they are compressed.
        headers.remove(header::ACCEPT_ENCODING);
        headers.remove(HOST);
        if headers.get(ORIGIN).is_some_and(|origin| origin.as_bytes() == format!("http://{local}").as_bytes())
        {
            headers.insert(ORIGIN, HeaderValue::from_str(&self.origin()).ok()?);
        }
        let mut request = Request::new(body);
        *request.method_mut() = head.method;
        *request.uri_mut() = Uri::from_parts(uri).ok()?;
        *request.headers_mut() = headers;
        Some(request)
    }

    /// The origin of the server, without user information.
    fn origin(&self) -> String {
        let scheme = self.server.scheme_str().unwrap_or("http");
        let authority = self.server.authority().map_or("", |authority| authority.as_str());
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        format!("{scheme}://{host}")
    }
}

/// The next connection. `None` if a connection has ended, which has to happen first if there are too many.
async fn accept(
    listener: &TcpListener,
    connections: &mut FuturesUnordered<LocalBoxFuture<'_, ()>>,
) -> Option<io::Result<(tokio::net::TcpStream, SocketAddr)>> {
    if connections.len() >= CONNECTION_LIMIT {
        connections.next().await;
        return None;
    }
    let accepted = pin!(listener.accept());
    if connections.is_empty() {
        return Some(accepted.await);
    }
    match select(accepted, connections.next()).await {
        Either::Left((accepted, _)) => Some(accepted),
        Either::Right(_) => None,
    }
}

/// Whether the header `Host` names this machine.
fn names_this_machine(headers: &HeaderMap) -> bool {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let Ok(authority) = host.parse::<http::uri::Authority>() else { return false };
    let name = authority.host().trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}

fn remove_connection_headers(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|names| names.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in HOP_BY_HOP.iter().chain(&named) {
        headers.remove(name);
    }
}

fn refusal(status: StatusCode, why: &str) -> Response<ProxyBody> {
    let mut response = Response::new(ProxyBody::text(why));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

//! A balancer without affinity: each request goes to the next node.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Either, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::handshake;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

/// The pause before it looks again whether requests have arrived.
const PAUSE: Duration = Duration::from_millis(5);

type Body = Either<Incoming, Full<Bytes>>;

/// The balancer. It tries another node only where it cannot connect to one, and never after a byte of a request was sent.
#[derive(Debug)]
pub(crate) struct Balancer {
    pub(crate) address: SocketAddr,
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    nodes: Vec<Arc<Upstream>>,
    next: AtomicUsize,
    counts: Counts,
    /// A fault: each tenth POST is sent to a second node too.
    repeats: bool,
}

/// A node, as the balancer knows it.
#[derive(Debug)]
struct Upstream {
    address: SocketAddr,
    is_in: AtomicBool,
    /// The requests that it got, or is about to get, and that have no head of a response yet.
    unanswered: AtomicUsize,
}

/// A request without a head of a response.
struct Unanswered(Arc<Upstream>);

impl Unanswered {
    /// `None` if the node gets no requests.
    fn begin(upstream: &Arc<Upstream>) -> Option<Self> {
        // Counted first, so that a request is seen by who takes the node out, or sees that.
        upstream.unanswered.fetch_add(1, Ordering::SeqCst);
        let this = Self(upstream.clone());
        upstream.is_in.load(Ordering::SeqCst).then_some(this)
    }
}

impl Drop for Unanswered {
    fn drop(&mut self) {
        self.0.unanswered.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The balancer's counts.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) requests: AtomicU64,
    /// Requests that went to another node, because one was away.
    pub(crate) passed_on: AtomicU64,
    /// Status 502: the node has died with the request.
    pub(crate) bad_gateway: AtomicU64,
    /// Status 503: no node is there.
    pub(crate) unavailable: AtomicU64,
}

impl Balancer {
    pub(crate) async fn start(nodes: &[SocketAddr], repeats: bool) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let upstream = |address: &SocketAddr| {
            let (is_in, unanswered) = (AtomicBool::new(true), AtomicUsize::new(0));
            Arc::new(Upstream { address: *address, is_in, unanswered })
        };
        let nodes = nodes.iter().map(upstream).collect();
        let state = State { nodes, next: AtomicUsize::new(0), counts: Counts::default(), repeats };
        let this = Self { address: listener.local_addr()?, state: Arc::new(state) };
        tokio::spawn(accept(listener, this.state.clone()));
        Ok(this)
    }

    /// Sends a node no more requests, and waits until it has those that are on their way. A program in production waits for a while
    /// between the signal and the refusals, which here would be a guess.
    pub(crate) async fn take_out(&self, node: usize) {
        let upstream = &self.state.nodes[node];
        upstream.is_in.store(false, Ordering::SeqCst);
        while upstream.unanswered.load(Ordering::SeqCst) > 0 {
            sleep(PAUSE).await;
        }
    }

    /// Sends a node requests again.
    pub(crate) fn put_in(&self, node: usize) {
        self.state.nodes[node].is_in.store(true, Ordering::SeqCst);
    }

    pub(crate) fn counts(&self) -> &Counts {
        &self.state.counts
    }
}

async fn accept(listener: TcpListener, state: Arc<State>) {
    while let Ok((stream, _)) = listener.accept().await {
        let state = state.clone();
        let service = service_fn(move |request| {
            let state = state.clone();
            async move { Ok::<_, Infallible>(state.pass(request).await) }
        });
        let server = hyper::server::conn::http1::Builder::new();
        tokio::spawn(server.serve_connection(TokioIo::new(stream), service));
    }
}

impl State {
    async fn pass(&self, request: Request<Incoming>) -> Response<Body> {
        let number = self.counts.requests.fetch_add(1, Ordering::Relaxed);
        let (head, body) = request.into_parts();
        let Ok(body) = body.collect().await else { return refusal(StatusCode::BAD_REQUEST) };
        let request = Request::from_parts(head, body.to_bytes());
        if self.repeats && request.method() == Method::POST && number % 10 == 9 {
            let Some((stream, _unanswered)) = self.connect().await else {
                return refusal(StatusCode::SERVICE_UNAVAILABLE);
            };
            drop(forward(stream, request.clone()).await);
        }
        let Some((stream, _unanswered)) = self.connect().await else {
            self.counts.unavailable.fetch_add(1, Ordering::Relaxed);
            return refusal(StatusCode::SERVICE_UNAVAILABLE);
        };
        match forward(stream, request).await {
            Some(response) => response.map(Either::Left),
            None => {
                self.counts.bad_gateway.fetch_add(1, Ordering::Relaxed);
                refusal(StatusCode::BAD_GATEWAY)
            }
        }
    }

    /// Connects to the next node that is there.
    async fn connect(&self) -> Option<(TcpStream, Unanswered)> {
        let first = self.next.fetch_add(1, Ordering::Relaxed);
        for attempt in 0..self.nodes.len() {
            let upstream = &self.nodes[(first + attempt) % self.nodes.len()];
            let Some(unanswered) = Unanswered::begin(upstream) else { continue };
            if let Ok(stream) = TcpStream::connect(upstream.address).await {
                return Some((stream, unanswered));
            }
            self.counts.passed_on.fetch_add(1, Ordering::Relaxed);
        }
        None
    }
}

/// Sends a request on a connection of its own. None: the node gave no head of a response.
async fn forward(stream: TcpStream, request: Request<Bytes>) -> Option<Response<Incoming>> {
    let (mut sender, connection) = handshake(TokioIo::new(stream)).await.ok()?;
    tokio::spawn(connection);
    let (mut head, body) = request.into_parts();
    head.headers.remove("connection");
    let mut response = sender.send_request(Request::from_parts(head, Full::new(body))).await.ok()?;
    response.headers_mut().remove("connection");
    Some(response)
}

fn refusal(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Either::Right(Full::default()));
    *response.status_mut() = status;
    response.headers_mut().insert("retry-after", http::HeaderValue::from_static("1"));
    response
}

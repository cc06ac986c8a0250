//! The suite's side of HTTP for a client under test: a server on a port of its own, whose requests are answered one by one.

mod agent;
mod conversations;
mod exchange;
mod messages;
mod served;

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming as HyperBody;
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::{AbortHandle, JoinSet};

pub(crate) use self::agent::listen as play_agent;
pub(crate) use self::conversations::listen as play_server;
pub(crate) use self::exchange::{EventStream, Exchange, text};
use self::exchange::{Reply, ResponseBody, write_down};
pub(crate) use self::messages::{error, is_modern, status_of};
pub(crate) use self::served::{Conversations, Served};
use crate::fault::{ClientRequest, Faults, Incoming};
use crate::link::stand_in::random_id;
use crate::setting::Setting;
use crate::trace::Trace;
use crate::verdict::{Outcome, Stop};

/// How many requests of a client wait for a check.
const QUEUE: usize = 256;
/// The most bytes of a request's body.
const MAX_BODY: usize = 16 << 20;

/// How the server writes the names of headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeaderCase {
    Lower,
    Title,
}

/// A server on 127.0.0.1. Dropping it cuts its connections.
///
/// Its paths begin with a random one, which the requests of a check do not show: other programs of the machine, and web pages in
/// a browser, find no more than status 404.
pub(crate) struct HttpServer {
    address: SocketAddr,
    prefix: Arc<str>,
    requests: mpsc::Receiver<Exchange>,
    accepting: AbortHandle,
}

/// The state that the tasks of a server share.
#[derive(Clone)]
struct Shared {
    trace: Trace,
    faults: Faults,
    next: Arc<AtomicU32>,
    requests: mpsc::Sender<Exchange>,
    prefix: Arc<str>,
    case: HeaderCase,
    /// Streams whose end a fault hides from the client.
    held: Arc<Mutex<Vec<mpsc::Sender<io::Result<Bytes>>>>>,
    /// Where the client has sent its last message.
    posts_to: Arc<Mutex<String>>,
}

impl HttpServer {
    /// Listens on a port that the system chooses.
    pub(crate) async fn listen(setting: &Setting, case: HeaderCase) -> Outcome<Self> {
        let bound = TcpListener::bind("127.0.0.1:0").await.and_then(|listener| {
            let address = listener.local_addr()?;
            Ok((listener, address))
        });
        let (listener, address) = bound.map_err(|error| Stop::inconclusive(format!("no port: {error}")))?;
        let prefix: Arc<str> = format!("/{}", random_id()?).into();
        let (sender, requests) = mpsc::channel(QUEUE);
        let shared = Shared {
            trace: setting.trace.clone(),
            faults: setting.faults.clone(),
            next: Arc::new(AtomicU32::new(1)),
            requests: sender,
            prefix: Arc::clone(&prefix),
            case,
            held: Arc::default(),
            posts_to: Arc::new(Mutex::new("/mcp".into())),
        };
        let accepting = tokio::spawn(accept(listener, shared)).abort_handle();
        Ok(Self { address, prefix, requests, accepting })
    }

    /// The URL of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{}", self.address, self.path(path))
    }

    /// A path as the client has to write it.
    pub(crate) fn path(&self, path: &str) -> String {
        format!("{}{path}", self.prefix)
    }

    /// The next request; nothing if none comes in time.
    pub(crate) async fn next(&mut self, within: Duration) -> Option<Exchange> {
        tokio::time::timeout(within, self.requests.recv()).await.ok().flatten()
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Accepts connections until it is aborted, which ends them.
async fn accept(listener: TcpListener, shared: Shared) {
    let mut connections = JoinSet::new();
    loop {
        if let Ok((stream, _)) = listener.accept().await {
            connections.spawn(serve(stream, shared.clone()));
        }
        while connections.try_join_next().is_some() {}
    }
}

async fn serve(stream: TcpStream, shared: Shared) {
    // A delayed segment would look like a slow server.
    let _set = stream.set_nodelay(true);
    let title_case = shared.case == HeaderCase::Title;
    let service = service_fn(move |request| answer(request, shared.clone()));
    let mut server = Builder::new(TokioExecutor::new());
    server.http1().title_case_headers(title_case).auto_date_header(false).header_read_timeout(None);
    server.http2().auto_date_header(false);
    // A check may cut the connection, and so may the client.
    let _ended = server.serve_connection_with_upgrades(TokioIo::new(stream), service).await;
}

/// Passes a request through the fault to the check, and waits for the answer. An error cuts the connection.
async fn answer(
    mut request: http::Request<HyperBody>,
    shared: Shared,
) -> Result<http::Response<ResponseBody>, io::Error> {
    let mut upgrade: Option<OnUpgrade> =
        request.headers().contains_key(http::header::UPGRADE).then(|| hyper::upgrade::on(&mut request));
    let path = request.uri().path_and_query().map_or("", |path| path.as_str());
    let Some(target) = path.strip_prefix(&*shared.prefix).map(str::to_owned) else {
        let response = http::Response::builder().status(404).body(ResponseBody::whole(Vec::new()));
        return response.map_err(io::Error::other);
    };
    let request = whole(request, target).await?;
    if request.method == "POST" {
        shared.posts_to.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&request.target);
    }
    let headers = request.headers.clone();
    let unseen = if request.method == "POST" { 202 } else { 405 };
    let (sender, reply) = oneshot::channel();
    let mut sender = Some(sender);
    for incoming in shared.faults.incoming(Incoming::Request(request)) {
        let (request, reply) = match incoming {
            Incoming::Request(request) => (request, sender.take()),
            Incoming::Forged(message) => (shared.forged(&headers, &message), None),
            _ => continue,
        };
        let number = shared.next.fetch_add(1, Ordering::Relaxed);
        shared.faults.exchange(number, &format!("{} {}", request.method, request.target));
        write_down(&shared.trace, &request);
        shared.trace.expect_within_limit().map_err(|_| cut())?;
        let exchange = Exchange::new(request, number, (reply, upgrade.take()), &shared);
        shared.requests.send(exchange).await.map_err(|_| cut())?;
    }
    if sender.is_some() {
        // The fault keeps the request from the check.
        let response = http::Response::builder().status(unseen).body(ResponseBody::whole(Vec::new()));
        return response.map_err(io::Error::other);
    }
    match reply.await {
        Ok(Reply::Response(response)) => Ok(response),
        Ok(Reply::Cut) | Err(_) => Err(cut()),
    }
}

impl Shared {
    /// A request that carries a message which the client never sent. It goes to where the client sends its messages.
    fn forged(&self, headers: &[(String, String)], message: &serde_json::Value) -> ClientRequest {
        ClientRequest {
            method: "POST".into(),
            target: self.posts_to.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            headers: headers.to_vec(),
            body: message.to_string().into_bytes(),
        }
    }
}

fn cut() -> io::Error {
    io::Error::from(io::ErrorKind::ConnectionAborted)
}

async fn whole(request: http::Request<HyperBody>, target: String) -> Result<ClientRequest, io::Error> {
    let (parts, body) = request.into_parts();
    let body = Limited::new(body, MAX_BODY).collect().await.map_err(io::Error::other)?.to_bytes();
    let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers = parts.headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect();
    Ok(ClientRequest { method: parts.method.as_str().to_owned(), target, headers, body: body.to_vec() })
}

/// The requests of a client that a trace has, in order.
pub(crate) fn requests_in(trace: &Trace) -> Vec<ClientRequest> {
    exchange::requests_in(trace)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requirements::revision::Revision;
    use crate::subject::{SubjectKind, Transport};

    fn setting() -> Setting {
        Setting::of_test(SubjectKind::McpClient, Revision::Mcp20251125, Transport::Http)
    }

    async fn status_of_post(address: SocketAddr, path: &str) -> String {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = format!("POST {path} HTTP/1.1\r\nhost: evil.example\r\ncontent-length: 1\r\n\r\n{{");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut line = [0; 12];
        stream.read_exact(&mut line).await.unwrap();
        String::from_utf8_lossy(&line).into_owned()
    }

    #[tokio::test]
    async fn a_request_of_a_program_that_was_not_told_the_url_reaches_no_check() {
        let setting = setting();
        let mut server = HttpServer::listen(&setting, HeaderCase::Lower).await.unwrap();
        for path in ["/", "/mcp", "/0000000000000000/mcp"] {
            assert_eq!(status_of_post(server.address, path).await, "HTTP/1.1 404");
        }
        assert!(setting.trace.events().is_empty(), "{:?}", setting.trace.events());
        let path = server.path("/mcp");
        let (answer, exchange) = tokio::join!(status_of_post(server.address, &path), async {
            let mut exchange = server.next(setting.wait).await.unwrap();
            exchange.status(202).unwrap();
            exchange.request.target
        });
        assert_eq!((answer.as_str(), exchange.as_str()), ("HTTP/1.1 202", "/mcp"));
    }
}

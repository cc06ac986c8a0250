//! Clients of several addresses, against an endpoint in this process, on a clock that only waits when all do.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use agentwire_transport_http::server::{Body, Endpoint, EndpointConfig, Principal, RemoteAddr};
use bytes::Bytes;
use futures::channel::mpsc;
use http::{Method, Request, Response, StatusCode};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tower_service::Service;

use super::script::{initialize, notification, request, serve_connection};
use super::time::piece;
use crate::connections::{Connection, Inline};

/// The endpoint, and how many sessions are served.
pub(crate) struct Crowd {
    endpoint: Endpoint,
    sessions: Arc<AtomicUsize>,
}

impl Crowd {
    pub(crate) fn start(config: EndpointConfig) -> Self {
        let sessions = Arc::new(AtomicUsize::new(0));
        let counted = sessions.clone();
        let endpoint = Endpoint::serving(
            config,
            Inline(move |connection: Connection| {
                let counted = counted.clone();
                async move {
                    let session = connection.is_session();
                    counted.fetch_add(usize::from(session), Ordering::SeqCst);
                    serve_connection(connection, mpsc::unbounded().0).await;
                    counted.fetch_sub(usize::from(session), Ordering::SeqCst);
                }
            }),
        );
        tokio::spawn(endpoint.run());
        Self { endpoint, sessions }
    }

    /// A client at the address 127.0.0.`address`.
    pub(crate) fn client(&mut self, address: u8) -> Client {
        Client { endpoint: self.endpoint.clone(), address, principal: None, session: None }
    }

    pub(crate) fn sessions(&self) -> usize {
        self.sessions.load(Ordering::SeqCst)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Client {
    endpoint: Endpoint,
    address: u8,
    principal: Option<&'static str>,
    session: Option<String>,
}

/// A body of pieces, which may not end.
struct Pieces {
    piece: Bytes,
    left: usize,
    ends: bool,
}

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, Infallible>>> {
        if self.left == 0 {
            return if self.ends { Poll::Ready(None) } else { Poll::Pending };
        }
        let size = self.left.min(self.piece.len());
        self.left -= size;
        Poll::Ready(Some(Ok(http_body::Frame::data(self.piece.slice(..size)))))
    }
}

impl Client {
    pub(crate) fn named(self, principal: &'static str) -> Self {
        Self { principal: Some(principal), ..self }
    }

    pub(crate) fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    fn send(
        &self,
        method: Method,
        session: Option<&str>,
        last: Option<&str>,
        body: Pieces,
    ) -> JoinHandle<Response<Body>> {
        let mut request = Request::builder().method(method).uri("/mcp").header("host", "localhost");
        request = request.header("content-type", "application/json");
        for (name, value) in [("mcp-session-id", session), ("last-event-id", last)] {
            if let Some(value) = value {
                request = request.header(name, value);
            }
        }
        let mut request = request.body(body).unwrap();
        let address = Ipv4Addr::new(127, 0, 0, self.address);
        request.extensions_mut().insert(RemoteAddr::new(SocketAddr::new(address.into(), 50_000)));
        if let Some(principal) = self.principal {
            request.extensions_mut().insert(Principal::new(principal));
        }
        let mut endpoint = self.endpoint.clone();
        tokio::spawn(async move { endpoint.call(request).await.unwrap() })
    }

    async fn post(&self, text: String) -> Response<Body> {
        let body = Pieces { left: text.len(), piece: text.into(), ends: true };
        self.send(Method::POST, self.session(), None, body).await.unwrap()
    }

    async fn get(&self, last: Option<&str>) -> Response<Body> {
        let body = Pieces { left: 0, piece: Bytes::new(), ends: true };
        self.send(Method::GET, self.session(), last, body).await.unwrap()
    }

    /// Sends `initialize`, and leaves it at that.
    pub(crate) async fn initialize(&self) -> Response<Body> {
        let text = initialize("2025-11-25");
        let body = Pieces { left: text.len(), piece: text.into(), ends: true };
        self.send(Method::POST, None, None, body).await.unwrap()
    }

    /// Opens a session and sends `notifications/initialized`.
    pub(crate) async fn try_open(mut self) -> Result<Self, StatusCode> {
        let response = self.initialize().await;
        if response.status() != StatusCode::OK {
            return Err(response.status());
        }
        self.session = Some(response.headers()["mcp-session-id"].to_str().unwrap().to_owned());
        let told = self.post(notification("notifications/initialized")).await;
        assert_eq!(told.status(), StatusCode::ACCEPTED);
        Ok(self)
    }

    pub(crate) async fn open(self) -> Self {
        self.try_open().await.expect("there is room for a polite client")
    }

    pub(crate) async fn ask(&self, id: u64, method: &str, params: Value) -> Response<Body> {
        self.post(request(id, method, params)).await
    }

    /// The status of a call whose answer is read.
    pub(crate) async fn echo(&self, id: u64) -> StatusCode {
        self.echo_padded(id, "").await
    }

    pub(crate) async fn echo_padded(&self, id: u64, padding: &str) -> StatusCode {
        let response = self.ask(id, "echo", json!({ "padding": padding })).await;
        let (status, mut body) = (response.status(), response.into_body());
        let mut text = String::new();
        while let Some(more) = piece(&mut body).await {
            text += &more;
        }
        assert!(status != StatusCode::OK || text.contains("\"result\""), "{text:.200}");
        status
    }

    pub(crate) async fn cancel(&self, id: u64) {
        let params = json!({ "requestId": id });
        let text =
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }).to_string();
        assert_eq!(self.post(text).await.status(), StatusCode::ACCEPTED);
    }

    /// Begins a POST of which so many bytes come, and no more. None if it is refused for want of room.
    pub(crate) async fn begin_body(
        &self,
        session: Option<&str>,
        length: usize,
    ) -> Option<JoinHandle<Response<Body>>> {
        let body = Pieces { left: length, piece: vec![b' '; 64 << 10].into(), ends: false };
        let response = self.send(Method::POST, session, None, body);
        tokio::time::sleep(Duration::from_nanos(1)).await;
        if !response.is_finished() {
            return Some(response);
        }
        assert_eq!(response.await.unwrap().status(), StatusCode::SERVICE_UNAVAILABLE);
        None
    }

    /// Asks, reads the first event, and loses the stream before the answer. Returns the id of that event.
    pub(crate) async fn lose_answer(&self, id: u64, text: &str) -> String {
        let mut response = self.ask(id, "count", json!({ "n": 1 })).await.into_body();
        let mut said = String::new();
        while let Some(more) = piece(&mut response).await {
            said += &more;
        }
        let first = said.lines().find_map(|line| line.strip_prefix("id: ")).unwrap().to_owned();
        let kept = self.ask(id, "echo", json!({ "text": text })).await;
        let mut body = kept.into_body();
        let mut said = String::new();
        while let Some(more) = piece(&mut body).await {
            said += &more;
        }
        let own = said.lines().find_map(|line| line.strip_prefix("id: ")).unwrap();
        assert_ne!(own, first);
        own.to_owned()
    }

    /// The events after an event.
    pub(crate) async fn resume(&self, after: &str) -> String {
        let response = self.try_resume(after).await;
        assert_eq!(response.status(), StatusCode::OK);
        let (mut text, mut body) = (String::new(), response.into_body());
        while let Some(more) = piece(&mut body).await {
            text += &more;
        }
        text
    }

    pub(crate) async fn try_resume(&self, after: &str) -> Response<Body> {
        self.get(Some(after)).await
    }

    pub(crate) async fn listen(&self) -> Response<Body> {
        let response = self.get(None).await;
        assert_eq!(response.status(), StatusCode::OK);
        response
    }

    pub(crate) async fn delete(self) {
        let body = Pieces { left: 0, piece: Bytes::new(), ends: true };
        let response = self.send(Method::DELETE, self.session(), None, body).await.unwrap();
        assert_eq!(response.status(), StatusCode::NO_CONTENT);
    }
}

//! The service of the connections: a few methods, each of which does one thing that a transport must carry.

use std::sync::atomic::{AtomicBool, Ordering};

use agentwire_jsonrpc::{ErrorObject, Frame, Message, Notification, RawJson, Request, RequestId, Response};
use agentwire_transport::Packet;
use agentwire_transport_http::server::{Endpoint, EndpointConfig, Serve, serve};
use bytestring::ByteString;
use futures::channel::mpsc::{self, UnboundedReceiver, UnboundedSender};
use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::raw::{Events, PATIENCE, Raw};
use crate::connections::{Connection, Connections, Inline, endpoint};

/// Whether an `initialize` that is to be answered once was.
static ANSWERED_ONCE: AtomicBool = AtomicBool::new(false);

/// The messages that a connection receives, for tests to wait for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Heard {
    Opened {
        session: bool,
    },
    Message(String),
    Answer(RequestId),
    Cancelled(RequestId),
    /// The connection has sent so many messages of a flood.
    Sent(u64),
    Ended,
}

/// A server on a port of its own.
pub(crate) struct Server {
    pub(crate) port: u16,
    pub(crate) heard: UnboundedReceiver<Heard>,
    pub(crate) tasks: Vec<JoinHandle<()>>,
}

impl Server {
    pub(crate) async fn start(config: EndpointConfig) -> Self {
        Self::start_with(config, |serve| serve).await
    }

    /// One whose endpoint serves its clients itself.
    pub(crate) async fn inline(config: EndpointConfig) -> Self {
        Self::inline_with(config, |serve| serve).await
    }

    pub(crate) async fn inline_with(config: EndpointConfig, adjust: impl FnOnce(Serve) -> Serve) -> Self {
        let (heard, heard_by_test) = mpsc::unbounded();
        let endpoint =
            Endpoint::serving(config, Inline(move |connection| serve_connection(connection, heard.clone())));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let front = adjust(serve(listener, endpoint));
        let tasks = vec![tokio::spawn(async move { front.await })];
        Self { port, heard: heard_by_test, tasks }
    }

    pub(crate) async fn start_with(config: EndpointConfig, adjust: impl FnOnce(Serve) -> Serve) -> Self {
        let (endpoint, connections) = endpoint(config);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (heard, heard_by_test) = mpsc::unbounded();
        let front = adjust(serve(listener, endpoint));
        let tasks = vec![
            tokio::spawn(async move { front.await }),
            tokio::spawn(async move { serve_connections(connections, heard).await }),
        ];
        Self { port, heard: heard_by_test, tasks }
    }

    pub(crate) async fn raw(&self) -> Raw {
        Raw::mcp(self.port).await
    }

    /// One request on a connection of its own, with all of its response.
    pub(crate) async fn exchange(&self, method: &str, headers: &[(&str, &str)], body: &str) -> (u16, String) {
        let (head, body) = self.raw().await.exchange(method, headers, body).await;
        (head.status, body)
    }

    /// Opens a session.
    pub(crate) async fn open(&self, revision: &str) -> Client<'_> {
        let mut raw = self.raw().await;
        let (head, body) = raw.exchange("POST", &[], &initialize(revision)).await;
        assert_eq!(head.status, 200, "{body}");
        Client {
            server: self,
            session: head.header("mcp-session-id").unwrap().to_owned(),
            revision: revision.to_owned(),
        }
    }

    /// Waits until a message is received.
    pub(crate) async fn hears(&mut self, wanted: &Heard) {
        let search = async {
            while let Some(heard) = self.heard.next().await {
                if heard == *wanted {
                    return;
                }
            }
            panic!("the connections have gone");
        };
        tokio::time::timeout(PATIENCE, search).await.unwrap_or_else(|_| panic!("never heard {wanted:?}"));
    }
}

/// The client of one session.
pub(crate) struct Client<'a> {
    server: &'a Server,
    pub(crate) session: String,
    revision: String,
}

impl Client<'_> {
    pub(crate) fn headers(&self) -> Vec<(&str, &str)> {
        let mut headers = vec![("Mcp-Session-Id", self.session.as_str())];
        if self.revision != "2025-03-26" {
            headers.push(("MCP-Protocol-Version", &self.revision));
        }
        headers
    }

    /// A POST with all of its response.
    pub(crate) async fn post(&self, body: &str) -> (u16, String) {
        self.server.exchange("POST", &self.headers(), body).await
    }

    /// A POST whose response is read bit by bit.
    pub(crate) async fn call(&self, body: &str) -> Events {
        let mut raw = self.server.raw().await;
        raw.send("POST", &self.headers(), body).await;
        let head = raw.head().await;
        assert_eq!((head.status, head.header("content-type")), (200, Some("text/event-stream")));
        Events::new(raw)
    }

    pub(crate) async fn get(&self) -> Events {
        self.resume(None).await.unwrap()
    }

    /// A GET; the status if it is refused.
    pub(crate) async fn resume(&self, after: Option<&str>) -> Result<Events, u16> {
        let mut raw = self.server.raw().await;
        let mut headers = self.headers();
        headers.extend(after.map(|after| ("Last-Event-ID", after)));
        raw.send("GET", &headers, "").await;
        let head = raw.head().await;
        if head.status != 200 {
            return Err(head.status);
        }
        assert_eq!(head.header("content-type"), Some("text/event-stream"));
        Ok(Events::new(raw))
    }
}

pub(crate) fn initialize(revision: &str) -> String {
    request(0, "initialize", json!({ "protocolVersion": revision, "capabilities": {} }))
}

pub(crate) fn request(id: impl Into<Value>, method: &str, params: Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params }).to_string()
}

pub(crate) fn notification(method: &str) -> String {
    json!({ "jsonrpc": "2.0", "method": method }).to_string()
}

pub(crate) async fn serve_connections(mut connections: Connections, heard: UnboundedSender<Heard>) {
    while let Some(connection) = connections.next().await {
        tokio::spawn(serve_connection(connection, heard.clone()));
    }
}

/// Reports that a connection has ended, also when its service was dropped.
struct Ending(UnboundedSender<Heard>);

impl Drop for Ending {
    fn drop(&mut self) {
        let _ = self.0.unbounded_send(Heard::Ended);
    }
}

pub(crate) async fn serve_connection(mut connection: Connection, heard: UnboundedSender<Heard>) {
    let say = |what| drop(heard.unbounded_send(what));
    let _ending = Ending(heard.clone());
    say(Heard::Opened { session: connection.is_session() });
    let mut asking = None;
    while let Some(packet) = connection.next().await {
        match packet.unwrap() {
            Packet::Frame { frame: Frame::Single(Message::Request(request)), .. } => {
                say(Heard::Message(request.method.to_string()));
                answer(&mut connection, request, &mut asking, &say).await;
            }
            Packet::Frame { frame: Frame::Single(Message::Notification(notification)), .. } => {
                say(Heard::Message(notification.method.to_string()));
                if &*notification.method == "finish" {
                    let _ = connection.send(result(&5_u64.into(), &json!("late"))).await;
                }
            }
            Packet::Frame { frame: Frame::Single(Message::Response(response)), .. } => {
                say(Heard::Answer(response.id));
                if let Some(asked) = asking.take() {
                    let _ = connection.send(result(&asked, &json!("asked"))).await;
                }
            }
            Packet::Frame { frame: Frame::Batch(messages), .. } => {
                let said = messages.iter().flatten().filter_map(|message| match message {
                    Message::Request(Request { method, .. })
                    | Message::Notification(Notification { method, .. }) => Some(method.to_string()),
                    Message::Response(_) => None,
                });
                said.for_each(|method| say(Heard::Message(method)));
                answer_batch(&mut connection, messages).await
            }
            Packet::CallerLeft(id) => say(Heard::Cancelled(id)),
            other => panic!("{other:?}"),
        }
    }
}

async fn answer(
    connection: &mut Connection,
    request: Request,
    asking: &mut Option<RequestId>,
    say: &impl Fn(Heard),
) {
    let id = request.id;
    // What is nested too deep to be decoded is as good as nothing.
    let params: Value = request.params.and_then(|params| params.decode().ok()).unwrap_or_default();
    let number = |name: &str| params[name].as_u64().unwrap();
    match &*request.method {
        "initialize" if params["protocolVersion"] == "refuse" => drop(connection.send(refusal(id)).await),
        // Another node gets no answer when it opens the session again.
        "initialize"
            if params["capabilities"]["once"] == true && ANSWERED_ONCE.swap(true, Ordering::SeqCst) => {}
        "initialize" => drop(connection.send(result(&id, &params)).await),
        "logging/setLevel" | "resources/subscribe"
            if params["level"] == "bogus"
                || params["uri"].as_str().is_some_and(|uri| uri.starts_with("no:")) =>
        {
            drop(connection.send(refusal(id)).await);
        }
        "logging/setLevel"
        | "resources/subscribe"
        | "resources/unsubscribe"
        | "echo"
        | "tools/call"
        | "resources/read"
        | "tasks/get" => drop(connection.send(result(&id, &params)).await),
        // Sends some notifications in the course of the request, and then answers.
        "count" => {
            for at in 1..=number("n") {
                let _ = connection.send(note("progress", Some(&id), &json!({ "at": at }))).await;
            }
            let _ = connection.send(result(&id, &json!("counted"))).await;
        }
        "flood" => {
            let text = "x".repeat(1000);
            for at in 1..=number("n") {
                let _ =
                    connection.send(note("progress", Some(&id), &json!({ "at": at, "text": text }))).await;
                say(Heard::Sent(at));
            }
        }
        // Sends a notification that belongs to no request.
        "announce" => {
            let _ = connection.send(note("changed", None, &params)).await;
            let _ = connection.send(result(&id, &json!("announced"))).await;
        }
        // What the services of all nodes say when the tools are others.
        "change" => {
            let _ = connection.send(note("notifications/tools/list_changed", None, &params)).await;
            let _ = connection.send(result(&id, &params)).await;
        }
        "ask" => {
            let asked = Message::from(Request::new("s-1", "roots/list", None));
            *asking = Some(id.clone());
            let _ = connection
                .send(Packet::Frame { frame: asked.into(), in_reply_to: Some(id), source: None })
                .await;
        }
        "large" => {
            let text = "y".repeat(usize::try_from(number("n")).unwrap());
            let _ = connection.send(result(&id, &json!(text))).await;
        }
        "panic" => panic!("as it was asked to"),
        // Is not answered, unless a client sends "finish" and its id is 5.
        "wait" => {}
        "fail" => {
            let error = ErrorObject::new(params["code"].as_i64().unwrap(), "failed");
            let _ = connection.send(Message::from(Response::new(id, Err(error))).into()).await;
        }
        other => {
            let error = Response::new(id, Err(ErrorObject::method_not_found(other)));
            let _ = connection.send(Message::from(error).into()).await;
        }
    }
}

fn refusal(id: RequestId) -> Packet {
    Message::from(Response::new(id, Err(ErrorObject::invalid_params("no")))).into()
}

async fn answer_batch(
    connection: &mut Connection,
    messages: Vec<Result<Message, agentwire_jsonrpc::Malformed>>,
) {
    let answers = messages.into_iter().filter_map(|message| match message {
        Ok(Message::Request(request)) => {
            Some(Ok(Response::new(request.id, Ok(RawJson::EMPTY_OBJECT)).into()))
        }
        Err(malformed) => Some(Err(malformed)),
        _ => None,
    });
    let answers: Vec<_> = answers.collect();
    if !answers.is_empty() {
        let _ = connection.send(Packet::new(Frame::Batch(answers))).await;
    }
}

fn result(id: &RequestId, value: &Value) -> Packet {
    Message::from(Response::new(id.clone(), Ok(RawJson::encode(value).unwrap()))).into()
}

fn note(method: &str, in_reply_to: Option<&RequestId>, params: &Value) -> Packet {
    let note = Notification::new(ByteString::from(method), Some(RawJson::encode(params).unwrap()));
    Packet::Frame { frame: Message::from(note).into(), in_reply_to: in_reply_to.cloned(), source: None }
}

//! A client's side of ACP over HTTP: messages are posted, and what the agent sends arrives on event streams that stay open.

use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::http::{HttpRequest, HttpResponse, HttpTarget};
use super::received::{Received, forward, next_in, read_body};
use crate::verdict::{Outcome, Stop};

/// A connection as its client knows it. Dropping it ends the connection.
pub(crate) struct AcpConnection {
    shared: Arc<Shared>,
}

/// A conversation over such a connection.
pub(crate) struct AcpHttp {
    connection: AcpConnection,
    received: mpsc::Sender<Received>,
}

/// The state that the streams of a connection share.
struct Shared {
    target: HttpTarget,
    known: Mutex<Known>,
}

/// The ids and versions that the agent has sent for the connection so far.
#[derive(Default)]
struct Known {
    id: Option<String>,
    /// The version that was agreed on.
    version: Option<String>,
    cookies: Vec<(String, String)>,
    /// Sessions whose stream is open.
    streams: HashSet<String>,
    /// The session of each request of the agent that belongs to one, by the request's id.
    asked: HashMap<String, String>,
    reading: JoinSet<()>,
}

impl AcpConnection {
    pub(crate) fn new(target: HttpTarget) -> Self {
        Self { shared: Arc::new(Shared { target: target.of_agent(), known: Mutex::default() }) }
    }

    /// The id that the agent has given.
    pub(crate) fn id(&self) -> Option<String> {
        self.shared.known().id.clone()
    }

    /// A request with the headers of the connection, and none of a session.
    pub(crate) fn request(&self, method: &str) -> HttpRequest {
        self.shared.request(method)
    }

    /// The POST of a message, with all headers that a client sends.
    pub(crate) fn post(&self, message: &Value) -> HttpRequest {
        self.shared.post(message)
    }

    /// The GET of the connection's stream or of a session's.
    pub(crate) fn get(&self, session: Option<&str>) -> HttpRequest {
        self.shared.get(session)
    }

    /// Posts `initialize`, which begins the connection, and returns the response with its result or error.
    pub(crate) async fn initialize(&self, message: &Value) -> Outcome<(HttpResponse, Value)> {
        let mut response = self.post(message).send().await?;
        self.shared.note_head(&response);
        let answer = response.json().await?;
        self.shared.note_version(&answer);
        Ok((response, answer))
    }
}

impl Drop for AcpConnection {
    fn drop(&mut self) {
        self.shared.known().reading.abort_all();
        if let (Some(_), Ok(runtime)) = (self.id(), tokio::runtime::Handle::try_current()) {
            // An agent need not notice that its client is gone.
            let end = self.request("DELETE").unseen();
            runtime.spawn(async move { drop(end.send().await) });
        }
    }
}

impl AcpHttp {
    pub(crate) fn new(target: HttpTarget, received: mpsc::Sender<Received>) -> Self {
        Self { connection: AcpConnection::new(target), received }
    }

    /// Posts a message, and waits until the agent has taken it, so that it gets what a check sends in its order.
    pub(crate) async fn send(&mut self, message: &Value) -> Outcome {
        let shared = Arc::clone(&self.connection.shared);
        let session = shared.session_of(message);
        if let Some(session) = &session {
            // An agent may know the session only when the message has come.
            shared.listen_to(session, &self.received).await;
        }
        match self.connection.post(message).send().await {
            Ok(response) => self.take(response, message).await,
            Err(stop) => self.receive(Received::Broken(stop)).await,
        }
        if let Some(session) = &session {
            shared.listen_to(session, &self.received).await;
        }
        Ok(())
    }

    /// Takes the response to a POST.
    async fn take(&self, mut response: HttpResponse, message: &Value) {
        let shared = &self.connection.shared;
        let begins = shared.known().id.is_none();
        shared.note_head(&response);
        forward(std::mem::take(&mut response.forged), &self.received).await;
        let arrived = read_body(&mut response).await;
        if let Some(Received::Message { message: answer, .. }) = &arrived {
            shared.note_version(answer);
        }
        if begins && shared.known().id.is_some() {
            self.listen().await;
        }
        forward(std::mem::take(&mut response.forged), &self.received).await;
        match arrived {
            // An error that answers another message adds nothing to its status.
            Some(Received::Message { message: answer, .. })
                if response.status() >= 400 && answer.get("id") != message.get("id") =>
            {
                let (status, body) = (response.status(), answer.to_string());
                self.receive(Received::Status { status, body }).await;
            }
            Some(arrived) => self.receive(arrived).await,
            None => {}
        }
    }

    /// Opens the connection's stream.
    async fn listen(&self) {
        let shared = &self.connection.shared;
        match shared.get(None).send().await {
            Ok(response) if response.status() == 200 && response.is_stream() => {
                let reading = read(Arc::clone(shared), response, self.received.clone(), None);
                shared.known().reading.spawn(reading);
            }
            Ok(response) => {
                let seen = format!("status {} and {:?}", response.status(), response.header("content-type"));
                let stop = Stop::failed("an event stream for a GET with the id of the connection", seen);
                self.receive(Received::Broken(stop)).await;
            }
            Err(stop) => self.receive(Received::Broken(stop)).await,
        }
    }

    async fn receive(&self, received: Received) {
        // The check may have ended.
        let _received = self.received.send(received).await;
    }
}

impl Shared {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn request(&self, method: &str) -> HttpRequest {
        let known = self.known();
        let mut request = self.target.request(method);
        let cookies: Vec<String> =
            known.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if !cookies.is_empty() {
            request = request.header("cookie", &cookies.join("; "));
        }
        let headers = [("acp-connection-id", &known.id), ("acp-protocol-version", &known.version)];
        for (name, value) in headers {
            if let Some(value) = value {
                request = request.header(name, value);
            }
        }
        request
    }

    fn post(&self, message: &Value) -> HttpRequest {
        let request =
            self.request("POST").header("content-type", "application/json").body(message.to_string());
        match self.session_of(message) {
            Some(session) => request.header("acp-session-id", &session),
            None => request,
        }
    }

    fn get(&self, session: Option<&str>) -> HttpRequest {
        let request = self.request("GET").header("accept", "text/event-stream");
        match session {
            Some(session) => request.header("acp-session-id", session),
            None => request,
        }
    }

    /// The session of a message to the agent: that of its params, or of the request that it answers.
    fn session_of(&self, message: &Value) -> Option<String> {
        match message.get("method").and_then(Value::as_str) {
            Some(method) if method.starts_with("$/") => None,
            Some(_) => message.pointer("/params/sessionId").and_then(Value::as_str).map(str::to_owned),
            None => self.known().asked.get(&message.get("id")?.to_string()).cloned(),
        }
        // What no header can carry is left to the message.
        .filter(|session| !session.is_empty() && session.bytes().all(|byte| (0x21..0x7f).contains(&byte)))
    }

    /// Keeps the id and the cookies of a response.
    fn note_head(&self, response: &HttpResponse) {
        let mut known = self.known();
        if known.id.is_none() {
            known.id = response.header("acp-connection-id").map(str::to_owned);
        }
        for (_, cookie) in response.head.headers.iter().filter(|(name, _)| name == "set-cookie") {
            let pair = cookie.split(';').next().unwrap_or_default();
            if let Some((name, value)) = pair.split_once('=') {
                known.cookies.retain(|(kept, _)| kept != name.trim());
                known.cookies.push((name.trim().to_owned(), value.trim().to_owned()));
            }
        }
    }

    /// Keeps the version in the result of `initialize`.
    fn note_version(&self, answer: &Value) {
        if let Some(version) = answer.pointer("/result/protocolVersion") {
            self.known().version = Some(version.to_string());
        }
    }

    /// Opens a session's stream, unless it is open. One that the agent refuses is opened with a later message.
    async fn listen_to(self: &Arc<Self>, session: &str, received: &mpsc::Sender<Received>) {
        {
            let mut known = self.known();
            if known.id.is_none() || !known.streams.insert(session.to_owned()) {
                return;
            }
        }
        match self.get(Some(session)).send().await {
            Ok(response) if response.status() == 200 && response.is_stream() => {
                let reading = read(Arc::clone(self), response, received.clone(), Some(session.to_owned()));
                self.known().reading.spawn(reading);
            }
            _ => drop(self.known().streams.remove(session)),
        }
    }

    /// Keeps the id of the session that a result of the agent opens.
    fn note_message(&self, message: &Value, stream: Option<&str>) -> Option<String> {
        let id = message.get("id")?;
        if message.get("method").is_none() {
            return message.pointer("/result/sessionId").and_then(Value::as_str).map(str::to_owned);
        }
        let session = message.pointer("/params/sessionId").and_then(Value::as_str).or(stream);
        if let Some(session) = session {
            self.known().asked.insert(id.to_string(), session.to_owned());
        }
        None
    }
}

/// Reads a stream to its end. The end of the connection's own one ends the conversation.
fn read(
    shared: Arc<Shared>,
    mut response: HttpResponse,
    received: mpsc::Sender<Received>,
    session: Option<String>,
) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        while let Some(arrived) = next_in(&mut response).await {
            if let Received::Message { message, .. } = &arrived
                && let Some(opened) = shared.note_message(message, session.as_deref())
            {
                // Before the check receives the id of the session, so that it misses no message of it.
                shared.listen_to(&opened, &received).await;
            }
            if received.send(arrived).await.is_err() {
                return;
            }
        }
        match session {
            Some(session) => drop(shared.known().streams.remove(&session)),
            None => drop(received.send(Received::Closed).await),
        }
    })
}

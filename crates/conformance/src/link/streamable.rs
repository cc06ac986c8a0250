//! A client's side of Streamable HTTP: each message is a POST, whose response is read by a task.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::Received;
use super::http::{HttpRequest, HttpResponse, HttpTarget};
use crate::revision::Revision;
use crate::verdict::Outcome;

/// How long a stream may be silent: a check ends long before.
const SILENCE: Duration = Duration::from_secs(600);

/// A conversation over Streamable HTTP. Dropping it closes its streams.
pub(crate) struct Streamable {
    target: HttpTarget,
    revision: Revision,
    session: Arc<Mutex<Option<String>>>,
    received: mpsc::Sender<Received>,
    tasks: JoinSet<()>,
}

impl Streamable {
    pub(crate) fn new(target: HttpTarget, revision: Revision, received: mpsc::Sender<Received>) -> Self {
        Self { target, revision, session: Arc::default(), received, tasks: JoinSet::new() }
    }

    /// The session id that the server gave.
    pub(crate) fn session(&self) -> Option<String> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The POST of a message, with all headers that a client sends in this revision.
    pub(crate) fn post(&self, message: &Value) -> HttpRequest {
        post(&self.target, self.revision, self.session().as_deref(), message)
    }

    /// A request with the headers of this session and no body.
    pub(crate) fn request(&self, method: &str) -> HttpRequest {
        with_session(self.target.request(method), self.revision, self.session().as_deref())
    }

    pub(crate) fn send(&mut self, message: &Value) -> Outcome {
        let request = self.post(message);
        let (session, received) = (Arc::clone(&self.session), self.received.clone());
        self.tasks.spawn(async move {
            match request.send().await {
                Ok(response) => {
                    if let Some(id) = response.header("mcp-session-id") {
                        *session.lock().unwrap_or_else(PoisonError::into_inner) = Some(id.to_owned());
                    }
                    read(response, received).await;
                }
                Err(stop) => {
                    // The check may have ended.
                    let _received = received.send(Received::Broken(stop)).await;
                }
            }
        });
        Ok(())
    }

    /// Opens the stream for messages that belong to no request; the response's status if that is refused.
    pub(crate) async fn listen(&mut self) -> Outcome<u16> {
        let response = self.request("GET").header("accept", "text/event-stream").send().await?;
        let status = response.status();
        if status == 200 {
            self.tasks.spawn(read(response, self.received.clone()));
        }
        Ok(status)
    }
}

/// The POST of a message in a revision.
pub(crate) fn post(
    target: &HttpTarget,
    revision: Revision,
    session: Option<&str>,
    message: &Value,
) -> HttpRequest {
    let method = message.get("method").and_then(Value::as_str);
    let mut request = target.request("POST").json(message);
    if revision.has_sessions() {
        if method == Some("initialize") {
            return request;
        }
        return with_session(request, revision, session);
    }
    request = request.header("mcp-protocol-version", revision.as_str());
    if let Some(method) = method {
        request = request.header("mcp-method", method);
    }
    let name = match method {
        Some("tools/call" | "prompts/get") => message.pointer("/params/name"),
        Some("resources/read") => message.pointer("/params/uri"),
        _ => None,
    };
    match name.and_then(Value::as_str) {
        Some(name) => request.header("mcp-name", &header_value(name)),
        None => request,
    }
}

fn with_session(mut request: HttpRequest, revision: Revision, session: Option<&str>) -> HttpRequest {
    if let Some(session) = session {
        request = request.header("mcp-session-id", session);
    }
    if revision >= Revision::Mcp20250618 {
        request = request.header("mcp-protocol-version", revision.as_str());
    }
    request
}

/// A value as a header carries it: as it is, or in base64 between marks.
pub(crate) fn header_value(value: &str) -> String {
    let plain = value.bytes().all(|byte| (0x20..0x7f).contains(&byte))
        && value.trim() == value
        && !value.is_empty()
        && !(value.starts_with("=?base64?") && value.ends_with("?="));
    if plain {
        value.to_owned()
    } else {
        format!("=?base64?{}?=", base64::engine::general_purpose::STANDARD.encode(value))
    }
}

/// Reads a response to its end.
async fn read(mut response: HttpResponse, received: mpsc::Sender<Received>) {
    for message in std::mem::take(&mut response.forged) {
        let _received = received.send(Received::Message { message, stream: 0, event_id: None }).await;
    }
    let stream = response.head.exchange;
    if response.is_stream() {
        while let Ok(Some(Some(event))) = response.event_or_silence(SILENCE).await {
            if !event.is_message() {
                continue;
            }
            let arrived = match serde_json::from_str(&event.data) {
                Ok(message) => Received::Message { message, stream, event_id: event.id },
                Err(_) => Received::Text(event.data.into_bytes()),
            };
            if received.send(arrived).await.is_err() {
                return;
            }
        }
        let _received = received.send(Received::StreamEnd(stream)).await;
        return;
    }
    let status = response.status();
    let arrived = match response.bytes().await {
        Err(stop) => Received::Broken(stop),
        Ok(bytes) => match serde_json::from_slice::<Value>(&bytes) {
            Ok(message) if message.is_object() || message.is_array() => {
                Received::Message { message, stream, event_id: None }
            }
            _ if bytes.is_empty() && (200..300).contains(&status) => return,
            _ => Received::Status { status, body: String::from_utf8_lossy(&bytes).into_owned() },
        },
    };
    let _received = received.send(arrived).await;
}

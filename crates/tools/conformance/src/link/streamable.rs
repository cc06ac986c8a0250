//! A client's side of Streamable HTTP: each message is a POST, whose response is read by a task.

use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use super::http::{HttpRequest, HttpResponse, HttpTarget};
use super::received::{Received, forward, forward_events, read_body};
use crate::requirements::revision::Revision;
use crate::verdict::Outcome;

/// A conversation over Streamable HTTP. Dropping it closes its streams.
pub(crate) struct Streamable {
    target: HttpTarget,
    revision: Revision,
    /// The value of the version header in place of the revision.
    version: Option<String>,
    session: Arc<Mutex<Option<String>>>,
    received: mpsc::Sender<Received>,
    tasks: JoinSet<()>,
}

impl Streamable {
    pub(crate) fn new(target: HttpTarget, revision: Revision, received: mpsc::Sender<Received>) -> Self {
        Self { target, revision, version: None, session: Arc::default(), received, tasks: JoinSet::new() }
    }

    /// The session id that the server gave.
    pub(crate) fn session(&self) -> Option<String> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The POST of a message, with all headers that a client sends in this revision.
    pub(crate) fn post(&self, message: &Value) -> HttpRequest {
        let request = post(&self.target, self.revision, self.session().as_deref(), message);
        match &self.version {
            Some(version) => request.header("mcp-protocol-version", version),
            None => request,
        }
    }

    /// Lets the version header of each request say something else.
    pub(crate) fn set_version(&mut self, version: &str) {
        self.version = Some(version.to_owned());
    }

    /// A request with the headers of this session and no body.
    pub(crate) fn request(&self, method: &str) -> HttpRequest {
        with_session(self.target.request(method), self.revision, self.session().as_deref())
    }

    /// Posts a message. A request has been written when this returns, and anything else has been answered, so that the server gets
    /// what a check sends in its order.
    pub(crate) async fn send(&mut self, message: &Value) -> Outcome {
        let request = self.post(message);
        let (session, received) = (Arc::clone(&self.session), self.received.clone());
        let (written, has_written) = oneshot::channel();
        let (answered, has_answered) = oneshot::channel();
        self.tasks.spawn(async move {
            let sent = request.send_and_say(written).await;
            if let Some(id) = sent.as_ref().ok().and_then(|response| response.header("mcp-session-id")) {
                *session.lock().unwrap_or_else(PoisonError::into_inner) = Some(id.to_owned());
            }
            // The sender may wait for the other signal.
            let _waits = answered.send(());
            match sent {
                Ok(response) => read(response, received).await,
                // The check may have ended.
                Err(stop) => drop(received.send(Received::Broken(stop)).await),
            }
        });
        // A signal is dropped when the request failed, which the check receives.
        let _signal = if awaits_response(message) { has_written.await } else { has_answered.await };
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

/// Whether a message, or one of a batch, is a request.
fn awaits_response(message: &Value) -> bool {
    let messages = message.as_array().map_or(std::slice::from_ref(message), Vec::as_slice);
    messages.iter().any(|message| message.get("method").is_some() && message.get("id").is_some())
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
    if revision.is_legacy() {
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

/// Adds the headers of a session in a revision.
pub(crate) fn with_session(
    mut request: HttpRequest,
    revision: Revision,
    session: Option<&str>,
) -> HttpRequest {
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
    forward(std::mem::take(&mut response.forged), &received).await;
    if response.is_stream() {
        forward_events(&mut response, &received).await;
        return;
    }
    let arrived = read_body(&mut response).await;
    forward(std::mem::take(&mut response.forged), &received).await;
    if let Some(arrived) = arrived {
        // The check may have ended.
        let _received = received.send(arrived).await;
    }
}

//! Checks of servers: modern requests, mostly over Streamable HTTP.

pub(crate) mod headers;
pub(super) mod methods;
pub(crate) mod parameters;
pub(super) mod state;
pub(crate) mod streams;
pub(super) mod versions;

use serde_json::{Value, json};

use super::features::has_code;
use super::{Server, capabilities};
use crate::link::http::HttpRequest;
use crate::link::streamable::post;
use crate::requirements::revision::Revision;
use crate::subject::Transport;
use crate::verdict::{Outcome, Stop, ensure};

/// The error for headers that differ from the body.
pub(crate) const HEADER_MISMATCH: i64 = -32020;
/// The error for a capability that the client did not declare.
const MISSING_CAPABILITY: i64 = -32021;
/// The error for a version that the server does not speak.
const UNSUPPORTED_VERSION: i64 = -32022;
/// The key of the version in `_meta`.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const DISCOVER: &str = "server/discover";
/// The id of the requests that a check writes itself.
pub(crate) const ID: i64 = 1;

/// How a server answered.
struct Answer {
    /// The status over HTTP.
    status: Option<u16>,
    body: Value,
}

impl Answer {
    /// Whether this is an error with a code and, over HTTP, with a status.
    fn is_error(&self, status: u16, code: i64) -> bool {
        self.status.is_none_or(|seen| seen == status) && has_code(&self.body, code)
    }

    /// Fails unless this is such an error.
    fn expect_error(&self, status: u16, code: i64, to: &str) -> Outcome {
        let expected = match self.status {
            Some(_) => format!("the status {status} and the error {code} in response to {to}"),
            None => format!("the error {code} in response to {to}"),
        };
        ensure!(self.is_error(status, code), expected, "{}", self.as_text());
        Ok(())
    }

    /// Fails unless this is a result.
    fn expect_result(&self, to: &str) -> Outcome<&Value> {
        let result = &self.body["result"];
        let is_status = self.status.is_none_or(|seen| seen == 200);
        ensure!(
            is_status && result.is_object(),
            format!("a result in response to {to}"),
            "{}",
            self.as_text()
        );
        Ok(result)
    }

    fn as_text(&self) -> String {
        match self.status {
            Some(status) => format!("the status {status} and `{}`", self.body),
            None => format!("`{}`", self.body),
        }
    }
}

/// A request with all data about its client.
fn request(server: &Server, method: &str, mut params: Value) -> Value {
    params["_meta"] = server.meta(capabilities(server.revision()));
    json!({"jsonrpc": "2.0", "id": ID, "method": method, "params": params})
}

/// The POST of a message.
async fn posted(server: &Server, message: &Value) -> Outcome<HttpRequest> {
    Ok(post(&server.http().await?, server.revision(), None, message))
}

/// Sends a request over HTTP and waits for its response.
async fn ask(request: HttpRequest) -> Outcome<Answer> {
    let mut response = request.send().await?;
    let status = response.status();
    let is_request = |body: &Value| body.is_object() || body.is_array();
    let body = if response.is_stream() {
        response.response(&json!(ID)).await?
    } else {
        let bytes = response.bytes().await?;
        let read = serde_json::from_slice(&bytes).ok().filter(is_request);
        read.unwrap_or_else(|| json!(String::from_utf8_lossy(&bytes)))
    };
    Ok(Answer { status: Some(status), body })
}

/// Sends a message on a connection of its own, over HTTP with the version that its `_meta` names. On stdio an ordinary request
/// comes first: a server that then stays silent has been started.
async fn tell(server: &Server, message: &Value) -> Outcome<Answer> {
    if server.setting.transport == Transport::Http {
        let version = message.pointer("/params/_meta").and_then(|meta| meta[VERSION].as_str());
        let version = version.unwrap_or(server.revision().as_str());
        return ask(posted(server, message).await?.header("mcp-protocol-version", version)).await;
    }
    let mut conversation = server.open().await?;
    conversation.request(DISCOVER, json!({})).await.map_err(Stop::while_preparing)?;
    conversation.send(message).await?;
    Ok(Answer { status: None, body: conversation.response(&message["id"]).await? })
}

/// The response to `initialize`; over HTTP the body of the response, which may be another text.
async fn initialized(server: &Server) -> Outcome<Value> {
    initialized_as(server, Revision::Mcp20251125).await
}

/// The response to `initialize` with the version of an older revision.
async fn initialized_as(server: &Server, revision: Revision) -> Outcome<Value> {
    let mut server = server.clone();
    server.setting.revision = revision;
    let params = server.initialize(json!({}));
    let message = json!({"jsonrpc": "2.0", "id": ID, "method": "initialize", "params": params});
    if server.setting.transport == Transport::Http {
        return Ok(ask(posted(&server, &message).await?).await.map_err(Stop::while_preparing)?.body);
    }
    let mut conversation = server.connect().await?;
    conversation.send(&message).await?;
    let is_response = |message: &Value| message["id"] == ID || message["error"].is_object();
    conversation.wanted("a response to initialize", is_response).await.map_err(Stop::while_preparing)
}

/// Whether the server also serves older revisions.
async fn serves_sessions(server: &Server) -> Outcome<bool> {
    Ok(initialized(server).await?["result"].is_object())
}

/// Whether the server serves a revision that has no version header.
async fn serves_clients_without_header(server: &Server) -> Outcome<bool> {
    for revision in [Revision::Mcp20250326, Revision::Mcp20241105] {
        let response = initialized_as(server, revision).await?;
        let version = response.pointer("/result/protocolVersion").and_then(Value::as_str);
        if version.is_some_and(|version| version < Revision::Mcp20250618.as_str()) {
            return Ok(true);
        }
    }
    Ok(false)
}

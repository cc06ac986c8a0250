//! Checks of agents: ACP over HTTP and WebSocket, request by request.

pub(crate) mod posts;
pub(crate) mod streams;
pub(crate) mod websocket;

use serde_json::{Value, json};

use super::{Agent, needs_login};
use crate::link::acp_http::AcpConnection;
use crate::link::http::{HttpResponse, HttpTarget};
use crate::verdict::{Outcome, Stop, ensure};

/// An id that no agent has given.
const UNKNOWN: &str = "5d0f4a3e-0000-4000-8000-c0f0a11ce000";

/// A request that every agent answers: it knows no such method.
fn unknown_method(id: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "_conformance/unknown", "params": {}})
}

impl Agent {
    /// A connection that was begun.
    async fn connected(&self) -> Outcome<AcpConnection> {
        self.connected_at(self.endpoint().await?).await
    }

    async fn connected_at(&self, target: HttpTarget) -> Outcome<AcpConnection> {
        let connection = AcpConnection::new(target);
        let (response, answer) =
            connection.initialize(&self.initialize_message()).await.map_err(Stop::while_preparing)?;
        if connection.id().is_none() {
            let status = response.status();
            let seen = format!("initialize: status {status} without `Acp-Connection-Id`: `{answer}`");
            return Err(Stop::inconclusive(seen));
        }
        Ok(connection)
    }
}

/// Opens the connection's stream or a session's.
async fn stream(connection: &AcpConnection, session: Option<&str>) -> Outcome<HttpResponse> {
    let response = connection.get(session).send().await?;
    let seen = format!("status {} and {:?}", response.status(), response.header("content-type"));
    ensure!(response.status() == 200 && response.is_stream(), "an event stream for a GET", "{seen}");
    Ok(response)
}

/// Posts a message that the agent has to take.
async fn post(connection: &AcpConnection, message: &Value) -> Outcome {
    let response = connection.post(message).send().await?;
    ensure!(
        response.status() == 202,
        format!("status 202 for a POST of `{message}`"),
        "{}",
        response.status()
    );
    Ok(())
}

/// Reads a stream up to the first message that a test accepts; returns that and what came before.
async fn read_until(
    stream: &mut HttpResponse,
    what: &str,
    wait: std::time::Duration,
    accept: impl Fn(&Value) -> bool,
) -> Outcome<(Value, Vec<Value>)> {
    let mut before = Vec::new();
    loop {
        let event = match stream.event_or_silence(wait).await? {
            Some(Some(event)) => event,
            Some(None) => return Err(Stop::failed(what, "the stream ended")),
            None => return Err(Stop::failed(what, format!("none came within {} ms", wait.as_millis()))),
        };
        let message: Value = serde_json::from_str(&event.data).unwrap_or_default();
        if accept(&message) {
            return Ok((message, before));
        }
        if message.is_object() {
            before.push(message);
        }
    }
}

fn is_response_to(message: &Value, id: &Value) -> bool {
    message.get("method").is_none() && message.get("id") == Some(id)
}

/// Begins a session, whose id comes on the connection's stream.
async fn new_session(
    agent: &Agent,
    connection: &AcpConnection,
    stream: &mut HttpResponse,
) -> Outcome<String> {
    let id = json!("conformance-session");
    let params = agent.session_params();
    post(connection, &json!({"jsonrpc": "2.0", "id": id, "method": "session/new", "params": params})).await?;
    let what = "the response to session/new on the stream of the connection";
    let (response, _) =
        read_until(stream, what, agent.setting.wait, |message| is_response_to(message, &id)).await?;
    match response.pointer("/result/sessionId").and_then(Value::as_str) {
        Some(session) => Ok(session.to_owned()),
        None if response.pointer("/error/code") == Some(&json!(-32000)) => Err(needs_login()),
        None => Err(Stop::inconclusive(format!("session/new: `{response}`"))),
    }
}

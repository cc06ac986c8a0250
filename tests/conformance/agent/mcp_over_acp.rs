//! MCP servers of the type `acp`, which the client provides over the same connection.
//!
//! `agentwire-acp-sessions` does not know them. A proxy between the client and the sessions keeps them apart, and gives a
//! turn's extension `_mcp/message` the name of the draft.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agentwire_acp_proxy::{Direction, ErrorObject, Next, Proxy, RawJson, Request};
use agentwire_acp_schema::v1::unstable::{MessageMcpRequest, MessageMcpResponse};
use agentwire_acp_sessions::{Turn, TurnError};
use agentwire_jsonrpc::RequestMethod as _;
use serde_json::{Value, json};

/// The method that a turn sends in place of `mcp/message`.
const EXTENSION: &str = "_mcp/message";

/// The first server over ACP of each session, by its id. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Servers(Arc<Mutex<HashMap<String, String>>>);

impl Servers {
    /// The server of a session.
    pub(crate) fn of(&self, session: &str) -> Option<String> {
        self.lock().get(session).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes a request on that opens a session, without the servers that the sessions do not know.
    async fn open(&self, mut request: Request, next: Next) -> Result<RawJson, ErrorObject> {
        let params = request.params.as_ref().and_then(|params| params.decode::<Value>().ok());
        let mut params = params.unwrap_or_default();
        let server = take_servers(&mut params).into_iter().next();
        if server.is_some() {
            request.params = Some(RawJson::encode(&params).map_err(ErrorObject::internal_error)?);
        }
        let result = next.run(request).await?;
        let opened: Value = result.decode().map_err(ErrorObject::internal_error)?;
        let session = opened["sessionId"].as_str().or(params["sessionId"].as_str()).unwrap_or_default();
        match server {
            Some(server) => self.lock().insert(session.to_owned(), server),
            None => self.lock().remove(session),
        };
        Ok(result)
    }
}

impl Proxy for Servers {
    async fn request(&self, mut request: Request, next: Next) -> Result<RawJson, ErrorObject> {
        let method = request.method.clone();
        match (next.direction(), &*method) {
            (Direction::ToClient, EXTENSION) => {
                request.method = MessageMcpRequest::NAME.into();
                next.run(request).await
            }
            (Direction::ToAgent, "initialize") => advertise(&next.run(request).await?),
            (Direction::ToAgent, "session/new" | "session/load" | "session/resume") => {
                self.open(request, next).await
            }
            _ => next.run(request).await,
        }
    }
}

/// Takes the servers over ACP out of the params of a request: their ids.
fn take_servers(params: &mut Value) -> Vec<String> {
    let Some(all) = params.get_mut("mcpServers").and_then(Value::as_array_mut) else {
        return Vec::new();
    };
    let (own, others): (Vec<Value>, Vec<Value>) =
        std::mem::take(all).into_iter().partition(|server| server["type"] == "acp");
    *all = others;
    own.iter().filter_map(|server| server["serverId"].as_str().map(str::to_owned)).collect()
}

/// Adds the capability to the answer to `initialize`, at the place that each version has for it.
fn advertise(result: &RawJson) -> Result<RawJson, ErrorObject> {
    let mut result: Value = result.decode().map_err(ErrorObject::internal_error)?;
    if let Some(mcp) = result.pointer_mut("/agentCapabilities/mcpCapabilities") {
        mcp["acp"] = json!(true);
    } else if let Some(mcp) = result.pointer_mut("/capabilities/session/mcp") {
        mcp["acp"] = json!({});
    }
    RawJson::encode(&result).map_err(ErrorObject::internal_error)
}

/// Calls a tool of a server, after a look at its tools: the outcome.
pub(crate) async fn call_tool(
    turn: &Turn,
    server: &str,
    tool: &str,
    text: &str,
) -> Result<MessageMcpResponse, TurnError> {
    ask(turn, server, "tools/list", json!({})).await?;
    ask(turn, server, "tools/call", json!({"name": tool, "arguments": {"text": text}})).await
}

/// Sends a request of MCP's revision without a handshake.
async fn ask(
    turn: &Turn,
    server: &str,
    method: &str,
    mut params: Value,
) -> Result<MessageMcpResponse, TurnError> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let request = format!("request-{}", NEXT.fetch_add(1, Ordering::Relaxed));
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "everything-agent", "version": "1.0.0"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let message = json!({"serverId": server, "requestId": request, "method": method, "params": params});
    let answer = turn.client().extension_request(EXTENSION, &message);
    Ok(turn.unless_cancelled(answer).await??)
}

//! The client's own MCP servers, which the agent reaches with `mcp/message`. They are a proxy between the client and its
//! agent.

use std::sync::{Mutex, MutexGuard, PoisonError};

use agentwire_acp_proxy::{Direction, ErrorObject, Next, PeerHandle, Proxy, RawJson, Request};
use agentwire_acp_schema::v1::unstable::{
    McpError, MessageMcpNotification, MessageMcpRequest, MessageMcpResponse,
};
use agentwire_jsonrpc::{NotificationMethod as _, RequestMethod as _, decode_params};
use serde_json::{Value, json};

/// MCP's revision without a handshake.
const REVISION: &str = "2026-07-28";
/// How much `count` counts.
const STEPS: u32 = 3;

/// One server with the tool `count`, under each id that the client has listed.
#[derive(Debug, Default)]
pub(crate) struct OwnServer {
    ids: Mutex<Vec<String>>,
}

impl Proxy for OwnServer {
    async fn request(&self, request: Request, next: Next) -> Result<RawJson, ErrorObject> {
        match (next.direction(), &*request.method) {
            (Direction::ToClient, MessageMcpRequest::NAME) => {
                let answer = self.answer(&decode_params(request.params)?, &next.peers().agent())?;
                RawJson::encode(&answer).map_err(ErrorObject::internal_error)
            }
            (Direction::ToAgent, "session/new" | "session/load" | "session/resume") => {
                self.learn(request.params.as_ref());
                next.run(request).await
            }
            _ => next.run(request).await,
        }
    }
}

impl OwnServer {
    fn ids(&self) -> MutexGuard<'_, Vec<String>> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers the servers over ACP in the params of a request.
    fn learn(&self, params: Option<&RawJson>) {
        let params: Value = params.and_then(|params| params.decode().ok()).unwrap_or_default();
        let listed = params["mcpServers"].as_array().into_iter().flatten();
        let own = listed.filter(|server| server["type"] == "acp");
        self.ids().extend(own.filter_map(|server| server["serverId"].as_str().map(str::to_owned)));
    }

    /// The outcome of a request. A server that was not listed is none of MCP's errors.
    fn answer(
        &self,
        call: &MessageMcpRequest,
        agent: &PeerHandle,
    ) -> Result<MessageMcpResponse, ErrorObject> {
        if !self.ids().iter().any(|id| *id == *call.server_id) {
            return Err(ErrorObject::invalid_params("no MCP server has this serverId"));
        }
        let params: Value = decode_params(call.params.clone())?;
        let mut result = match (&*call.method, params["name"].as_str()) {
            ("server/discover", _) => json!({"supportedVersions": [REVISION], "capabilities": {"tools": {}}}),
            ("tools/list", _) => json!({"tools": [tool()]}),
            ("tools/call", Some("count")) => {
                count(call, &params["_meta"]["progressToken"], agent)?;
                json!({"content": [{"type": "text", "text": STEPS.to_string()}]})
            }
            ("tools/call", _) => return Ok(McpError::new(-32602, "there is no such tool").into()),
            _ => return Ok(McpError::new(-32601, "method not found").into()),
        };
        result["resultType"] = json!("complete");
        if call.method != "tools/call" {
            result["ttlMs"] = json!(0);
            result["cacheScope"] = json!("private");
        }
        Ok(RawJson::encode(&result).map_err(ErrorObject::internal_error)?.into())
    }
}

fn tool() -> Value {
    json!({"name": "count", "description": "Counts", "inputSchema": {"type": "object"}})
}

/// Reports the progress of a call, if the caller wants it.
fn count(call: &MessageMcpRequest, token: &Value, agent: &PeerHandle) -> Result<(), ErrorObject> {
    if token.is_null() {
        return Ok(());
    }
    for step in 1..=STEPS {
        let params = json!({"progressToken": token, "progress": step, "total": STEPS});
        let params = RawJson::encode(&params).map_err(ErrorObject::internal_error)?;
        let (server, request) = (call.server_id.clone(), call.request_id.clone());
        let note = MessageMcpNotification::new(server, request, "notifications/progress").params(params);
        let note = RawJson::encode(&note).map_err(ErrorObject::internal_error)?;
        agent.notify_now(MessageMcpNotification::NAME, Some(note)).map_err(ErrorObject::internal_error)?;
    }
    Ok(())
}

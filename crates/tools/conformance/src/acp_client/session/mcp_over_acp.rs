//! MCP servers of the type `acp`, which clients provide over the same connection.

use serde_json::{Value, json};

use crate::acp_client::AcpClient;
use crate::acp_client::run::{ClientRun, QUIET};
use crate::acp_client::session::items;
use crate::acp_messages::is_integer;
use crate::check::{ANY, Check, check};
use crate::requirements::revision::Revision;
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::acp_client) const CHECKS: &[Check<AcpClient>] = &[
    check!(lists_servers_only_where_advertised, ANY),
    check!(a_response_has_one_outcome, ANY),
    check!(errors_of_the_server_are_inner_errors, ANY),
    check!(notifications_name_their_request, ANY),
    check!(answers_without_a_handshake, ANY),
];

pub(crate) const MESSAGE: &str = "mcp/message";
const SERVER_ID: &str = "conformance-7c2e";
const REQUEST_ID: &str = "request-1";
/// MCP's revision without a handshake.
const MCP_REVISION: &str = "2026-07-28";

/// The MCP server in the params of the step that opens the session.
fn entry() -> Value {
    json!({"type": "acp", "name": "conformance", "serverId": SERVER_ID})
}

fn is_over_acp(server: &Value) -> bool {
    server["type"] == "acp"
}

async fn lists_servers_only_where_advertised(client: AcpClient) -> Outcome {
    let params = json!({"mcp_servers": [entry()]});
    let run = client.tried("new_session", params, client.script()).await?;
    let listed = items(&run, "mcpServers").into_iter().find(is_over_acp);
    let what = "no MCP servers of the type `acp`, because the agent did not advertise that";
    ensure!(listed.is_none(), what, "`{}`", json!(listed));
    Ok(())
}

/// A client that provides an MCP server for its session, and the server's id.
struct Provider {
    run: ClientRun,
    server: Value,
}

impl Provider {
    /// Makes the client begin a session with a server. The check does not apply to a client that lists none.
    async fn new(client: &AcpClient) -> Outcome<Self> {
        let revision = client.revision();
        let script = client.script().change("initialize", |greeting| {
            if revision == Revision::Acp2 {
                greeting["capabilities"]["session"]["mcp"]["acp"] = json!({});
            } else {
                greeting["agentCapabilities"]["mcpCapabilities"]["acp"] = json!(true);
            }
        });
        let run = if client.setting.role("mcp_over_acp").is_ok() {
            client.tried("new_session", json!({"mcp_servers": [entry()]}), script).await?
        } else {
            // A client may list a server of its own accord.
            client.prompted(script).await?.run
        };
        let listed = items(&run, "mcpServers").into_iter().find(is_over_acp);
        let listed =
            listed.ok_or_else(|| Stop::not_applicable("the client lists no MCP server of the type `acp`"))?;
        Ok(Self { run, server: listed["serverId"].clone() })
    }

    /// Begins a request to the server: the id of the message around it.
    async fn start(&mut self, request: &str, method: &str, mut params: Value) -> Outcome<Value> {
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(MCP_REVISION);
        params["_meta"]["io.modelcontextprotocol/clientInfo"] =
            json!({"name": "conformance", "version": "1.0.0"});
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        let message =
            json!({"serverId": self.server, "requestId": request, "method": method, "params": params});
        self.run.agent.start(MESSAGE, message).await
    }

    /// Sends a request to the server and waits for its outcome: an object with a result or an error.
    async fn ask(&mut self, request: &str, method: &str, params: Value) -> Outcome<Value> {
        let id = self.start(request, method, params).await?;
        let mut response = self.run.agent.response(&id).await?;
        match response.get_mut("result") {
            Some(outcome) => Ok(outcome.take()),
            None => Err(Stop::failed(
                format!("a result of `{MESSAGE}`, with the server's answer to `{method}` in it"),
                format!("`{response}`"),
            )),
        }
    }
}

async fn a_response_has_one_outcome(client: AcpClient) -> Outcome {
    let mut provider = Provider::new(&client).await?;
    let call = json!({"name": "_no_such_tool", "arguments": {}});
    let asked = [("server/discover", json!({})), ("_conformance/unknown", json!({})), ("tools/call", call)];
    let mut is_answered = false;
    for (method, params) in asked {
        let outcome = match provider.ask(&format!("of {method}"), method, params).await {
            // MOA-03c is about outer errors.
            Err(Stop::Failed(_)) => continue,
            outcome => outcome?,
        };
        is_answered = true;
        let (result, error) = (outcome.get("result"), outcome.get("error"));
        let what = format!("either a `result` or an `error` of `{method}` in the result of `{MESSAGE}`");
        ensure!(result.is_some() != error.is_some(), what, "`{outcome}`");
        if let Some(error) = error {
            let is_whole = is_integer(&error["code"]) && error["message"].is_string();
            ensure!(is_whole, "an error of the MCP server with a code and a message", "`{outcome}`");
        }
    }
    if is_answered { Ok(()) } else { Err(Stop::inconclusive(format!("no `{MESSAGE}` succeeded"))) }
}

async fn errors_of_the_server_are_inner_errors(client: AcpClient) -> Outcome {
    let mut provider = Provider::new(&client).await?;
    let discovered = provider.ask("discovers", "server/discover", json!({})).await;
    discovered.map_err(Stop::while_preparing)?;
    provider.ask("unknown", "_conformance/unknown", json!({})).await.map(drop)
}

async fn notifications_name_their_request(client: AcpClient) -> Outcome {
    let tool = client.setting.text("mcp_over_acp")?.to_owned();
    let mut provider = Provider::new(&client).await?;
    let call = json!({"name": tool, "arguments": {}, "_meta": {"progressToken": "token-1"}});
    let id = provider.start(REQUEST_ID, "tools/call", call).await?;
    let agent = &mut provider.run.agent;
    agent.response(&id).await.map_err(Stop::while_preparing)?;
    let mut count = 0;
    for arrived in agent.listen(QUIET).await? {
        let (message, params) = (&arrived.message, &arrived.message["params"]);
        let method = message["method"].as_str().unwrap_or_default();
        let what = format!("a notification of the MCP server in `{MESSAGE}`");
        ensure!(!method.starts_with("notifications/"), what, "`{message}`");
        if method != MESSAGE {
            continue;
        }
        let is_whole = message.get("id").is_none()
            && params["serverId"] == provider.server
            && params["requestId"] == REQUEST_ID
            && params["method"].is_string();
        let what = "a notification with the request's `serverId` and `requestId`, and a `method`";
        ensure!(is_whole, what, "`{message}`");
        count += 1;
    }
    let nothing = || Stop::inconclusive(format!("the tool `{tool}` reported no progress"));
    if count > 0 { Ok(()) } else { Err(nothing()) }
}

async fn answers_without_a_handshake(client: AcpClient) -> Outcome {
    let mut provider = Provider::new(&client).await?;
    let outcome = provider.ask("discovers", "server/discover", json!({})).await?;
    let result = &outcome["result"];
    let what = format!("the result of `server/discover` with {MCP_REVISION}, without a handshake before it");
    let versions = result["supportedVersions"].as_array();
    let is_known = versions.is_some_and(|versions| versions.contains(&json!(MCP_REVISION)));
    ensure!(is_known && result["resultType"] == "complete", what, "`{outcome}`");
    if result["capabilities"]["tools"].is_object() {
        let outcome = provider.ask("lists", "tools/list", json!({})).await?;
        let result = &outcome["result"];
        let is_list = result["resultType"] == "complete" && result["tools"].is_array();
        ensure!(is_list, "the server's tools, without a handshake before", "`{outcome}`");
    }
    Ok(())
}

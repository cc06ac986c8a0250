//! Checks of agents: an MCP server of the type `acp`, which the suite plays over the same connection.

use serde_json::{Value, json};

use super::mcp_servers;
use crate::acp_agent::Agent;
use crate::acp_agent::answers;
use crate::acp_agent::turn::Turn;
use crate::check::{Check, STDIO, check};
use crate::conversation::Conversation;
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::acp_agent) const CHECKS: &[Check<Agent>] = &[
    check!(requests_name_their_server, STDIO),
    check!(results_come_before_errors, STDIO),
    check!(requests_need_no_handshake, STDIO),
];

const MESSAGE: &str = "mcp/message";
const SERVER_ID: &str = "conformance-7c2e";
/// Part of what the suite's tool returns.
pub(crate) const MARK: &str = "conformance 3f1c";
/// MCP's revision without a handshake.
const MCP_REVISION: &str = "2026-07-28";

/// How the suite's server answers calls of its tool.
#[derive(Clone, Copy)]
enum ToolAnswer {
    Result,
    Both,
}

/// The inner outcome of a request to the suite's server.
fn outcome(call: &Value, tool: ToolAnswer) -> Value {
    let error = json!({"code": -32000, "message": "The tool cannot be called."});
    let method = call["method"].as_str().unwrap_or_default();
    let answer = match method {
        "initialize" | "ping" => Err(json!({"code": -32601, "message": "method not found"})),
        "server/discover" => Ok(json!({"supportedVersions": [MCP_REVISION], "capabilities": {"tools": {}}})),
        _ => mcp_servers::answer(call),
    };
    match answer {
        Ok(mut result) => {
            result["resultType"] = json!("complete");
            if method != "tools/call" {
                result["ttlMs"] = json!(0);
                result["cacheScope"] = json!("private");
            }
            match (method, tool) {
                ("tools/call", ToolAnswer::Both) => json!({"result": result, "error": error}),
                _ => json!({"result": result}),
            }
        }
        Err(error) => json!({"error": error}),
    }
}

/// An agent with a session that has the suite's server. The check does not apply to an agent that does not advertise the
/// transport.
async fn with_server(agent: &Agent, answer: ToolAnswer) -> Outcome<(Conversation, String)> {
    let (mut conversation, initialized) = agent.open().await?;
    agent.needs(&initialized, "/agentCapabilities/mcpCapabilities/acp", "/capabilities/session/mcp/acp")?;
    let mut others = answers::answers();
    conversation.answer_with(move |request| match request["method"].as_str() {
        Some(MESSAGE) => Some(Ok(outcome(&request["params"], answer))),
        _ => others(request),
    });
    let entry = json!({"type": "acp", "name": mcp_servers::SERVER, "serverId": SERVER_ID});
    let session = mcp_servers::new_session(agent, &mut conversation, json!([entry])).await;
    Ok((conversation, session.map_err(Stop::while_preparing)?))
}

/// The requests of the agent to the suite's server in two prompts, in order.
async fn calls(agent: &Agent) -> Outcome<Vec<Value>> {
    let (mut conversation, session) = with_server(agent, ToolAnswer::Result).await?;
    let text = agent.setting.text("mcp").or_else(|_| agent.setting.text("say"))?;
    // The checks are not about the end of the prompts.
    for _ in 0..2 {
        let _ended = agent.turn(&mut conversation, &session, text).await;
    }
    Ok(conversation.asked.into_iter().filter(|request| request["method"] == MESSAGE).collect())
}

fn unused() -> Stop {
    Stop::not_applicable("the prompts led to no message to the MCP server of the session")
}

async fn requests_name_their_server(agent: Agent) -> Outcome {
    let calls = calls(&agent).await?;
    for call in &calls {
        let params = &call["params"];
        let is_whole = params["serverId"] == SERVER_ID
            && params["requestId"].is_string()
            && params["method"].is_string();
        let what = "the server's `serverId`, a `requestId` and a `method` in `mcp/message`";
        ensure!(is_whole, what, "`{call}`");
    }
    if calls.is_empty() { Err(unused()) } else { Ok(()) }
}

/// A prompt that calls the suite's tool.
async fn turn(agent: &Agent, answer: ToolAnswer) -> Outcome<Turn> {
    let text = agent.setting.text("mcp")?.to_owned();
    let (mut conversation, session) = with_server(agent, answer).await?;
    agent.turn(&mut conversation, &session, &text).await
}

async fn results_come_before_errors(agent: Agent) -> Outcome {
    let shown = |turn: &Turn| {
        let messages = json!(turn.messages).to_string();
        messages.contains(MARK)
    };
    let plain = turn(&agent, ToolAnswer::Result).await.map_err(Stop::while_preparing)?;
    if !shown(&plain) {
        return Err(Stop::not_applicable("the agent does not show what MCP tools return"));
    }
    let both = turn(&agent, ToolAnswer::Both).await.map_err(Stop::while_preparing)?;
    let what = "the result of a tool that was answered with a result and an error";
    ensure!(shown(&both), what, "`{}`", json!(both.messages));
    Ok(())
}

async fn requests_need_no_handshake(agent: Agent) -> Outcome {
    let calls = calls(&agent).await?;
    for call in &calls {
        let inner = &call["params"];
        ensure!(inner["method"] != "initialize", "no handshake", "`{call}`");
        let meta = &inner["params"]["_meta"];
        let version = meta["io.modelcontextprotocol/protocolVersion"].as_str();
        let is_whole = version.is_some_and(|version| version >= MCP_REVISION)
            && meta["io.modelcontextprotocol/clientCapabilities"].is_object();
        let what = format!(
            "the revision {MCP_REVISION} and the client's capabilities in the `_meta` of MCP's params"
        );
        ensure!(is_whole, what, "`{call}`");
    }
    if calls.is_empty() { Err(unused()) } else { Ok(()) }
}

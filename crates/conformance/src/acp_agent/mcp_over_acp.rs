//! Checks of agents: an MCP server of the type `acp`, which the suite plays over the same connection.

use serde_json::{Value, json};

use super::turn::Turn;
use super::{Agent, answers, mcp_servers};
use crate::check::{Check, STDIO, check};
use crate::conversation::Conversation;
use crate::fault::{Fault, Incoming};
use crate::faults;
use crate::verdict::{Outcome, Stop, ensure};

pub(super) const CHECKS: &[Check<Agent>] = &[
    check!("MOA-02", each_request_is_one_message, STDIO, [
        "gives each request the same id" => faults::each_call(MESSAGE, |m| m["params"]["requestId"] = json!("1")),
        "leaves out the server" => faults::each_call(MESSAGE, |m| m["params"]["serverId"] = Value::Null),
        "connects first" => faults::says_before_call(MESSAGE, |_| {
            vec![json!({"jsonrpc": "2.0", "id": "forged", "method": "mcp/connect", "params": {"acpId": SERVER_ID}})]
        }),
    ]),
    check!("MOA-03", results_come_before_errors, STDIO, [
        "takes the error where there is a result" => loses_after(
            |outcome| outcome.get("result").is_some() && outcome.get("error").is_some(),
            |line| line.contains(MARK),
        ),
        "hangs at an error of the server" => loses_after(
            |outcome| outcome.get("result").is_none() && outcome.get("error").is_some(),
            |line| line.contains("stopReason") || line.contains("idle"),
        ),
    ]),
    check!("MOA-05", requests_need_no_handshake, STDIO, [
        "shakes hands first" => faults::says_before_call(MESSAGE, |_| {
            let inner = json!({"serverId": SERVER_ID, "requestId": "forged", "method": "initialize", "params": {}});
            vec![json!({"jsonrpc": "2.0", "id": "forged", "method": MESSAGE, "params": inner})]
        }),
        "leaves out the version" => faults::each_call(MESSAGE, |m| m["params"]["params"]["_meta"] = json!({})),
    ]),
];

const MESSAGE: &str = "mcp/message";
const SERVER_ID: &str = "conformance-7c2e";
/// Part of what the suite's tool returns.
const MARK: &str = "conformance 3f1c";
/// MCP's revision without a handshake.
const MCP_REVISION: &str = "2026-07-28";

/// An agent that loses some of its lines after the suite has answered `mcp/message` in some way.
struct LineLoss {
    sent: fn(&Value) -> bool,
    lost: fn(&str) -> bool,
    is_sent: bool,
}

fn loses_after(sent: fn(&Value) -> bool, lost: fn(&str) -> bool) -> Box<dyn Fault> {
    Box::new(LineLoss { sent, lost, is_sent: false })
}

impl Fault for LineLoss {
    fn outgoing(&mut self, message: &Value, _: &mut Vec<Value>) -> bool {
        let is_outcome = |outcome: &&Value| outcome.is_object();
        self.is_sent |= message.get("result").filter(is_outcome).is_some_and(self.sent);
        false
    }

    fn incoming(&mut self, incoming: Incoming) -> Vec<Incoming> {
        match incoming {
            Incoming::Line(line) if self.is_sent && (self.lost)(&String::from_utf8_lossy(&line)) => {
                Vec::new()
            }
            other => vec![other],
        }
    }
}

/// How the suite's server answers calls of its tool.
#[derive(Clone, Copy)]
enum ToolAnswer {
    Result,
    Both,
    Error,
}

/// The inner outcome of a request to the suite's server.
fn outcome(call: &Value, tool: ToolAnswer) -> Value {
    let error = json!({"code": -32000, "message": "The tool cannot be called."});
    let method = call["method"].as_str().unwrap_or_default();
    let answer = match (method, tool) {
        ("tools/call", ToolAnswer::Error) => Err(error.clone()),
        ("initialize" | "ping", _) => Err(json!({"code": -32601, "message": "method not found"})),
        ("server/discover", _) => {
            Ok(json!({"supportedVersions": [MCP_REVISION], "capabilities": {"tools": {}}}))
        }
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

/// What the agent asks of the suite's server in two prompts, in order, and everything that it asks.
async fn calls(agent: &Agent) -> Outcome<(Vec<Value>, Vec<Value>)> {
    let (mut conversation, session) = with_server(agent, ToolAnswer::Result).await?;
    let text = agent.setting.text("mcp").or_else(|_| agent.setting.text("say"))?;
    // What the prompts end with is not the matter.
    for _ in 0..2 {
        let _ended = agent.turn(&mut conversation, &session, text).await;
    }
    let all = conversation.asked;
    let calls: Vec<Value> = all.iter().filter(|request| request["method"] == MESSAGE).cloned().collect();
    Ok((calls, all))
}

fn unused() -> Stop {
    Stop::not_applicable("the prompts led to no message to the MCP server of the session")
}

async fn each_request_is_one_message(agent: Agent) -> Outcome {
    let (calls, all) = calls(&agent).await?;
    let around = ["mcp/connect", "mcp/disconnect"];
    let other = all.iter().find(|request| around.iter().any(|method| request["method"] == *method));
    ensure!(other.is_none(), "no messages around those of MCP", "`{}`", json!(other));
    let mut seen: Vec<&Value> = Vec::new();
    for call in &calls {
        let params = &call["params"];
        let is_whole = params["serverId"] == SERVER_ID
            && params["requestId"].is_string()
            && params["method"].is_string();
        ensure!(
            is_whole,
            "the server's `serverId`, a `requestId` and a `method` in `mcp/message`",
            "`{call}`"
        );
        ensure!(!seen.contains(&&params["requestId"]), "a new `requestId` for each request", "`{call}`");
        seen.push(&params["requestId"]);
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
    let both = turn(&agent, ToolAnswer::Both).await?;
    let what = "the result of a tool that was answered with a result and an error";
    ensure!(shown(&both), what, "`{}`", json!(both.messages));
    // The prompt ends all the same.
    turn(&agent, ToolAnswer::Error).await.map(drop)
}

async fn requests_need_no_handshake(agent: Agent) -> Outcome {
    let (calls, _) = calls(&agent).await?;
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

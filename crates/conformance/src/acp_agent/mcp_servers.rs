//! Checks of agents: the MCP servers of a session. The suite plays them.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use super::Agent;
use super::turn::{Turn, update_in};
use crate::check::{Check, STDIO, check};
use crate::conversation::Conversation;
use crate::fault::{ClientRequest, Fault, Incoming};
use crate::faults;
use crate::link::Link;
use crate::link::received::QUEUE;
use crate::revision::Revision;
use crate::stand_in::StandIns;
use crate::trace::Trace;
use crate::verdict::{Outcome, Stop, ensure};

pub(super) const CHECKS: &[Check<Agent>] = &[
    check!("SES-21", a_stdio_server_is_used, STDIO, ["ignores the servers" => ignores_servers()]),
    check!("SES-22", an_http_server_is_used, STDIO, [
        "ignores the servers" => faults::each_request(|_| Vec::new()),
    ]),
    check!("SES-24", one_broken_server_does_no_harm, STDIO, [
        "fails the session" => faults::response_to("session/new", |m| faults::refuse(m, -32603)),
        "uses the first server only" => ignores_servers(),
    ]),
    check!("SES-26", arguments_and_environment_arrive, STDIO, ["leaves them out" => ignores_servers()]),
    check!("SES-27", an_entry_without_a_type_is_stdio, STDIO, [
        "refuses it" => faults::response_to("session/new", |m| faults::refuse(m, -32602)),
        "ignores it" => ignores_servers(),
    ]),
    check!("CON-03", content_of_tools_is_unchanged, STDIO, [
        "leaves annotations out" => faults::each_call("session/update", |m| edit_content(m, &mut |block| {
            if let Some(block) = block.as_object_mut() { block.remove("annotations"); }
        })),
        "changes the text" => faults::each_call("session/update", |m| edit_content(m, &mut |block| {
            if block["text"].is_string() { block["text"] = json!("probed") }
        })),
    ]),
];

/// An agent that sends its servers nothing.
fn ignores_servers() -> Box<dyn Fault> {
    faults::each_message(|m| {
        if ["initialize", "server/discover", "tools/list"].iter().any(|method| m["method"] == *method) {
            *m = Value::Null;
        }
    })
}

fn edit_content(message: &mut Value, edit: &mut dyn FnMut(&mut Value)) {
    if let Some(items) = message["params"]["update"]["content"].as_array_mut() {
        items.iter_mut().filter_map(|item| item.get_mut("content")).for_each(edit);
    }
}

/// How the MCP server is described to the agent.
enum Entry {
    Direct,
    /// The server starts only with the arguments and variables of the entry.
    NeedsEnvironment,
}

/// The server that the suite plays.
struct Served {
    stand_ins: StandIns,
    entry: Value,
}

/// The name of the server.
pub(super) const SERVER: &str = "conformance";

impl Served {
    async fn new(agent: &Agent, entry: &Entry) -> Outcome<Self> {
        let Some(stand_in) = &agent.stand_in else {
            return Err(Stop::inconclusive("the suite has no program to be an MCP server"));
        };
        let stand_ins = StandIns::listen().await?;
        let mut words = vec![stand_in.program.clone()];
        words.extend(stand_in.arguments.iter().cloned());
        words.extend(stand_ins.arguments().map(str::to_owned));
        let mut env = Vec::new();
        if let Entry::NeedsEnvironment = entry {
            env.push(json!({"name": "CONFORMANCE_SERVER", "value": shell_words::join(&words)}));
            words = [
                "/bin/sh",
                "-c",
                "test \"$1\" = 'two words' && eval \"exec $CONFORMANCE_SERVER\"",
                "sh",
                "two words",
            ]
            .map(str::to_owned)
            .to_vec();
        }
        let (command, arguments) = words.split_first().ok_or_else(|| Stop::inconclusive("no command"))?;
        let mut entry = json!({"name": SERVER, "command": command, "args": arguments, "env": env});
        if agent.revision() == Revision::Acp2 {
            entry["type"] = json!("stdio");
        }
        Ok(Self { stand_ins, entry })
    }

    /// Waits for the agent to start the server and to speak to it, and answers until `until` is asked.
    async fn serve(&self, agent: &Agent, until: &'static str) -> Outcome {
        // What the agent says to the server is no ACP, so it is not part of the trace.
        let accepted = self.stand_ins.accept(agent.setting.wait, &Trace::new(), &agent.setting.faults).await;
        let (socket, received) = accepted
            .map_err(|_| Stop::failed("the agent starts the MCP server of the session", "it did not"))?;
        let mut server = Conversation::new(Link::Socket(socket), received, agent.setting.wait);
        let (sender, mut asked) = mpsc::channel(QUEUE);
        server.answer_with(move |request| {
            // The check may have ended.
            let _sent = sender.try_send(request["method"].as_str().unwrap_or_default().to_owned());
            Some(answer(request))
        });
        let mut seen = Vec::new();
        let started = tokio::time::Instant::now();
        loop {
            server.listen(Duration::from_millis(20)).await?;
            while let Ok(method) = asked.try_recv() {
                seen.push(method);
            }
            if seen.iter().any(|method| method == until) {
                // It stays until the check ends.
                tokio::spawn(async move {
                    while !server.is_closed() && server.listen(Duration::from_secs(1)).await.is_ok() {}
                });
                return Ok(());
            }
            if server.is_closed() || started.elapsed() > agent.setting.wait {
                return Err(Stop::failed(
                    format!("{until} at the MCP server of the session"),
                    format!("{seen:?}"),
                ));
            }
        }
    }
}

/// The answers of a server with one tool.
pub(super) fn answer(request: &Value) -> Result<Value, Value> {
    match request["method"].as_str().unwrap_or_default() {
        "initialize" => Ok(json!({
            "protocolVersion": request["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": SERVER, "version": "1.0.0"},
        })),
        "ping" => Ok(json!({})),
        "tools/list" => {
            let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}});
            Ok(json!({"tools": [{"name": "probe", "description": "Probes", "inputSchema": schema}]}))
        }
        "tools/call" => Ok(json!({"content": content()})),
        method => Err(json!({"code": -32601, "message": format!("method not found: {method}")})),
    }
}

/// What the tool returns.
fn content() -> Value {
    json!([
        {"type": "text", "text": "conformance 3f1c", "annotations": {"audience": ["user"], "priority": 0.5}},
        {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"},
    ])
}

async fn begin(agent: &Agent, servers: Value) -> Outcome<(Conversation, String)> {
    let (mut conversation, _) = agent.open().await?;
    let session = new_session(agent, &mut conversation, servers).await?;
    Ok((conversation, session))
}

/// Begins a session with servers.
pub(super) async fn new_session(
    agent: &Agent,
    conversation: &mut Conversation,
    servers: Value,
) -> Outcome<String> {
    let mut params = agent.session_params();
    params["mcpServers"] = servers;
    let response = conversation.request("session/new", params).await?;
    if response["error"]["code"] == -32000 {
        return Err(Stop::not_applicable("the agent begins no session without a login"));
    }
    let session = response.pointer("/result/sessionId").and_then(Value::as_str);
    let what = "a session with MCP servers";
    Ok(session.ok_or_else(|| Stop::failed(what, format!("`{response}`")))?.to_owned())
}

/// Begins a session with servers, of which the suite's has to be used. Some agents use it with the first prompt only.
async fn uses(agent: &Agent, entry: &Entry, others: &[Value]) -> Outcome {
    let served = Served::new(agent, entry).await?;
    let mut servers = others.to_vec();
    servers.push(served.entry.clone());
    let role = agent.setting.text("mcp").or_else(|_| agent.setting.text("say")).ok();
    // A server may be started, and waited for, before the session is answered.
    let conversation = async {
        let (mut conversation, session) = begin(agent, json!(servers)).await?;
        if let Some(role) = role {
            // What the prompt ends with is not the matter.
            let _ended = agent.turn(&mut conversation, &session, role).await;
        }
        std::future::pending::<()>().await;
        Ok(())
    };
    tokio::select! {
        served = served.serve(agent, "tools/list") => served,
        failed = conversation => failed,
    }
}

async fn a_stdio_server_is_used(agent: Agent) -> Outcome {
    uses(&agent, &Entry::Direct, &[]).await
}

async fn one_broken_server_does_no_harm(agent: Agent) -> Outcome {
    let mut broken =
        json!({"name": "broken", "command": "/conformance/no/such/program", "args": [], "env": []});
    if agent.revision() == Revision::Acp2 {
        broken["type"] = json!("stdio");
    }
    uses(&agent, &Entry::Direct, &[broken]).await
}

async fn arguments_and_environment_arrive(agent: Agent) -> Outcome {
    if !cfg!(unix) {
        return Err(Stop::not_applicable("the check needs a shell"));
    }
    uses(&agent, &Entry::NeedsEnvironment, &[]).await
}

async fn an_entry_without_a_type_is_stdio(agent: Agent) -> Outcome {
    let served = Served::new(&agent, &Entry::Direct).await?;
    ensure!(served.entry.get("type").is_none(), "an entry without a type", "`{}`", served.entry);
    uses(&agent, &Entry::Direct, &[]).await
}

async fn content_of_tools_is_unchanged(agent: Agent) -> Outcome {
    let text = agent.setting.text("mcp")?.to_owned();
    let served = Served::new(&agent, &Entry::Direct).await?;
    let conversation = async {
        let (mut conversation, session) = begin(&agent, json!([served.entry])).await?;
        agent.turn(&mut conversation, &session, &text).await
    };
    let (turn, served) = tokio::join!(conversation, served.serve(&agent, "tools/call"));
    served.map_err(Stop::while_preparing)?;
    let turn: Turn = turn.map_err(Stop::while_preparing)?;
    let calls = turn.messages.iter().filter_map(update_in).filter(|update| update["toolCallId"].is_string());
    let items = calls.filter_map(|update| update["content"].as_array()).flatten();
    let blocks: Vec<&Value> = items.filter_map(|item| item.get("content")).collect();
    if blocks.is_empty() {
        return Err(Stop::not_applicable("the agent does not forward the content of MCP tools"));
    }
    for block in content().as_array().into_iter().flatten() {
        let shown = json!(blocks);
        ensure!(blocks.contains(&block), format!("the content `{block}` of the MCP tool"), "`{shown}`");
    }
    Ok(())
}

/// Waits for a request with a JSON-RPC message. Nothing is answered but that there is nothing.
async fn an_http_server_is_used(agent: Agent) -> Outcome {
    let (_conversation, initialized) = agent.open().await?;
    agent.needs(&initialized, "/agentCapabilities/mcpCapabilities/http", "/capabilities/session/mcp/http")?;
    let listener = TcpListener::bind("127.0.0.1:0").await;
    let listener = listener.map_err(|error| Stop::inconclusive(format!("no port: {error}")))?;
    let address = listener.local_addr().map_err(|error| Stop::inconclusive(error.to_string()))?;
    let entry =
        json!({"type": "http", "name": SERVER, "url": format!("http://{address}/mcp"), "headers": []});
    let role = agent.setting.text("say").ok();
    let conversation = async {
        let (mut conversation, session) = begin(&agent, json!([entry])).await?;
        if let Some(role) = role {
            let _ended = agent.turn(&mut conversation, &session, role).await;
        }
        std::future::pending::<()>().await;
        Ok(())
    };
    tokio::select! {
        () = posted(&agent, &listener) => Ok(()),
        failed = conversation => failed,
        () = tokio::time::sleep(agent.setting.wait) => {
            Err(Stop::failed("a request at the HTTP MCP server of the session", "none came"))
        }
    }
}

/// Waits until a message was posted.
async fn posted(agent: &Agent, listener: &TcpListener) {
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        if let Some(request) = read_request(stream).await {
            let incoming = agent.setting.faults.incoming(Incoming::Request(request));
            let is_message = |incoming: &Incoming| match incoming {
                Incoming::Request(request) => {
                    let message: Value = serde_json::from_slice(&request.body).unwrap_or_default();
                    request.method == "POST" && message["jsonrpc"] == "2.0"
                }
                _ => false,
            };
            if incoming.iter().any(is_message) {
                return;
            }
        }
    }
}

/// Reads a request, answers that nothing is there, and closes the connection.
async fn read_request(stream: tokio::net::TcpStream) -> Option<ClientRequest> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    (&mut reader).take(8192).read_line(&mut first).await.ok()?;
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        (&mut reader).take(8192).read_line(&mut line).await.ok()?;
        match line.trim_end().split_once(':') {
            Some((name, value)) => headers.push((name.to_lowercase(), value.trim().to_owned())),
            None => break,
        }
    }
    let (method, rest) = first.split_once(' ')?;
    let mut request = ClientRequest {
        method: method.to_owned(),
        target: rest.split(' ').next()?.to_owned(),
        headers,
        body: Vec::new(),
    };
    let length: usize = request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    request.body.resize(length.min(1 << 20), 0);
    reader.read_exact(&mut request.body).await.ok()?;
    let response = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    reader.write_all(response).await.ok()?;
    Some(request)
}

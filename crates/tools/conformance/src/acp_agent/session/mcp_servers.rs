//! Checks of agents: the MCP servers of a session. The suite plays them.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;

use crate::acp_agent::Agent;
use crate::check::{Check, STDIO, check};
use crate::conversation::Conversation;
use crate::fault::{ClientRequest, Incoming};
use crate::link::Link;
use crate::link::stand_in::StandIns;
use crate::requirements::revision::Revision;
use crate::trace::Trace;
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::acp_agent) const CHECKS: &[Check<Agent>] = &[
    check!(a_stdio_server_is_accepted, STDIO),
    check!(an_http_server_is_used, STDIO),
    check!(a_listed_server_is_used, STDIO),
    check!(one_broken_server_does_no_harm, STDIO),
    check!(arguments_and_environment_arrive, STDIO),
];

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
pub(in crate::acp_agent) const SERVER: &str = "conformance";

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

    /// Waits for the agent to start the server and to send it a request, and answers from then on.
    async fn serve(&self, agent: &Agent) -> Outcome {
        // The caller ends the waiting. Messages to the server are MCP, so they are not part of the trace.
        let within = Duration::from_secs(3600);
        let accepted = self.stand_ins.accept(within, &Trace::new(), &agent.setting.faults).await;
        let (socket, received) = accepted?;
        let mut server = Conversation::new(Link::Socket(socket), received, agent.setting.wait);
        server.answer_with(|request| Some(answer(request)));
        while server.asked.is_empty() {
            if server.is_closed() {
                return Err(Stop::inconclusive("the agent closed the MCP server of the session"));
            }
            server.listen(Duration::from_millis(20)).await?;
        }
        // It stays until the check ends.
        tokio::spawn(async move {
            while !server.is_closed() && server.listen(Duration::from_secs(1)).await.is_ok() {}
        });
        Ok(())
    }
}

/// The answers of a server with one tool.
pub(in crate::acp_agent) fn answer(request: &Value) -> Result<Value, Value> {
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

/// The result of the tool.
fn content() -> Value {
    json!([
        {"type": "text", "text": "conformance 3f1c", "annotations": {"audience": ["user"], "priority": 0.5}},
        {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"},
    ])
}

/// Begins a session with servers.
pub(in crate::acp_agent) async fn new_session(
    agent: &Agent,
    conversation: &mut Conversation,
    servers: Value,
) -> Outcome<String> {
    let mut params = agent.session_params();
    params["mcpServers"] = servers;
    let response = conversation.request("session/new", params).await.map_err(Stop::while_preparing)?;
    if response["error"]["code"] == -32000 {
        return Err(Stop::not_applicable("the agent begins no session without a login"));
    }
    let session = response.pointer("/result/sessionId").and_then(Value::as_str);
    let what = "a session with MCP servers";
    Ok(session.ok_or_else(|| Stop::failed(what, format!("`{response}`")))?.to_owned())
}

/// An agent that has been asked whether it begins sessions without servers, and takes those over stdio.
async fn opened(agent: &Agent) -> Outcome<Conversation> {
    let (mut conversation, initialized) = agent.open().await?;
    if agent.revision() == Revision::Acp2 {
        agent.needs(&initialized, "", "/capabilities/session/mcp/stdio")?;
    }
    agent.new_session(&mut conversation).await?;
    Ok(conversation)
}

/// Begins a session with servers and sends a prompt, because some agents use the servers with the first prompt only.
async fn prompted(agent: &Agent, conversation: &mut Conversation, servers: Value) -> Outcome {
    let session = new_session(agent, conversation, servers).await?;
    if let Ok(text) = agent.setting.text("mcp").or_else(|_| agent.setting.text("say")) {
        // What the prompt ends with is not the matter.
        let _ended = agent.turn(conversation, &session, text).await;
    }
    tokio::time::sleep(agent.setting.wait).await;
    Ok(())
}

/// Whether the agent connects to the last of the servers of a session, which the suite plays.
async fn uses(agent: &Agent, entry: &Entry, others: &[Value]) -> Outcome<bool> {
    let mut conversation = opened(agent).await?;
    let served = Served::new(agent, entry).await?;
    let mut servers = others.to_vec();
    servers.push(served.entry.clone());
    tokio::select! {
        outcome = served.serve(agent) => outcome.map(|()| true),
        outcome = prompted(agent, &mut conversation, json!(servers)) => outcome.map(|()| false),
    }
}

/// The check does not apply to an agent that does not connect to servers at all.
async fn needs_use(agent: &Agent) -> Outcome {
    if uses(agent, &Entry::Direct, &[]).await.map_err(Stop::while_preparing)? {
        return Ok(());
    }
    Err(Stop::not_applicable("the agent does not connect to the MCP servers of its sessions"))
}

async fn a_stdio_server_is_accepted(agent: Agent) -> Outcome {
    let mut conversation = opened(&agent).await?;
    let served = Served::new(&agent, &Entry::Direct).await?;
    // An agent may start the server, and wait for it, before it answers.
    let serving = async {
        let _ended = served.serve(&agent).await;
        std::future::pending::<Outcome>().await
    };
    tokio::select! {
        session = new_session(&agent, &mut conversation, json!([served.entry])) => session.map(drop),
        ended = serving => ended,
    }
}

const USE: &str = "the agent connects to the MCP server of the session";

async fn a_listed_server_is_used(agent: Agent) -> Outcome {
    let is_used = uses(&agent, &Entry::Direct, &[]).await.map_err(Stop::while_preparing)?;
    ensure!(is_used, USE, "no request came");
    Ok(())
}

async fn one_broken_server_does_no_harm(agent: Agent) -> Outcome {
    needs_use(&agent).await?;
    let mut broken =
        json!({"name": "broken", "command": "/conformance/no/such/program", "args": [], "env": []});
    if agent.revision() == Revision::Acp2 {
        broken["type"] = json!("stdio");
    }
    // The agent may refuse such a session.
    let is_used = uses(&agent, &Entry::Direct, &[broken]).await.map_err(Stop::while_preparing)?;
    ensure!(is_used, format!("{USE}, although another one cannot be started"), "no request came");
    Ok(())
}

async fn arguments_and_environment_arrive(agent: Agent) -> Outcome {
    if !cfg!(unix) {
        return Err(Stop::not_applicable("the check needs a shell"));
    }
    needs_use(&agent).await?;
    let is_used = uses(&agent, &Entry::NeedsEnvironment, &[]).await.map_err(Stop::while_preparing)?;
    ensure!(is_used, format!("{USE}, which needs its arguments and variables"), "no request came");
    Ok(())
}

/// Waits for a request with a JSON-RPC message. Nothing is answered but that there is nothing.
async fn an_http_server_is_used(agent: Agent) -> Outcome {
    let (mut conversation, initialized) = agent.open().await?;
    agent.needs(&initialized, "/agentCapabilities/mcpCapabilities/http", "/capabilities/session/mcp/http")?;
    agent.new_session(&mut conversation).await?;
    let listener = TcpListener::bind("127.0.0.1:0").await;
    let listener = listener.map_err(|error| Stop::inconclusive(format!("no port: {error}")))?;
    let address = listener.local_addr().map_err(|error| Stop::inconclusive(error.to_string()))?;
    let entry =
        json!({"type": "http", "name": SERVER, "url": format!("http://{address}/mcp"), "headers": []});
    tokio::select! {
        () = posted(&agent, &listener) => Ok(()),
        outcome = prompted(&agent, &mut conversation, json!([entry])) => {
            outcome?;
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

//! One session: where it works, and the MCP servers that it has.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::time::Duration;

use agentwire_acp_agent::Error;
use agentwire_acp_schema::v1::{
    Content, HttpHeader, McpServer, McpServerStdio, NewSessionRequest, SessionId, ToolCallContent, ToolCallId,
};
use agentwire_mcp_client::schema::{CallToolResult, ProgressNotification};
use agentwire_mcp_hub::{Config, Dial, HttpKind, HttpTarget, Hub, HubError, Memory, ServerConfig, Target};
use agentwire_transport_stdio::{Command, Stderr};
use serde_json::{Map, Value};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::text;

/// A session of our agent's. Dropping it ends its servers.
pub(super) struct Session {
    pub(super) id: SessionId,
    pub(super) cwd: PathBuf,
    hub: Hub,
    servers: JoinHandle<()>,
    busy: Cell<bool>,
    tool_calls: Cell<u64>,
    /// Servers whose failure the user has been told of.
    told: RefCell<HashSet<String>>,
}

impl Session {
    /// Begins a session. Its servers are connected to meanwhile: who calls a tool waits for them, nobody else.
    pub(super) fn open(
        id: SessionId,
        request: NewSessionRequest,
        timeout: Option<Duration>,
        memory: Memory,
    ) -> Result<Self, Error> {
        let cwd = request.cwd;
        let configs = request.mcp_servers.iter().map(|server| {
            let name = server.name().unwrap_or_default();
            match target(server, &cwd) {
                Ok(target) => Ok(ServerConfig::new(name, target)),
                Err(why) => Err(Error::invalid_params(format_args!("mcpServers: {name:?}: {why}"))),
            }
        });
        let config = Config::new()
            .dial(Dial::new().memory(memory))
            .on_warning(|server, warning| text::note(&format!("MCP server {server}: {warning}")));
        let config = match timeout {
            Some(timeout) => config.connect_limit(timeout).timeout(timeout),
            None => config,
        };
        let (hub, driver) = Hub::with_config(config, configs.collect::<Result<Vec<_>, _>>()?);
        let servers = tokio::task::spawn_local(driver);
        Ok(Self {
            id,
            cwd,
            hub,
            servers,
            busy: Cell::new(false),
            tool_calls: Cell::new(0),
            told: RefCell::default(),
        })
    }

    /// Takes the session for one turn; a second at the same time is refused.
    pub(super) fn begin_turn(&self) -> Result<TurnGuard<'_>, Error> {
        if self.busy.replace(true) {
            return Err(Error::invalid_request("the session is busy with another prompt"));
        }
        Ok(TurnGuard(&self.busy))
    }

    /// Ends the session's servers in good order.
    pub(super) async fn close(&self) {
        self.hub.close().await;
    }

    /// What has become of servers that the user has not been told of yet.
    pub(super) fn take_failures(&self) -> Vec<String> {
        let mut told = self.told.borrow_mut();
        let failed = self.hub.status().into_iter().filter(|server| server.state.reason().is_some());
        let news = failed.filter(|server| told.insert(server.name.clone()));
        news.map(|server| format!("MCP server {}: {}", server.name, server.state)).collect()
    }

    /// The tools of all servers: name and description.
    pub(super) async fn tools(&self) -> Vec<(String, String)> {
        let tools = self.hub.tools().await;
        tools.into_iter().map(|tool| (tool.name, tool.tool.description.unwrap_or_default())).collect()
    }

    /// An id for a tool call, unique in the session.
    pub(super) fn next_tool_call(&self) -> ToolCallId {
        self.tool_calls.set(self.tool_calls.get() + 1);
        ToolCallId::from(format!("call-{}", self.tool_calls.get()))
    }

    /// Calls a tool, once all servers have told theirs. Dropping the call cancels it at the server.
    pub(super) fn call(&self, tool: &str, arguments: Map<String, Value>) -> ToolCalling {
        // A server may report faster than the client reads; what does not fit is left out.
        let (report, reports) = mpsc::channel(64);
        let (hub, tool) = (self.hub.clone(), tool.to_owned());
        let call = async move {
            hub.ready().await;
            hub.call(&tool, arguments)
                .on_progress(move |progress| {
                    let _left_out = report.try_send(progress);
                })
                .await
        };
        ToolCalling { reports, call: Box::pin(call) }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.servers.abort();
    }
}

/// How long a server may take to end when its stdin does, and again when it is asked to. A client that ends us
/// waits no longer for both than it waits for a server of its own.
const GRACE: Duration = Duration::from_millis(500);

/// Where a server is. One of the type `http` may be at a URL that only has the older transport: clients take a URL
/// from their user and cannot know, and MCP says how to find out.
fn target(server: &McpServer, cwd: &Path) -> Result<Target, String> {
    match server {
        McpServer::Stdio(server) => Ok(command(server, cwd).into()),
        McpServer::Http(server) => remote(&server.url, &server.headers, HttpKind::Any),
        McpServer::Sse(server) => remote(&server.url, &server.headers, HttpKind::Sse),
        _ => Err("it is of a kind not known here".into()),
    }
}

fn remote(url: &str, headers: &[HttpHeader], kind: HttpKind) -> Result<Target, String> {
    let target = HttpTarget::new(url).map_err(|why| why.to_string())?.kind(kind);
    let add = |target: HttpTarget, header: &HttpHeader| target.header(&header.name, &header.value);
    headers.iter().try_fold(target, add).map(Target::from).map_err(|why| why.to_string())
}

/// How a server is started. What it says on stderr is kept for the case that it fails.
fn command(server: &McpServerStdio, cwd: &Path) -> Command {
    let mut command = Command::new(&server.command)
        .args(&server.args)
        .current_dir(cwd)
        .stderr(Stderr::Capture)
        .grace(GRACE);
    for variable in &server.env {
        command = command.env(&variable.name, &variable.value);
    }
    command
}

/// The turn that a session is busy with.
pub(super) struct TurnGuard<'a>(&'a Cell<bool>);

impl Drop for TurnGuard<'_> {
    fn drop(&mut self) {
        self.0.set(false);
    }
}

/// A call of a tool, under way.
pub(super) struct ToolCalling {
    reports: mpsc::Receiver<ProgressNotification>,
    call: Pin<Box<dyn Future<Output = Result<CallToolResult, HubError>>>>,
}

/// What happens to a call.
pub(super) enum Progress {
    /// The server says how far it is.
    Report(String),
    /// The call is over.
    Done(Result<ToolResult, String>),
}

/// What a tool gave, in the terms of ACP.
pub(super) struct ToolResult {
    pub(super) is_error: bool,
    pub(super) content: Vec<ToolCallContent>,
    pub(super) raw: Value,
}

impl ToolCalling {
    /// The next thing that happens. After [`Progress::Done`] there is none.
    pub(super) async fn next(&mut self) -> Progress {
        tokio::select! {
            biased;
            Some(progress) = self.reports.recv() => Progress::Report(describe(&progress)),
            result = &mut self.call => {
                Progress::Done(result.map(ToolResult::from).map_err(|error| error.to_string()))
            }
        }
    }
}

fn describe(progress: &ProgressNotification) -> String {
    match (&progress.message, progress.total) {
        (Some(message), _) => message.clone(),
        (None, Some(total)) => format!("{} of {total}", progress.progress),
        (None, None) => progress.progress.to_string(),
    }
}

impl From<CallToolResult> for ToolResult {
    /// MCP and ACP write content alike, so a block is read as what it is written as. One of a kind that only
    /// MCP has is kept as ACP keeps what it does not know.
    fn from(result: CallToolResult) -> Self {
        let content = result.content.iter().filter_map(|block| {
            let block = serde_json::to_value(block).ok()?;
            let block: agentwire_acp_schema::v1::ContentBlock = serde_json::from_value(block).ok()?;
            Some(Content::new(block).into())
        });
        Self {
            is_error: result.is_error,
            content: content.collect(),
            raw: serde_json::to_value(&result).unwrap_or_default(),
        }
    }
}

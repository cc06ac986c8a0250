//! Unread responses: a peer that sends requests and does not read must not fill our memory.

use std::future::Future;
use std::path::Path;
use std::time::Duration;

use agentwire_acp_client::{Client, Context, Error, connect};
use agentwire_acp_schema::v1::{
    CreateTerminalRequest, CreateTerminalResponse, InitializeRequest, NewSessionRequest, ProtocolVersion,
    ReadTextFileRequest, ReadTextFileResponse, RequestPermissionRequest, RequestPermissionResponse,
    SessionId, SessionNotification, TerminalOutputRequest, TerminalOutputResponse, WriteTextFileRequest,
    WriteTextFileResponse,
};
use agentwire_acp_toolkit::Workspaces;
use agentwire_cost_tests::{Cost, Meter};
use agentwire_mcp_server::{Context as ToolContext, NoArguments, Server, ToolError};
use agentwire_transport::{Transport, lines};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

use super::settled::settled;

const MIB: usize = 1 << 20;

/// A client with files and terminals in one directory.
struct Editor(Workspaces);

impl Client for Editor {
    fn session_update(&self, _: SessionNotification) {}

    async fn request_permission(
        &self,
        _: RequestPermissionRequest,
        _: Context,
    ) -> Result<RequestPermissionResponse, Error> {
        Ok(RequestPermissionResponse::cancelled())
    }

    async fn read_text_file(
        &self,
        request: ReadTextFileRequest,
        _: Context,
    ) -> Result<ReadTextFileResponse, Error> {
        self.0.read_text_file(request).await
    }

    async fn write_text_file(
        &self,
        request: WriteTextFileRequest,
        _: Context,
    ) -> Result<WriteTextFileResponse, Error> {
        self.0.write_text_file(request).await
    }

    async fn create_terminal(
        &self,
        request: CreateTerminalRequest,
        _: Context,
    ) -> Result<CreateTerminalResponse, Error> {
        self.0.create_terminal(request).await
    }

    async fn terminal_output(
        &self,
        request: TerminalOutputRequest,
        _: Context,
    ) -> Result<TerminalOutputResponse, Error> {
        self.0.terminal_output(request).await
    }
}

/// The far end of a connection, which writes lines and reads only on request.
struct Hostile {
    read: BufReader<tokio::io::ReadHalf<DuplexStream>>,
    write: tokio::io::WriteHalf<DuplexStream>,
}

impl Hostile {
    async fn send(&mut self, message: Value) {
        self.write.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.read.read_line(&mut line).await.unwrap();
        serde_json::from_str(&line).unwrap()
    }

    async fn answer_initialize(&mut self) {
        let initialize = self.receive().await;
        self.send(json!({"jsonrpc": "2.0", "id": initialize["id"], "result": {"protocolVersion": 1}})).await;
    }

    /// Waits until an answer has begun to come, and until nothing more is done.
    async fn reads_nothing(&mut self) {
        self.read.read_u8().await.unwrap();
        settled().await;
    }
}

fn pair() -> (impl Transport, Hostile) {
    let (near, far) = tokio::io::duplex(64 << 10);
    let (read, write) = tokio::io::split(near);
    let near = lines(read.compat(), write.compat_write());
    let (read, write) = tokio::io::split(far);
    (near, Hostile { read: BufReader::new(read), write })
}

fn measured<F: Future>(meter: &Meter, work: impl FnOnce() -> F) -> Cost {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let cost = meter.measure(|| drop(runtime.block_on(work()))).1;
    runtime.shutdown_timeout(Duration::from_secs(10));
    cost
}

/// The cost of an agent for a client.
fn client(meter: &Meter, directory: &Path, agent: impl AsyncFnOnce(&mut Hostile)) -> Cost {
    measured(meter, async || {
        let workspaces = Workspaces::new();
        workspaces.open(SessionId::from("s"), &NewSessionRequest::new(directory));
        let (near, mut far) = pair();
        let initialize =
            InitializeRequest::new(ProtocolVersion::V1).client_capabilities(workspaces.capabilities());
        let client = connect(Editor(workspaces), near, async |agent| {
            agent.initialize(initialize).await?;
            agent.closed().await;
            Ok(())
        });
        let hostile = async {
            far.answer_initialize().await;
            agent(&mut far).await;
        };
        tokio::select! {
            ended = client => panic!("the client has ended: {ended:?}"),
            () = hostile => {}
        }
    })
}

fn read_text_file(id: usize, path: &Path) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "fs/read_text_file", "params": {"sessionId": "s", "path": path}})
}

#[test]
fn large_files() {
    let meter = Meter::lock();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    std::fs::write(&path, "x".repeat(31 * MIB)).unwrap();
    let cost = client(&meter, directory.path(), async |agent| {
        for id in 0..100 {
            agent.send(read_text_file(id, &path)).await;
        }
        agent.reads_nothing().await;
    });
    assert!(cost.peak_bytes < 128 * MIB, "{cost:?}");
}

#[test]
fn many_files() {
    let meter = Meter::lock();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    std::fs::write(&path, "x".repeat(MIB)).unwrap();
    let cost = client(&meter, directory.path(), async |agent| {
        for id in 0..1_000 {
            agent.send(read_text_file(id, &path)).await;
        }
        agent.reads_nothing().await;
    });
    assert!(cost.peak_bytes < 64 * MIB, "{cost:?}");
}

#[test]
fn texts_to_write() {
    let meter = Meter::lock();
    let directory = tempfile::tempdir().unwrap();
    let text = "x".repeat(31 * MIB);
    let cost = client(&meter, directory.path(), async |agent| {
        for id in 0..8 {
            let path = directory.path().join(format!("{id}"));
            let params = json!({"sessionId": "s", "path": path, "content": ""}).to_string();
            let (head, tail) = params.rsplit_once("\"\"").unwrap();
            let head =
                format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"fs/write_text_file","params":{head}""#);
            for part in [&head, &text, "\"", tail, "}\n"] {
                agent.write.write_all(part.as_bytes()).await.unwrap();
            }
        }
        agent.reads_nothing().await;
    });
    assert!(cost.peak_bytes < 128 * MIB, "{cost:?}");
}

#[test]
fn outputs_of_a_terminal() {
    let meter = Meter::lock();
    let directory = tempfile::tempdir().unwrap();
    let cost = client(&meter, directory.path(), async |agent| {
        let command = "head -c 4000000 /dev/zero | tr '\\0' x; sleep 1000";
        let params = json!({
            "sessionId": "s", "command": "sh", "args": ["-c", command], "outputByteLimit": 100_000_000,
        });
        agent.send(json!({"jsonrpc": "2.0", "id": 0, "method": "terminal/create", "params": params})).await;
        let terminal = agent.receive().await["result"]["terminalId"].clone();
        let output = json!({"sessionId": "s", "terminalId": terminal});
        let ask = |id| json!({"jsonrpc": "2.0", "id": id, "method": "terminal/output", "params": output});
        while {
            agent.send(ask(1)).await;
            agent.receive().await["result"]["output"].as_str().unwrap().len() < 4_000_000
        } {}
        for id in 2..200 {
            agent.send(ask(id)).await;
        }
        agent.reads_nothing().await;
    });
    assert!(cost.peak_bytes < 64 * MIB, "{cost:?}");
}

/// The cost of a client for a server.
fn server(text: usize, calls: usize) -> Cost {
    let meter = Meter::lock();
    let long = move |_: NoArguments, _: ToolContext| async move { Ok::<_, ToolError>("x".repeat(text)) };
    measured(&meter, async || {
        let (near, mut far) = pair();
        let server = Server::new("server", "1").tool("long", "A long text", long).serve(near);
        let hostile = async {
            let params = json!({
                "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"},
            });
            far.send(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})).await;
            far.receive().await;
            far.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
            for id in 1..=calls {
                let params = json!({"name": "long", "arguments": {}});
                far.send(json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})).await;
            }
            far.reads_nothing().await;
        };
        tokio::select! {
            ended = server => panic!("the server has ended: {ended:?}"),
            () = hostile => {}
        }
    })
}

#[test]
fn results_of_tools() {
    let cost = server(MIB, 1_000);
    assert!(cost.peak_bytes < 64 * MIB, "{cost:?}");
}

#[test]
fn long_results_of_tools() {
    let cost = server(15 * MIB, 100);
    assert!(cost.peak_bytes < 64 * MIB, "{cost:?}");
}

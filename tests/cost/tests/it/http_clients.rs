//! The cost of one hostile client for an HTTP server with default limits: memory over that of the idle server.
//!
//! Both are in this process, on real sockets, and the meter counts both; so the client holds next to nothing.

use std::io::Write;
use std::net::SocketAddr;
use std::time::Duration;

use agentwire_cost_tests::{Cost, Meter};
use agentwire_mcp_server::schema::{LoggingLevel, TaskSupport};
use agentwire_mcp_server::{Context, Server, ServerTool, Tasks};
use agentwire_transport_http::server::{Endpoint, EndpointConfig, Routes, serve};
use agentwire_transport_sse::server as sse;
use serde::Deserialize;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use super::settled::settled;

const MIB: usize = 1 << 20;
/// The most that one client may cost.
const MOST: usize = 64 * MIB;
const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"},"io.modelcontextprotocol/logLevel":"info","io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}"#;

#[derive(Deserialize, schemars::JsonSchema)]
struct Length {
    length: usize,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Held {
    held: serde_json::Value,
}

async fn long(Length { length }: Length, _: Context) -> String {
    "x".repeat(length)
}

async fn talk(Length { length }: Length, cx: Context) -> &'static str {
    let text = "x".repeat(length);
    while cx.log(LoggingLevel::Info, None, &text).await.is_ok() {}
    "nobody listens"
}

async fn hold(Held { held }: Held, cx: Context) -> String {
    cx.cancelled().await;
    held.to_string()
}

fn server() -> Server {
    let template = async |_: std::collections::BTreeMap<String, String>, _: Context| "x";
    Server::new("subject", "1")
        .validate(true)
        .logging(LoggingLevel::Info)
        .resource_updates()
        .resource_template("x:{+id}", "x", template)
        .tasks(Tasks::new(|work| drop(tokio::spawn(work))))
        .tool("long", "A long text", long)
        .tool("talk", "Long texts without end", talk)
        .tool("hold", "Hold a value", hold)
        .with_tool(ServerTool::new("hold_task", "Hold a value", hold).task(TaskSupport::Required))
        .with_tool(ServerTool::new("long_task", "A long text", long).task(TaskSupport::Required))
}

/// The attack of a client.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Hostile {
    UnreadAnswers,
    UnreadAnswersInSession,
    UnreadAnswersOfHttp2,
    UnreadStreams,
    UnreadStreamsOfSse,
    UnreadReplays,
    HalfBodies,
    BatchesOfIds,
    TinyValues,
    Subscriptions,
    Initializes,
    ArgumentsOfTasks,
    ResultsOfTasks,
    Events,
}

const ALL: [Hostile; 14] = [
    Hostile::UnreadAnswers,
    Hostile::UnreadAnswersInSession,
    Hostile::UnreadAnswersOfHttp2,
    Hostile::UnreadStreams,
    Hostile::UnreadStreamsOfSse,
    Hostile::UnreadReplays,
    Hostile::HalfBodies,
    Hostile::BatchesOfIds,
    Hostile::TinyValues,
    Hostile::Subscriptions,
    Hostile::Initializes,
    Hostile::ArgumentsOfTasks,
    Hostile::ResultsOfTasks,
    Hostile::Events,
];

#[test]
fn no_client_costs_more_than_its_share() {
    each_costs_its_share(1);
}

mod long {
    use super::*;

    #[test]
    #[ignore = "takes minutes: cargo xtask ci long"]
    fn no_client_that_does_more_costs_more_than_its_share() {
        each_costs_its_share(4);
    }
}

fn each_costs_its_share(times: usize) {
    let meter = Meter::lock();
    let mut table = String::from("\npeak over idle of a server, by what its client does\n");
    let costs = ALL.map(|hostile| (hostile, measure(&meter, hostile, times)));
    for (hostile, cost) in costs {
        let mib = |bytes| bytes as f64 / MIB as f64;
        let (peak, kept) = (mib(cost.peak_bytes), mib(cost.kept_bytes));
        table += &format!("{peak:>8.1} MiB, {kept:>6.1} kept  {hostile:?}\n");
    }
    std::io::stdout().write_all(table.as_bytes()).unwrap();
    for (hostile, cost) in costs {
        assert!(cost.peak_bytes < MOST, "{hostile:?}: {cost:?}");
    }
}

fn measure(meter: &Meter, hostile: Hostile, times: usize) -> Cost {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let client = runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (streamable, older) = (server(), server());
        let endpoint = Endpoint::serving(EndpointConfig::new(), streamable);
        let older = sse::Endpoint::serving(sse::EndpointConfig::new(), older);
        let routes = older.mount(Routes::new().at("/mcp", endpoint));
        tokio::spawn(async move { serve(listener, routes).await });
        let client = Client { address, times };
        // What is made once is there.
        client.read(&client.call("long", r#"{"length":1}"#)).await;
        client
    });
    let (kept, cost) = meter.measure(|| runtime.block_on(client.act(hostile)));
    drop(kept);
    runtime.shutdown_timeout(Duration::from_secs(10));
    cost
}

/// A client of one address.
#[derive(Clone, Copy)]
struct Client {
    address: SocketAddr,
    /// How often it does what would cost twice as much as it may if it were done once and nothing were bounded.
    times: usize,
}

fn tiny_objects(count: usize) -> String {
    format!("[{}]", vec![r#"{"":0}"#; count].join(","))
}

impl Client {
    /// Does it. Gives the connections, which stay open.
    async fn act(self, hostile: Hostile) -> Vec<TcpStream> {
        let mut open = Vec::new();
        match hostile {
            Hostile::UnreadAnswers => {
                for _ in 0..32 * self.times {
                    open.push(self.send(&self.call("long", r#"{"length":4000000}"#)).await);
                }
            }
            Hostile::UnreadAnswersInSession => {
                let session = self.session("2025-11-25").await;
                for id in 0..32 * self.times {
                    let params = r#"{"name":"long","arguments":{"length":4000000}}"#;
                    open.push(self.send(&session.post(id, "tools/call", params)).await);
                }
            }
            Hostile::UnreadAnswersOfHttp2 => {
                for _ in 0..2 * self.times {
                    open.push(self.send_http2(20, "long", r#"{"length":4000000}"#).await);
                }
            }
            Hostile::UnreadStreams => {
                for _ in 0..400 {
                    open.push(self.send(&self.call("talk", r#"{"length":30000}"#)).await);
                }
            }
            Hostile::UnreadStreamsOfSse => self.older_streams(&mut open).await,
            Hostile::UnreadReplays => self.replays(&mut open).await,
            Hostile::HalfBodies => {
                let body = " ".repeat(4 * MIB);
                for _ in 0..32 * self.times {
                    let head = self.head(&[], body.len());
                    let mut socket = self.connect().await;
                    let (refusal, mut request) = socket.split();
                    let sending = async {
                        request.write_all(head.as_bytes()).await?;
                        request.write_all(&body.as_bytes()[1..]).await
                    };
                    // One that is refused is not read.
                    tokio::select! {
                        _ = sending => {}
                        _ = refusal.readable() => {}
                        () = tokio::time::sleep(Duration::from_millis(200)) => {}
                    }
                    open.push(socket);
                }
            }
            Hostile::BatchesOfIds => {
                let session = self.session("2025-03-26").await;
                let padding = "\\u0041".repeat(160);
                for _ in 0..3 {
                    let one = |at| format!(r#"{{"jsonrpc":"2.0","id":"{padding}{at}","method":"x"}}"#);
                    let batch = (0..1000).map(one).collect::<Vec<_>>().join(",");
                    open.push(self.send(&session.post_text(&format!("[{batch}]"))).await);
                }
            }
            Hostile::TinyValues => {
                let arguments = format!(r#"{{"held":{}}}"#, tiny_objects(500_000));
                let some = format!(r#"{{"held":{}}}"#, tiny_objects(30_000));
                for _ in 0..3 {
                    self.read(&self.call("hold", &arguments)).await;
                }
                for _ in 0..8 {
                    open.push(self.send(&self.call("hold", &some)).await);
                }
            }
            Hostile::Subscriptions => {
                let session = self.session("2025-11-25").await;
                for number in 0..300 {
                    let params = format!(r#"{{"uri":"x:{number}{}"}}"#, "y".repeat(10_000));
                    self.read(&session.post(1, "resources/subscribe", &params)).await;
                }
            }
            Hostile::Initializes => {
                for _ in 0..1200 {
                    self.read(&self.initialize("2025-11-25")).await;
                }
            }
            Hostile::ArgumentsOfTasks => {
                let arguments = format!(r#"{{"held":"{}"}}"#, "x".repeat(MIB));
                for _ in 0..60 {
                    self.read(&self.call("hold_task", &arguments)).await;
                }
            }
            Hostile::ResultsOfTasks => {
                for _ in 0..60 {
                    self.read(&self.call("long_task", r#"{"length":1000000}"#)).await;
                }
            }
            Hostile::Events => {
                for _ in 0..20 {
                    let session = self.session("2025-11-25").await;
                    for id in 0..10 {
                        let params = r#"{"name":"long","arguments":{"length":500000}}"#;
                        self.read(&session.post(id, "tools/call", params)).await;
                    }
                }
            }
        }
        settled().await;
        open
    }

    /// Clients of 2024-11-05, which do not read their streams.
    async fn older_streams(self, open: &mut Vec<TcpStream>) {
        for _ in 0..32 * self.times {
            let request = format!("GET /sse HTTP/1.1\r\nHost: {}\r\n\r\n", self.address);
            let mut stream = self.send(&request).await;
            let mut head = Vec::new();
            while !head.ends_with(b"\n\n") {
                head.push(stream.read_u8().await.unwrap());
                if head.ends_with(b"\r\n\r\n") {
                    head.clear();
                }
            }
            let text = String::from_utf8(head).unwrap();
            let path = text.lines().find_map(|line| line.strip_prefix("data: ")).unwrap().to_owned();
            open.push(stream);
            let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"long","arguments":{"length":4000000}}}"#;
            let initialize = INITIALIZE.replace("REVISION", "2024-11-05");
            for body in [&*initialize, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, call] {
                let head = format!(
                    "POST {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\n\
                     Content-Length: {}\r\n\r\n{body}",
                    self.address,
                    body.len()
                );
                self.read(&head).await;
            }
        }
    }

    /// Streams that are resumed again and again.
    async fn replays(self, open: &mut Vec<TcpStream>) {
        let session = self.session("2025-11-25").await;
        let params = r#"{"name":"long","arguments":{"length":1000000}}"#;
        let answer = self.read(&session.post(1, "tools/call", params)).await;
        let first = answer.lines().find_map(|line| line.strip_prefix("id: ")).expect("it is primed");
        let request = format!(
            "GET /mcp HTTP/1.1\r\nHost: {}\r\nAccept: text/event-stream\r\nMcp-Session-Id: {}\r\nLast-Event-ID: {first}\r\n\r\n",
            self.address, session.id
        );
        for _ in 0..100 {
            open.push(self.send(&request).await);
        }
    }

    /// A connection whose other end can keep little in the kernel.
    async fn connect(self) -> TcpStream {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4096).unwrap();
        socket.connect(self.address).await.unwrap()
    }

    async fn send(self, request: &str) -> TcpStream {
        let mut socket = self.connect().await;
        socket.write_all(request.as_bytes()).await.unwrap();
        tokio::task::yield_now().await;
        socket
    }

    /// Sends a request that closes its connection, and reads the answer.
    async fn read(self, request: &str) -> String {
        let mut socket = TcpStream::connect(self.address).await.unwrap();
        let request = request.replacen("\r\n", "\r\nConnection: close\r\n", 1);
        let mut answer = Vec::new();
        let _refused_before_all_was_read = socket.write_all(request.as_bytes()).await;
        let _ = socket.read_to_end(&mut answer).await;
        String::from_utf8_lossy(&answer[..answer.len().min(4096)]).into_owned()
    }

    fn head(self, headers: &[(&str, &str)], length: usize) -> String {
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nAccept: application/json, \
             text/event-stream\r\n{headers}Content-Length: {length}\r\n\r\n",
            self.address
        )
    }

    /// A modern call.
    fn call(self, tool: &str, arguments: &str) -> String {
        let body = call_body(tool, arguments);
        let headers =
            [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", tool)];
        self.head(&headers, body.len()) + &body
    }

    fn initialize(self, revision: &str) -> String {
        let body = INITIALIZE.replace("REVISION", revision);
        self.head(&[], body.len()) + &body
    }

    async fn session(self, revision: &'static str) -> Session {
        let answer = self.read(&self.initialize(revision)).await;
        let id = answer.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).expect("a session");
        let session = Session { client: self, id: id.to_owned(), revision };
        self.read(&session.post_text(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)).await;
        session
    }

    /// Calls on one connection, whose client gives no window for the answers.
    async fn send_http2(self, calls: u32, tool: &str, arguments: &str) -> TcpStream {
        let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
        frame(&mut bytes, 4, 0, 0, &[0, 4, 0, 0, 0, 0]);
        let body = call_body(tool, arguments);
        let authority = self.address.to_string();
        let mut head = Vec::new();
        for (name, value) in [
            (":method", "POST"),
            (":scheme", "http"),
            (":path", "/mcp"),
            (":authority", &*authority),
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", tool),
        ] {
            // Literal, and not indexed.
            head.push(0);
            for text in [name, value] {
                head.push(u8::try_from(text.len()).ok().filter(|length| *length < 127).unwrap());
                head.extend_from_slice(text.as_bytes());
            }
        }
        for call in 0..calls {
            frame(&mut bytes, 1, 4, 2 * call + 1, &head);
            frame(&mut bytes, 0, 1, 2 * call + 1, body.as_bytes());
        }
        let mut socket = self.connect().await;
        socket.write_all(&bytes).await.unwrap();
        socket
    }
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"REVISION","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}"#;

fn call_body(tool: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments},{META}}}}}"#
    )
}

/// A frame of HTTP/2.
fn frame(bytes: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    bytes.extend_from_slice(&u32::try_from(payload.len()).unwrap().to_be_bytes()[1..]);
    bytes.extend_from_slice(&[kind, flags]);
    bytes.extend_from_slice(&stream.to_be_bytes());
    bytes.extend_from_slice(payload);
}

struct Session {
    client: Client,
    id: String,
    revision: &'static str,
}

impl Session {
    fn post(&self, id: usize, method: &str, params: &str) -> String {
        self.post_text(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#))
    }

    fn post_text(&self, body: &str) -> String {
        let headers = [("MCP-Protocol-Version", self.revision), ("Mcp-Session-Id", &*self.id)];
        self.client.head(&headers, body.len()) + body
    }
}

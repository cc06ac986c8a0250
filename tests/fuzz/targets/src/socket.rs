//! Bytes against a whole MCP server on a socket of this machine.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::panic::PanicHookInfo;
use std::sync::Once;
use std::time::Duration;

use agentwire_mcp_server::{Context, Server};
use agentwire_transport_http::server::{Endpoint, EndpointConfig, serve};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tokio::time::timeout;

pub(crate) const WORDS: &[&[u8]] = &[
    b"POST /mcp HTTP/1.1\r\n",
    b"GET /mcp HTTP/1.1\r\n",
    b"DELETE /mcp HTTP/1.1\r\n",
    b"host: localhost\r\n",
    b"content-type: application/json\r\n",
    b"accept: application/json, text/event-stream\r\n",
    b"content-length: 2\r\n",
    b"transfer-encoding: chunked\r\n",
    b"mcp-session-id: ",
    b"mcp-protocol-version: 2026-07-28\r\n",
    b"mcp-protocol-version: 2025-11-25\r\n",
    b"mcp-method: tools/call\r\n",
    b"mcp-name: echo\r\n",
    b"mcp-param-region: =?base64?SGVsbG8=?=\r\n",
    b"last-event-id: 1-1\r\n",
    b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
    b"tools/call",
    b"initialize",
    b"\r\n\r\n",
];

/// How long a server may take to close a connection after its client has. Generous: others use the machine too.
const A_WHILE: Duration = Duration::from_secs(60);

/// After so many inputs a server has many sessions and is exchanged for another.
const INPUTS: usize = 500;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

#[derive(Deserialize, JsonSchema)]
struct Place {
    /// Where to work.
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: String,
}

async fn echo(Place { region }: Place, _: Context) -> String {
    region
}

struct Running {
    runtime: Runtime,
    address: SocketAddr,
    server: JoinHandle<()>,
    inputs: usize,
}

thread_local! {
    static RUNNING: RefCell<Option<Running>> = const { RefCell::new(None) };
    /// Whether anything of the server has panicked. It contains panics, so it does not end by one.
    static PANICKED: Cell<bool> = const { Cell::new(false) };
}

/// Takes note of each panic from now on.
fn watch_panics() {
    static WATCHED: Once = Once::new();
    WATCHED.call_once(|| {
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !is_known(info) {
                PANICKED.set(true);
                report(info);
            }
        }));
    });
}

/// An assertion of h2's, in debug builds only: a connection is dropped before the last of its streams. The server contains
/// it, and the others of its clients see nothing of it.
fn is_known(info: &PanicHookInfo<'_>) -> bool {
    let payload = info.payload();
    let text =
        payload.downcast_ref::<&str>().copied().or(payload.downcast_ref::<String>().map(String::as_str));
    let place = info.location().map(|place| place.file()).unwrap_or_default();
    place.ends_with("proto/streams/counts.rs")
        && text.is_some_and(|text| text.contains("!self.has_streams()"))
}

/// The server takes the bytes as they are, closes the connection when they end, and goes on.
pub(crate) fn http1(bytes: &[u8]) {
    exchange(bytes);
}

/// The same behind the preface of HTTP/2. Where the first byte is odd, the bytes are frames whose lengths are made to fit:
/// type, flags, stream, length, payload.
pub(crate) fn http2(bytes: &[u8]) {
    let mut sent = PREFACE.to_vec();
    match bytes.split_first() {
        Some((mode, rest)) if mode % 2 == 1 => {
            sent.extend([0, 0, 0, 4, 0, 0, 0, 0, 0]);
            frames(rest, &mut sent);
        }
        _ => sent.extend_from_slice(bytes.get(1..).unwrap_or_default()),
    }
    exchange(&sent);
}

fn frames(mut bytes: &[u8], out: &mut Vec<u8>) {
    while let [kind, flags, stream, length, rest @ ..] = bytes {
        let (payload, rest) = rest.split_at(rest.len().min(usize::from(*length)));
        let length = u32::try_from(payload.len()).unwrap_or_default().to_be_bytes();
        out.extend_from_slice(&length[1..]);
        out.extend([*kind, *flags, 0, 0, 0, *stream]);
        out.extend_from_slice(payload);
        bytes = rest;
    }
}

fn exchange(bytes: &[u8]) {
    RUNNING.with_borrow_mut(|running| {
        let mut current = running.take().filter(|running| running.inputs < INPUTS).unwrap_or_else(start);
        current.inputs += 1;
        current.runtime.block_on(converse(current.address, bytes));
        assert!(!current.server.is_finished(), "the server has ended");
        assert!(!PANICKED.take(), "something of the server has panicked");
        *running = Some(current);
    });
}

fn start() -> Running {
    watch_panics();
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    let (address, server) = runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("there is a port");
        let address = listener.local_addr().expect("it is bound");
        let server = Server::new("fuzzed", "1").tool("echo", "Says it again", echo);
        let endpoint = Endpoint::serving(EndpointConfig::new().session_limit(INPUTS), server);
        (address, tokio::spawn(async move { serve(listener, endpoint).await }))
    });
    Running { runtime, address, server, inputs: 0 }
}

async fn converse(address: SocketAddr, bytes: &[u8]) {
    let mut stream = TcpStream::connect(address).await.expect("the server takes connections");
    let (mut from, mut to) = stream.split();
    let write = async {
        // The server may close first.
        let _closed = to.write_all(bytes).await;
        let _closed = to.shutdown().await;
    };
    let read = async {
        let mut answer = Vec::new();
        let _closed = from.read_to_end(&mut answer).await;
    };
    timeout(A_WHILE, futures::future::join(write, read))
        .await
        .expect("the server closes what its client has closed");
}

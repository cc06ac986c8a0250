//! The HTTP limit: bare hyper on one thread, typed structs in and out, every response one body made at once. Its responses
//! are those of our server byte for byte, except for the date and the session id; the benchmark checks that first. Its only
//! state is a counter for each connection, so a session costs nothing.
//!
//! `FORM` selects the form of its responses, as for every measured server: `session-json`, `session-events`, `stateless-json` or
//! `stateless-events`. It prints its address and exits when its standard input ends.

use std::borrow::Cow;
use std::cell::Cell;
use std::convert::Infallible;
use std::io::{self, Read, Write};

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use rival_limit::Envelope;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// The name and version of our server.
const NAME: &str = "bench";
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
const VERSION: &str = env!("CARGO_PKG_VERSION");

#[derive(Clone, Copy)]
struct Form {
    session: bool,
    events: bool,
}

#[derive(Deserialize)]
struct CallToolRequest<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    arguments: &'a RawValue,
    #[serde(borrow, rename = "_meta")]
    meta: Option<Meta<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Meta<'a> {
    #[serde(borrow)]
    progress_token: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Echo<'a> {
    #[serde(borrow)]
    text: Cow<'a, str>,
}

/// The arguments of `burst` and of `big`.
#[derive(Deserialize)]
struct Count {
    n: usize,
}

#[derive(Serialize)]
struct Answer<'a, R> {
    jsonrpc: &'static str,
    id: &'a RawValue,
    result: R,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InitializeResult {
    protocol_version: &'static str,
    capabilities: Value,
    server_info: Implementation,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CallToolResult<'a> {
    content: [ContentBlock<'a>; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    result_type: Option<&'static str>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<ResultMeta>,
}

#[derive(Serialize)]
struct ResultMeta {
    #[serde(rename = "io.modelcontextprotocol/serverInfo")]
    server_info: Implementation,
}

#[derive(Serialize)]
struct Implementation {
    name: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
struct ContentBlock<'a> {
    r#type: &'static str,
    text: &'a str,
}

#[derive(Serialize)]
struct Notification<'a> {
    jsonrpc: &'static str,
    method: &'static str,
    params: ProgressNotification<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ProgressNotification<'a> {
    progress_token: &'a RawValue,
    progress: usize,
    total: usize,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let form = std::env::var("FORM").unwrap_or_else(|_| "session-json".into());
    let form = Form { session: form.starts_with("session"), events: form.ends_with("events") };
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    writeln!(io::stdout(), "{}", listener.local_addr()?)?;
    std::thread::spawn(|| {
        let _ = io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let posts = Cell::new(0);
        let service = service_fn(move |request| {
            posts.set(posts.get() + 1);
            respond(request, form, posts.get())
        });
        // The client reports how a connection ended.
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

async fn respond(
    request: Request<Incoming>,
    form: Form,
    posts: u64,
) -> Result<Response<Full<Bytes>>, Infallible> {
    if request.method() != Method::POST {
        let deleted = request.method() == Method::DELETE;
        return Ok(status(if deleted { StatusCode::NO_CONTENT } else { StatusCode::METHOD_NOT_ALLOWED }));
    }
    let answered = match request.into_body().collect().await {
        Ok(body) => answer(&body.to_bytes(), form, posts),
        Err(error) => Err(io::Error::other(error)),
    };
    Ok(answered.unwrap_or_else(|error| {
        eprintln!("{error}");
        status(StatusCode::BAD_REQUEST)
    }))
}

fn status(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = status;
    response
}

fn answer(body: &[u8], form: Form, posts: u64) -> io::Result<Response<Full<Bytes>>> {
    let text = std::str::from_utf8(body).map_err(io::Error::other)?;
    let message: Envelope<'_> = serde_json::from_str(text)?;
    let Some(id) = message.id else { return Ok(status(StatusCode::ACCEPTED)) };
    // A connection has one session. Its streams are numbered; the notification of the handshake has none.
    let opens = &*message.method == "initialize";
    let stream = if opens { 1 } else { posts.saturating_sub(1) };
    let bytes = Vec::with_capacity(256);
    let mut out = Output { form, events: form.events, primes: !opens, stream, sent: 0, bytes };
    match &*message.method {
        "tools/call" => call_tool(&message.params()?, id, &mut out)?,
        "initialize" => {
            out.answer(
                id,
                InitializeResult {
                    protocol_version: "2025-11-25",
                    capabilities: json!({ "tools": { "listChanged": true } }),
                    server_info: Implementation { name: NAME, version: VERSION },
                },
            )?;
            let mut response = out.response();
            if form.session {
                response.headers_mut().insert("mcp-session-id", HeaderValue::from_static("the-one"));
            }
            return Ok(response);
        }
        other => return Err(io::Error::other(format!("unexpected {other}"))),
    }
    Ok(out.response())
}

fn call_tool(call: &CallToolRequest<'_>, id: &RawValue, out: &mut Output) -> io::Result<()> {
    match &*call.name {
        "echo" => {
            let Echo { text } = serde_json::from_str(call.arguments.get())?;
            out.text(id, &text)
        }
        "big" => {
            let Count { n } = serde_json::from_str(call.arguments.get())?;
            out.text(id, &"a".repeat(n))
        }
        "burst" => {
            let Count { n } = serde_json::from_str(call.arguments.get())?;
            out.events = true;
            if let Some(progress_token) = call.meta.as_ref().and_then(|meta| meta.progress_token) {
                for progress in 1..=n {
                    out.message(&Notification {
                        jsonrpc: "2.0",
                        method: "notifications/progress",
                        params: ProgressNotification { progress_token, progress, total: n },
                    })?;
                }
            }
            out.text(id, &format!("reported {n} times"))
        }
        other => Err(io::Error::other(format!("no tool {other}"))),
    }
}

/// The body of one response.
struct Output {
    form: Form,
    events: bool,
    /// Whether the first event has only an id to resume from.
    primes: bool,
    /// The number of the response within its session.
    stream: u64,
    sent: usize,
    bytes: Vec<u8>,
}

impl Output {
    fn text(&mut self, id: &RawValue, text: &str) -> io::Result<()> {
        let stands_alone = !self.form.session;
        let result_type = stands_alone.then_some("complete");
        let server_info = Implementation { name: NAME, version: VERSION };
        let meta = stands_alone.then_some(ResultMeta { server_info });
        self.answer(
            id,
            CallToolResult { content: [ContentBlock { r#type: "text", text }], result_type, meta },
        )
    }

    fn answer(&mut self, id: &RawValue, result: impl Serialize) -> io::Result<()> {
        self.message(&Answer { jsonrpc: "2.0", id, result })
    }

    fn message(&mut self, message: &impl Serialize) -> io::Result<()> {
        if !self.events {
            return Ok(serde_json::to_writer(&mut self.bytes, message)?);
        }
        // What a resumable stream looks like: an event that only gives an id, and an id for each message.
        if self.form.session {
            if self.sent == 0 && self.primes {
                write!(self.bytes, "retry: 1000\nid: {}-0\ndata: \n\n", self.stream)?;
            }
            self.sent += 1;
            writeln!(self.bytes, "id: {}-{}", self.stream, self.sent)?;
        }
        self.bytes.extend_from_slice(b"data: ");
        serde_json::to_writer(&mut self.bytes, message)?;
        self.bytes.extend_from_slice(b"\n\n");
        Ok(())
    }

    fn response(self) -> Response<Full<Bytes>> {
        let kind = if self.events { "text/event-stream" } else { "application/json" };
        let mut response = Response::new(Full::new(Bytes::from(self.bytes)));
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        if self.events {
            response.headers_mut().insert(ACCEL_BUFFERING, HeaderValue::from_static("no"));
        }
        response
    }
}

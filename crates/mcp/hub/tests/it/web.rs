//! A server on the network that the test plays: bytes on a socket.

use std::sync::{Arc, Mutex};

use agentwire_mcp_hub::HttpTarget;
use agentwire_schema_tests::{Conversation, Side};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// A server that plays a part, for as long as the test runs.
#[derive(Clone)]
pub(crate) struct Web {
    pub(crate) url: String,
    state: Arc<Mutex<State>>,
}

struct State {
    part: Part,
    /// The attempts: methods of the handshakes, and GETs that belong to no session.
    tried: Vec<String>,
    /// All headers of the last request, in lower case.
    headers: String,
    sessions: usize,
    conversation: Conversation,
    /// The stream of HTTP+SSE that is open.
    stream: Option<mpsc::UnboundedSender<String>>,
}

/// The answers of a server to the first requests of a client.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) discover: Answer,
    pub(crate) initialize: Answer,
    pub(crate) get: Answer,
    /// How many requests of a session are answered after `tools/list`.
    pub(crate) session_lasts: usize,
    /// Advertises a log, and refuses requests for it.
    pub(crate) logs: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer {
    /// The correct answer.
    Works,
    /// A status, and a text that is not JSON.
    Status(u16),
    /// A status, and an error of JSON-RPC with these versions under the id of the request.
    Refuses(u16, i64, &'static [&'static str]),
    /// The same under the id `null`.
    RefusesNobody(u16, i64, &'static [&'static str]),
    /// 200 and a page for people.
    Page,
    /// No answer the first time, then the correct one.
    WorksTheSecondTime,
    /// Nothing at all.
    Silence,
    /// Closes the connection.
    HangsUp,
}

impl Part {
    /// Speaks 2026-07-28 and nothing else.
    pub(crate) const MODERN: Self = Self {
        discover: Answer::Works,
        initialize: Answer::Refuses(400, -32022, &["2026-07-28"]),
        get: Answer::Status(405),
        session_lasts: 0,
        logs: false,
    };

    /// Has sessions, and answers `discover` to unknown requests.
    pub(crate) const fn legacy(discover: Answer) -> Self {
        let get = Answer::Status(405);
        Self { discover, initialize: Answer::Works, get, session_lasts: usize::MAX, logs: false }
    }

    /// Has no Streamable HTTP, and answers `post` to a POST.
    pub(crate) const fn old(post: Answer) -> Self {
        let get = Answer::Works;
        Self { discover: post, initialize: post, get, session_lasts: usize::MAX, logs: false }
    }
}

impl Web {
    pub(crate) async fn playing(part: Part) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let state = State {
            part,
            tried: Vec::new(),
            headers: String::new(),
            sessions: 0,
            conversation: Conversation::mcp(),
            stream: None,
        };
        let web = Self { url, state: Arc::new(Mutex::new(state)) };
        let served = web.clone();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(served.clone().serve(socket));
            }
        });
        web
    }

    pub(crate) fn target(&self) -> HttpTarget {
        HttpTarget::new(&self.url).unwrap()
    }

    /// Plays another part from now on, and forgets what was tried.
    pub(crate) fn play(&self, part: Part) {
        let mut state = self.state.lock().unwrap();
        state.part = part;
        state.tried.clear();
    }

    /// Forgets the session, as a server does that restarts.
    pub(crate) fn restart(&self) {
        self.state.lock().unwrap().sessions += 1;
    }

    /// Ends the stream of HTTP+SSE.
    pub(crate) fn cut(&self) {
        self.state.lock().unwrap().stream = None;
    }

    pub(crate) fn tried(&self) -> Vec<String> {
        self.state.lock().unwrap().tried.clone()
    }

    pub(crate) fn last_headers(&self) -> String {
        self.state.lock().unwrap().headers.clone()
    }

    /// Answers one request and hangs up.
    async fn serve(self, mut socket: TcpStream) {
        let Some((head, body)) = read(&mut socket).await else { return };
        match self.answer(&head, &body) {
            Reply::Whole(bytes) => drop(socket.write_all(bytes.as_bytes()).await),
            Reply::Stream(mut events) => {
                let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
                let mut written = socket.write_all(head.as_bytes()).await;
                while let (Ok(()), Some(event)) = (&written, events.recv().await) {
                    written = socket.write_all(event.as_bytes()).await;
                }
            }
            Reply::Silence => drop(socket.read(&mut [0]).await),
            Reply::HangsUp => {}
        }
    }

    fn answer(&self, head: &str, body: &str) -> Reply {
        let state = &mut *self.state.lock().unwrap();
        state.headers = head.to_lowercase();
        let session = state.headers.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
        let session = session.map(str::to_owned);
        match &head[..4] {
            "GET " if session.is_none() => state.opens_stream(),
            "GET " => Reply::status(405, ""),
            "DELE" => Reply::status(200, ""),
            _ => {
                let message: Value = serde_json::from_str(body).expect("clients post JSON");
                let valid = state.conversation.check(Side::Client, &message);
                assert_eq!(valid, Ok(()), "of {message}");
                let is_old = head.contains(" /messages ");
                state.hear(&message, session, is_old)
            }
        }
    }
}

impl State {
    fn opens_stream(&mut self) -> Reply {
        self.tried.push("GET".into());
        match self.part.get {
            Answer::Works => {
                let (stream, events) = mpsc::unbounded_channel();
                stream.send("event: endpoint\ndata: /messages\n\n".into()).unwrap();
                self.stream = Some(stream);
                Reply::Stream(events)
            }
            other => Reply::other(other, &Value::Null),
        }
    }

    fn hear(&mut self, message: &Value, session: Option<String>, is_old: bool) -> Reply {
        let (method, id) = (message["method"].as_str().unwrap_or_default(), &message["id"]);
        if is_old {
            if let (Some(result), Some(stream)) = (result(method, false), &self.stream) {
                let answer = json!({ "jsonrpc": "2.0", "id": id, "result": result });
                let _gone = stream.send(format!("event: message\ndata: {answer}\n\n"));
            }
            return Reply::status(202, "");
        }
        if matches!(method, "server/discover" | "initialize") {
            assert_eq!(session, None, "{method} begins something");
            self.tried.push(method.into());
        }
        if method == "server/discover" && matches!(self.part.discover, Answer::WorksTheSecondTime) {
            self.part.discover = Answer::Works;
            return Reply::Silence;
        }
        let meta = &message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
        match method {
            "server/discover" => match self.part.discover {
                Answer::Works => Reply::result(id, result(method, true), ""),
                other => Reply::other(other, id),
            },
            "initialize" => match self.part.initialize {
                Answer::Works => {
                    self.sessions += 1;
                    let minted = format!("mcp-session-id: session-{}\r\n", self.sessions);
                    let mut result = result(method, false);
                    if let (true, Some(result)) = (self.part.logs, &mut result) {
                        result["capabilities"]["logging"] = json!({});
                    }
                    Reply::result(id, result, &minted)
                }
                other => Reply::other(other, id),
            },
            _ if meta == "2026-07-28" => match self.part.discover {
                Answer::Works => Reply::result(id, result(method, true), ""),
                other => Reply::other(other, id),
            },
            _ if session != Some(format!("session-{}", self.sessions)) => {
                Reply::status(404, "no such session")
            }
            "logging/setLevel" => Reply::status(400, "played"),
            "tools/call" if self.part.session_lasts == 0 => Reply::status(404, "that session is over"),
            "tools/call" => {
                self.part.session_lasts -= 1;
                Reply::result(id, result(method, false), "")
            }
            "tools/list" => Reply::result(id, result(method, false), ""),
            _ => Reply::status(202, ""),
        }
    }
}

/// The response of a working server. `None` to a notification.
fn result(method: &str, modern: bool) -> Option<Value> {
    let info = json!({ "name": "web", "version": "1" });
    let capabilities = json!({ "tools": {} });
    let mut result = match method {
        "server/discover" => json!({ "supportedVersions": ["2026-07-28"], "capabilities": capabilities }),
        "initialize" => {
            json!({ "protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": info })
        }
        "tools/list" => json!({ "tools": [{ "name": "ping", "inputSchema": { "type": "object" } }] }),
        "tools/call" => json!({ "content": [{ "type": "text", "text": "pong" }] }),
        _ => return None,
    };
    if modern {
        result["resultType"] = "complete".into();
        result["_meta"] = json!({ "io.modelcontextprotocol/serverInfo": info });
        if method != "tools/call" {
            result["ttlMs"] = 0.into();
            result["cacheScope"] = "private".into();
        }
    }
    Some(result)
}

enum Reply {
    Whole(String),
    Stream(mpsc::UnboundedReceiver<String>),
    Silence,
    HangsUp,
}

impl Reply {
    fn whole(status: u16, headers: &str, body: &str) -> Self {
        let length = body.len();
        Self::Whole(format!(
            "HTTP/1.1 {status} Any\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
        ))
    }

    fn status(status: u16, text: &str) -> Self {
        Self::whole(status, "content-type: text/plain\r\n", text)
    }

    fn json(status: u16, headers: &str, body: &Value) -> Self {
        Self::whole(status, &format!("content-type: application/json\r\n{headers}"), &body.to_string())
    }

    fn result(id: &Value, result: Option<Value>, headers: &str) -> Self {
        match result {
            Some(result) => {
                Self::json(200, headers, &json!({ "jsonrpc": "2.0", "id": id, "result": result }))
            }
            None => Self::status(202, ""),
        }
    }

    fn other(answer: Answer, id: &Value) -> Self {
        let refuse = |status, id: &Value, code, supported: &[&str]| {
            let mut error = json!({ "code": code, "message": "played" });
            if !supported.is_empty() {
                error["data"] = json!({ "supported": supported, "requested": "some" });
            }
            // A session for any client, as some servers have it.
            let headers = "mcp-session-id: of-no-use\r\n";
            Self::json(status, headers, &json!({ "jsonrpc": "2.0", "id": id, "error": error }))
        };
        match answer {
            Answer::Works | Answer::WorksTheSecondTime => unreachable!("that depends on what was asked"),
            Answer::Status(status) => Self::status(status, "played"),
            Answer::Refuses(status, code, supported) => refuse(status, id, code, supported),
            Answer::RefusesNobody(status, code, supported) => refuse(status, &Value::Null, code, supported),
            Answer::Page => Self::whole(200, "content-type: text/html\r\n", "<h1>Welcome</h1>"),
            Answer::Silence => Self::Silence,
            Answer::HangsUp => Self::HangsUp,
        }
    }
}

/// The head of a request and its body. `None` if the client has closed the connection.
async fn read(socket: &mut TcpStream) -> Option<(String, String)> {
    let mut bytes = Vec::new();
    loop {
        if socket.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        let text = String::from_utf8(bytes.clone()).expect("clients write UTF-8 in one piece");
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length =
            head.to_lowercase().lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        if body.len() >= length.unwrap_or(0) {
            return Some((head.to_owned(), body.to_owned()));
        }
    }
}

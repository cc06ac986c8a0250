//! The owners of tasks, over HTTP: two users, distinguished by the note of a layer in front of the server.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};

use agentwire_mcp_server::Server;
use agentwire_transport_http::server::{Endpoint, EndpointConfig, serve};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket};
use tokio::task::AbortHandle;

use super::subject::{all, opted, subject, subject_with, tasks};
use crate::raw::{MODERN, NEWEST, code_of};
use crate::subject::Stopped;

const ANN: &str = "ann";
const BOB: &str = "bob";

/// A server on this machine, for as long as this is kept.
struct Listening {
    address: SocketAddr,
    /// Where its clients are.
    from: IpAddr,
    serving: AbortHandle,
}

impl Listening {
    async fn start(server: Server) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("there are ports");
        let address = listener.local_addr().expect("it is bound");
        let endpoint = Endpoint::serving(EndpointConfig::new(), server);
        let serving = tokio::spawn(async move { serve(listener, endpoint).await }).abort_handle();
        Self { address, from: address.ip(), serving }
    }

    async fn post(&self, headers: &[(&str, &str)], body: &Value) -> Response {
        let body = body.to_string();
        let mut request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n",
            self.address,
            body.len()
        );
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        request += "\r\n";
        request += &body;
        let socket = TcpSocket::new_v4().expect("there are sockets");
        socket.bind((self.from, 0).into()).expect("it is an address of this machine");
        let mut socket = socket.connect(self.address).await.expect("it listens");
        socket.write_all(request.as_bytes()).await.expect("it reads");
        let mut response = String::new();
        socket.read_to_string(&mut response).await.expect("it answers");
        Response::read(&response)
    }

    /// A modern request, by that user, with the headers that it needs.
    async fn ask(&self, user: &str, method: &str, params: Value) -> Response {
        let name = params["name"].as_str().or(params["taskId"].as_str()).unwrap_or_default().to_owned();
        self.ask_named(user, method, params, &name).await
    }

    async fn ask_named(&self, user: &str, method: &str, params: Value, name: &str) -> Response {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": opted(params) });
        let headers =
            [("MCP-Protocol-Version", MODERN), ("Mcp-Method", method), ("Mcp-Name", name), ("X-User", user)];
        self.post(&headers, &body).await
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

struct Response {
    status: u16,
    headers: HashMap<String, String>,
    /// The last message of the body; null if it has none.
    message: Value,
}

impl Response {
    fn read(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").expect("a head");
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1)).expect("a status");
        let headers = lines.filter_map(|line| line.split_once(": "));
        let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
        // One message to a line, whether the body is the message or a stream of them.
        let messages = body.lines().filter_map(|line| line.strip_prefix("data: ").or(Some(line)));
        let message =
            messages.filter_map(|line| serde_json::from_str::<Value>(line).ok()).rfind(Value::is_object);
        Self { status: status.parse().expect("a number"), headers, message: message.unwrap_or_default() }
    }
}

/// A session of 2025-11-25.
struct Session<'a> {
    at: &'a Listening,
    user: &'a str,
    id: String,
}

impl<'a> Session<'a> {
    async fn open(at: &'a Listening, user: &'a str) -> Self {
        let client = json!({ "name": "raw", "version": "1" });
        let params = json!({ "protocolVersion": NEWEST, "capabilities": all(), "clientInfo": client });
        let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let opened = at.post(&[("X-User", user)], &body).await;
        let session = Self { at, user, id: opened.headers["mcp-session-id"].clone() };
        let said = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(session.post(&said).await.status, 202);
        session
    }

    async fn post(&self, body: &Value) -> Response {
        let headers =
            [("MCP-Protocol-Version", NEWEST), ("MCP-Session-Id", &*self.id), ("X-User", self.user)];
        self.at.post(&headers, body).await
    }

    async fn ask(&self, method: &str, params: Value) -> Response {
        self.post(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })).await
    }
}

/// The server under test, which takes the caller's name from a header.
fn owned() -> Server {
    subject().input(|config| {
        config.principal(|source| {
            let user = source.header("x-user")?;
            Some(String::from_utf8_lossy(&user).into_owned())
        })
    })
}

#[tokio::test]
async fn tsk_11_only_its_owner_reaches_a_task_of_the_extension() {
    let at = Listening::start(owned()).await;
    let job = json!({ "name": "deaf", "arguments": {} });
    let created = at.ask(ANN, "tools/call", job).await.message;
    let id = created["result"]["taskId"].as_str().unwrap_or_else(|| panic!("no task: {created}")).to_owned();
    let about = json!({ "taskId": id, "inputResponses": {} });
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let foreign = at.ask(BOB, method, about.clone()).await.message;
        assert_eq!(code_of(&foreign), -32602, "{method}");
        let unknown = json!({ "taskId": "nowhere", "inputResponses": {} });
        let unknown = at.ask(BOB, method, unknown).await.message;
        assert_eq!(foreign["error"], unknown["error"], "{method}: it does not even say that there is one");
    }
    let own = at.ask(ANN, "tasks/get", about.clone()).await;
    assert_eq!((own.status, &own.message["result"]["status"]), (200, &json!("working")));
    assert_eq!(own.headers["content-type"], "application/json");
    assert!(at.ask(ANN, "tasks/cancel", about).await.message["result"].is_object());
}

#[tokio::test]
async fn tsk_11_only_its_owner_reaches_a_core_task_from_any_session() {
    let at = Listening::start(owned()).await;
    let [one, other, bob] =
        [Session::open(&at, ANN).await, Session::open(&at, ANN).await, Session::open(&at, BOB).await];
    let job = json!({ "name": "deaf", "arguments": {}, "task": {} });
    let created = one.ask("tools/call", job).await.message;
    let id = created["result"]["task"]["taskId"].as_str().unwrap_or_else(|| panic!("no task: {created}"));
    let about = json!({ "taskId": id });
    for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
        let foreign = bob.ask(method, about.clone()).await.message;
        let unknown = bob.ask(method, json!({ "taskId": "nowhere" })).await.message;
        assert_eq!((code_of(&foreign), &foreign["error"]), (-32602, &unknown["error"]), "{method}");
    }
    assert_eq!(bob.ask("tasks/list", json!({})).await.message["result"]["tasks"], json!([]));
    let listed = other.ask("tasks/list", json!({})).await.message;
    assert_eq!(listed["result"]["tasks"][0]["taskId"], id, "{listed}");
    assert_eq!(other.ask("tasks/get", about.clone()).await.message["result"]["status"], "working");
    let cancelled = other.ask("tasks/cancel", about).await.message;
    assert_eq!(cancelled["result"]["status"], "cancelled");
}

/// The questions and the result of a task are in the words of the revision in which it began.
#[tokio::test]
async fn a_task_of_one_era_is_not_there_in_the_other() {
    let at = Listening::start(owned()).await;
    let session = Session::open(&at, ANN).await;
    let mut job = json!({ "name": "deaf", "arguments": {} });
    let of_extension = at.ask(ANN, "tools/call", job.clone()).await.message["result"]["taskId"].take();
    job["task"] = json!({});
    let of_core = session.ask("tools/call", job).await.message["result"]["task"]["taskId"].take();
    assert!(of_core.is_string() && of_extension.is_string());
    for method in ["tasks/get", "tasks/cancel"] {
        let foreign = session.ask(method, json!({ "taskId": of_extension })).await.message;
        assert_eq!(code_of(&foreign), -32602, "{method}");
        let foreign = at.ask(ANN, method, json!({ "taskId": of_core })).await.message;
        assert_eq!(code_of(&foreign), -32602, "{method}");
    }
    let listed = session.ask("tasks/list", json!({})).await.message["result"]["tasks"].take();
    assert_eq!((listed.as_array().map(Vec::len), &listed[0]["taskId"]), (Some(1), &of_core));
}

#[tokio::test]
async fn tsk_14_tasks_get_opens_no_stream() {
    let at = Listening::start(subject()).await;
    let session = Session::open(&at, ANN).await;
    let job = json!({ "name": "deaf", "arguments": {}, "task": {} });
    let created = session.ask("tools/call", job).await.message;
    let id = created["result"]["task"]["taskId"].as_str().unwrap_or_else(|| panic!("no task: {created}"));
    let get = session.ask("tasks/get", json!({ "taskId": id })).await;
    assert_eq!((get.status, &get.message["result"]["taskId"]), (200, &json!(id)));
    assert!(get.headers["content-type"].starts_with("application/json"), "{:?}", get.headers);
}

#[tokio::test]
async fn the_header_that_names_the_task_has_to_be_right() {
    let at = Listening::start(subject()).await;
    let job = json!({ "name": "deaf", "arguments": {} });
    let created = at.ask(ANN, "tools/call", job).await.message;
    let id = created["result"]["taskId"].as_str().unwrap_or_else(|| panic!("no task: {created}"));
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let about = json!({ "taskId": id, "inputResponses": {} });
        let wrong = at.ask_named(ANN, method, about.clone(), "another").await;
        assert_eq!((wrong.status, code_of(&wrong.message)), (400, -32020), "{method}");
        assert_eq!(at.ask_named(ANN, method, about, id).await.status, 200, "{method}");
    }
}

/// Modern requests, of clients of which nothing but the address is known: each address has its share. Elsewhere
/// there is but one address of the loopback interface.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn anonymous_clients_count_by_their_address() {
    let tasks = tasks().client_limit(1);
    let mut at = Listening::start(subject_with(tasks, &Stopped::default())).await;
    let job = json!({ "name": "deaf", "arguments": {} });
    let own = at.ask(ANN, "tools/call", job.clone()).await.message;
    assert!(own["result"]["taskId"].is_string(), "{own}");
    let second = at.ask(BOB, "tools/call", job.clone()).await.message;
    assert!(second["error"]["message"].to_string().contains("Tasks::client_limit"), "{second}");
    at.from = [127, 0, 0, 2].into();
    let other = at.ask(ANN, "tools/call", job).await.message;
    assert!(other["result"]["taskId"].is_string(), "{other}");
}

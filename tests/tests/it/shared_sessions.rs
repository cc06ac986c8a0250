//! `server --redis`, `--store` and `--keys`: sessions that outlive the process, and that each of several nodes serves.

use std::env;
use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use agentwire_test_support::{free_port, http};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::network::Server;
use crate::program::{Program, SOON};

/// The password of the engine, which nothing may show.
const PASSWORD: &str = "pass-of-the-engine";

/// An engine on a port and in a folder of its own, which ends with the value.
struct Engine {
    port: u16,
    process: Child,
    _folder: TempDir,
}

impl Engine {
    fn start() -> Self {
        let folder = tempfile::tempdir().expect("there is room");
        let port = free_port();
        let process = Command::new(engine_program(folder.path()))
            .args(["--dir", folder.path().to_str().expect("UTF-8"), "--port", &port.to_string()])
            .args(["--bind", "127.0.0.1", "--save", "", "--requirepass", PASSWORD])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the engine starts");
        let engine = Self { port, process, _folder: folder };
        let begin = Instant::now();
        while !engine.answers() {
            assert!(begin.elapsed() < SOON, "the engine does not answer");
            thread::sleep(Duration::from_millis(10));
        }
        engine
    }

    fn answers(&self) -> bool {
        let Ok(mut stream) = TcpStream::connect(("127.0.0.1", self.port)) else { return false };
        let mut answer = [0; 5];
        write!(stream, "AUTH {PASSWORD}\r\n").is_ok()
            && stream.read_exact(&mut answer).is_ok()
            && answer == *b"+OK\r\n"
    }

    fn url(&self) -> String {
        format!("redis://:{PASSWORD}@127.0.0.1:{}", self.port)
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ended = self.process.kill();
        let _waited = self.process.wait();
    }
}

/// The engine's program, as the tests of `mcp-redis` find it: Debian's `redis-tools` has it under another name.
fn engine_program(folder: &Path) -> PathBuf {
    if let Some(program) = env::var_os("AGENTWIRE_REDIS_SERVER") {
        return program.into();
    }
    let path = env::var_os("PATH").expect("there is a PATH");
    let find =
        |name: &str| env::split_paths(&path).map(|folder| folder.join(name)).find(|path| path.is_file());
    find("redis-server").unwrap_or_else(|| {
        let program = find("redis-check-rdb").expect(
            "`redis-server` is not in PATH: `cargo xtask ci redis` installs it, or set AGENTWIRE_REDIS_SERVER",
        );
        let link = folder.join("redis-server");
        symlink(program, &link).expect("there is room");
        link
    })
}

const OLD_KEY: &str = "1f9d0c3b5a7e8842c6d1e0fb3947a58812cd6f0e7b9a3c54d8e1f6072b4c9da5";
const NEW_KEY: &str = "2e8b71c4f05d936ab8e2147dc09f3a5674d1be08f2963ca5e7b01d84fc62a937";

/// A file with a key, in that folder.
fn keys(folder: &Path) -> String {
    let path = folder.join("keys");
    fs::write(&path, OLD_KEY).expect("there is room");
    fs::set_permissions(&path, Permissions::from_mode(0o600)).expect("the file is ours");
    path.to_str().expect("UTF-8").to_owned()
}

/// Sends a message to a server of that origin. Returns the status, the id of the session and the body.
fn post(origin: &str, session: Option<&str>, message: &Value) -> (u16, Option<String>, String) {
    let session = session.map(|session| format!("Mcp-Session-Id: {session}\r\n")).unwrap_or_default();
    let head = format!(
        "POST /mcp\r\n{session}Content-Type: application/json\r\nAccept: application/json, text/event-stream"
    );
    let answer = http::exchange(origin, &head, &message.to_string()).expect("it answers");
    let of_session = Some(answer.header("mcp-session-id").to_owned()).filter(|id| !id.is_empty());
    (answer.status(), of_session, answer.text().into_owned())
}

/// Opens a session, and returns its id.
fn open(origin: &str) -> String {
    let client = json!({ "name": "test", "version": "1" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let initialize = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
    let (status, session, body) = post(origin, None, &initialize);
    assert_eq!(status, 200, "{body}");
    let session = session.expect("it is a session");
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(post(origin, Some(&session), &initialized).0, 202);
    session
}

/// Calls a tool in a session.
#[track_caller]
fn call(origin: &str, session: &str) {
    let params = json!({ "name": "echo", "arguments": { "message": "here" } });
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let (status, _, body) = post(origin, Some(session), &request);
    assert!(status == 200 && body.contains("\"text\":\"here\""), "{status}: {body}");
}

#[test]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
fn each_node_serves_a_session_and_the_last_goes_on() {
    let (engine, folder) = (Engine::start(), tempfile::tempdir().expect("there is room"));
    let keys = keys(folder.path());
    let url = engine.url();
    let options = ["--redis", &url, "--keys", &keys, "--metrics", "127.0.0.1:0"];
    let (one, two) = (Server::start_with(&options), Server::start_with(&options));
    let session = open(&one.origin);
    call(&two.origin, &session);
    call(&one.origin, &session);
    one.end();
    call(&two.origin, &session);
    let three = Server::start_with(&options);
    call(&three.origin, &session);
    two.end();
    call(&three.origin, &session);
    // What no node has opened is not found, and not an error of the server.
    let unknown = "0".repeat(session.len());
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    assert_eq!(post(&three.origin, Some(&unknown), &ping).0, 404);
    three.end();
}

#[test]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
fn a_task_of_a_session_may_end_before_its_server_does() {
    let (engine, folder) = (Engine::start(), tempfile::tempdir().expect("there is room"));
    let (keys, url) = (keys(folder.path()), engine.url());
    let options = ["--redis", &url, "--keys", &keys];
    let (one, two) = (Server::start_with(&options), Server::start_with(&options));
    let session = open(&one.origin);
    let request = |method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let job = json!({ "name": "task", "arguments": { "seconds": 2, "steps": 2 }, "task": {} });
    let (_, _, body) = post(&one.origin, Some(&session), &request("tools/call", job));
    let (_, id) = body.split_once("\"taskId\":\"").unwrap_or_else(|| panic!("no task: {body}"));
    let (id, _) = id.split_once('"').expect("it ends");
    one.end();
    let get = request("tasks/get", json!({ "taskId": id }));
    let (_, _, body) = post(&two.origin, Some(&session), &get);
    assert!(body.contains("\"status\":\"completed\""), "{body}");
    two.end();
}

#[test]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
fn a_node_is_not_ready_while_its_engine_is_away() {
    let (engine, folder) = (Engine::start(), tempfile::tempdir().expect("there is room"));
    let (keys, url) = (keys(folder.path()), engine.url());
    let server = Server::start_with(&["--redis", &url, "--keys", &keys, "--metrics", "127.0.0.1:0"]);
    let pages = server.metrics();
    let ready = || crate::operations::page(&pages, "GET /readyz", "");
    let metrics = || crate::operations::page(&pages, "GET /metrics", "").1;
    assert_eq!(ready(), (200, "ready\n".into()));
    assert!(metrics().contains(&crate::operations::ready(1)), "{}", metrics());
    drop(engine);
    let begin = Instant::now();
    loop {
        let (status, why) = ready();
        if status == 503 {
            assert!(why.starts_with("the store ") && !why.contains(PASSWORD), "{why}");
            assert!(metrics().contains(&crate::operations::ready(0)), "{}", metrics());
            break;
        }
        assert!(begin.elapsed() < SOON, "it is still ready");
        thread::sleep(Duration::from_millis(10));
    }
    server.end();
}

#[test]
fn sessions_in_a_folder_outlive_the_server() {
    let folder = tempfile::tempdir().expect("there is room");
    let store = folder.path().join("store");
    let options = ["--store", store.to_str().expect("UTF-8")];
    let server = Server::start_with(&options);
    let session = open(&server.origin);
    call(&server.origin, &session);
    // Another process cannot have the same folder.
    let second = Program::run(&["server", "--http", "127.0.0.1:0", options[0], options[1]], SOON);
    second.exits(1).reports("--store");
    server.end();
    let server = Server::start_with(&options);
    call(&server.origin, &session);
    server.end();
}

#[test]
fn a_session_continues_on_servers_with_its_key() {
    let folder = tempfile::tempdir().expect("there is room");
    let keys = keys(folder.path());
    let options = ["--keys", &keys];
    let (one, two) = (Server::start_with(&options), Server::start_with(&options));
    let session = open(&one.origin);
    call(&one.origin, &session);
    call(&two.origin, &session);
    one.end();
    two.end();
    let three = Server::start_with(&options);
    call(&three.origin, &session);
    three.end();
    fs::write(&keys, format!("{NEW_KEY}\n{OLD_KEY}\n")).expect("there is room");
    let rotated = Server::start_with(&options);
    call(&rotated.origin, &session);
    let newer = open(&rotated.origin);
    rotated.end();
    fs::write(&keys, NEW_KEY).expect("there is room");
    let last = Server::start_with(&options);
    call(&last.origin, &newer);
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    assert_eq!(post(&last.origin, Some(&session), &ping).0, 404, "the key is gone");
    last.end();
}

#[test]
fn fault_of_the_engine_is_reported_without_its_password() {
    let folder = tempfile::tempdir().expect("there is room");
    let keys = keys(folder.path());
    let refusing =
        TcpListener::bind("127.0.0.1:0").expect("there are ports").local_addr().expect("it listens").port();
    let [away, wrong] =
        [format!("redis://:{PASSWORD}@127.0.0.1:{refusing}"), format!("http://:{PASSWORD}@a")];
    for (arguments, code, why) in [
        (&["--redis", &away, "--keys", &keys][..], 1, "--redis"),
        (&["--redis", &wrong, "--keys", &keys], 1, "--redis"),
        (&["--redis", &away], 2, "--keys"),
        (&["--redis", &away, "--store", "/tmp"], 2, "--store"),
        (&["--redis", &away, "--keys", "/dev/null"], 2, "there is no key"),
    ] {
        let ended = Program::run(&[&["server", "--http", "127.0.0.1:0"], arguments].concat(), SOON);
        ended.exits(code).reports(why);
        assert!(!ended.stderr.contains(PASSWORD), "{ended}");
    }
}

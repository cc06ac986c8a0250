//! `agentwire server` on the network, and its clients.

use std::net::TcpListener;

use agentwire_test_support::http;
use rustix::process::Signal;
use serde_json::json;

use crate::binaries::agentwire;
use crate::conversation::Conversation;
use crate::program::{Ended, PROMPT, Program, SOON};
use crate::proxy::Proxy;
use crate::rows;

/// A server that listens, and its origin.
pub(crate) struct Server {
    program: Program,
    pub(crate) origin: String,
}

impl Server {
    pub(crate) fn start() -> Self {
        Self::start_with(&[])
    }

    /// Starts it with more options.
    pub(crate) fn start_with(options: &[&str]) -> Self {
        let mut program = Program::start(&[&["server", "--http", "127.0.0.1:0"], options].concat());
        program.close_stdin();
        let origin = listening(&program, "/mcp");
        Self { program, origin }
    }

    /// The URL of its metrics, without the path.
    pub(crate) fn metrics(&self) -> String {
        self.program.stderr.until("where its metrics are", |bytes| {
            let text = String::from_utf8_lossy(bytes).into_owned();
            let line = text.lines().nth(1).filter(|_| text.matches('\n').count() > 1)?;
            let url = line.strip_prefix("metrics on ").and_then(|url| url.strip_suffix("/metrics"));
            Some(url.unwrap_or_else(|| panic!("{line}")).to_owned())
        })
    }

    /// Begins its end.
    pub(crate) fn terminate(&self) {
        self.program.signal(Signal::TERM);
    }

    /// Ends it in good order.
    pub(crate) fn end(self) {
        self.terminate();
        self.wait();
    }

    /// Waits for the end that has begun.
    pub(crate) fn wait(self) {
        let ended = self.program.end(SOON);
        assert_eq!(ended.exits(143).stdout, "", "stdout is for what was asked for");
    }
}

/// Waits until a server prints its address, and returns the origin.
fn listening(program: &Program, path: &str) -> String {
    program.stderr.until("where it listens", |bytes| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let (line, _) = text.split_once('\n')?;
        let url = line.strip_prefix("listening on ").expect("it says nothing before");
        Some(url.strip_suffix(path).unwrap_or_else(|| panic!("{url}")).to_owned())
    })
}

/// Every way to reach the server: the path, the era.
const WAYS: [(&str, &str); 5] =
    [("/mcp", "auto"), ("/mcp", "legacy"), ("/mcp", "modern"), ("/sse", "auto"), ("/sse", "legacy")];

#[test]
fn tools_are_called_over_every_transport_in_every_era() {
    let server = Server::start();
    rows::for_each(&WAYS, |(path, era)| {
        let run = |arguments: &[&str], least| {
            let proxy = Proxy::before(&server.origin);
            let url = format!("{}{path}", proxy.origin);
            let (command, arguments) = arguments.split_first().expect("there is a command");
            let ended = Program::run(&[&[command, "--json", "--era", era, &url], arguments].concat(), SOON);
            assert!(proxy.checked() >= least, "{} were checked: {ended}", proxy.checked());
            ended
        };
        let tools = run(&["tools"], 4).exits(0).objects();
        assert!(tools.iter().any(|tool| tool["name"] == "add"), "{tools:?}");
        let added = run(&["call", "add", "{\"a\": 2, \"b\": 40}"], 4).exits(0).objects();
        assert_eq!(added[0]["result"]["structuredContent"]["sum"], 42, "{added:?}");
        let slow = run(&["call", "slow", "{\"seconds\": 0.05, \"steps\": 3}"], 7).exits(0).objects();
        let steps: Vec<_> = slow.iter().filter_map(|line| line["progress"]["progress"].as_u64()).collect();
        assert_eq!((steps, slow.len()), (vec![1, 2, 3], 4), "{slow:?}");
        run(&["call", "fail"], 4).exits(5).prints("always fails");
        let refused = run(&["call", "no-such-tool"], 4);
        assert_eq!(refused.exits(2).objects()[0]["error"]["code"], -32602, "{refused}");
    });
    server.end();
}

#[test]
fn a_server_prints_its_address() {
    for (option, path) in [("--http", "/mcp"), ("--sse", "/sse")] {
        let mut program = Program::start(&["server", option, "127.0.0.1:0"]);
        program.close_stdin();
        let origin = listening(&program, path);
        assert!(!origin.ends_with(":0"), "{origin}");
        let ended = Program::run(&["tools", &format!("{origin}{path}")], SOON);
        ended.exits(0).prints("Add two numbers");
        program.signal(Signal::INT);
        program.end(SOON).exits(130);
    }
}

#[test]
fn exit_codes() {
    let server = Server::start();
    let taken = server.origin.strip_prefix("http://").expect("it has no TLS");
    let nobody = TcpListener::bind("127.0.0.1:0").expect("there are ports").local_addr().expect("it listens");
    let (url, sse) = (format!("{}/mcp", server.origin), format!("{}/sse", server.origin));
    let (elsewhere, nobody) = (format!("{}/elsewhere", server.origin), format!("http://{nobody}/mcp"));
    let nothing_there = format!(
        "error: there is no MCP server at {elsewhere} (HTTP status 404 Not Found): there is nothing at this path \
         (-32600); try {elsewhere}/mcp\n"
    );
    let not_listening = format!(
        "error: cannot reach {nobody}: nothing listens at {}\n",
        nobody.trim_start_matches("http://").trim_end_matches("/mcp")
    );
    let demo = format!("'{}' server", agentwire().display());
    let (web, local) = (format!("web={url}"), format!("local={demo}"));
    let rows: Vec<(Vec<&str>, i32, &str)> = vec![
        (vec!["tools", &url, "--header", "X-Any: hunter2"], 0, ""),
        // The other side failed or refused.
        (vec!["tools", &elsewhere], 1, &nothing_there),
        (vec!["tools", &nobody], 4, &not_listening),
        (
            vec!["tools", "http://no-such-host.invalid/mcp"],
            4,
            "error: cannot reach http://no-such-host.invalid/mcp: the name of no-such-host.invalid is not known\n",
        ),
        (
            vec!["tools", "http://no-such-host.invalid/mcp", "--header", "X-Any: hunter2"],
            4,
            "warning: what is sent to no-such-host.invalid is not encrypted",
        ),
        (vec!["tools", &sse, "--era", "modern"], 1, "HTTP status 400"),
        (vec!["server", "--http", taken], 1, taken),
        (vec!["server", "--http", "no-such-host.invalid:0"], 1, "no-such-host.invalid"),
        // Wrong usage.
        (vec!["tools", "http://"], 2, "not the URL"),
        (vec!["tools", "http://127.0.0.1:99999/mcp"], 2, "not the URL"),
        (vec!["tools", &url, "--header", "no colon"], 2, "NAME: VALUE"),
        (vec!["tools", &url, "--header", "a name: value"], 2, "`a name`"),
        (vec!["tools", &url, "--header-file", "/no/such/file"], 2, "--header-file /no/such/file: "),
        (vec!["tools", &demo, "--header", "X-Any: hunter2"], 2, "--header"),
        (vec!["tools", &url, "--era", "future"], 2, "--era"),
        (vec!["chat", "--mcp", "web=https://", "hello"], 2, "not the URL"),
        (vec!["chat", "--mcp", &web, "--header", "web: hunter2", "hello"], 2, "NAME=HEADER: VALUE"),
        (
            vec!["chat", "--mcp", &web, "--header", "other=X-Any: hunter2", "hello"],
            2,
            "no --mcp has the name `other`",
        ),
        (vec!["chat", "--mcp", &web, "--header", "web=X Any: hunter2", "hello"], 2, "`X Any`"),
        (
            vec!["chat", "--mcp", &local, "--header", "local=X-Any: hunter2", "hello"],
            2,
            "not a server at a URL",
        ),
        (vec!["server", "--http", "nowhere"], 2, "HOST:PORT"),
        (vec!["server", "--sse", "127.0.0.1:65536"], 2, "HOST:PORT"),
        (vec!["server", "--http", "127.0.0.1:0", "--sse", "127.0.0.1:0"], 2, "--sse"),
        (vec!["server", "--http", "127.0.0.1:0", "--stdio"], 2, "--stdio"),
    ];
    rows::for_each(&rows, |(arguments, code, words)| {
        let ended = Program::run(arguments, SOON);
        ended.exits(*code).reports(words);
        // The value of a header may be a secret, also where it is none.
        assert!(!ended.stderr.contains("no colon") && !ended.stderr.contains("hunter2"), "{ended}");
        assert!(*code == 0 || ended.stdout.is_empty(), "stdout is for what was asked for: {ended}");
    });
    let ended = Program::run(&["tools", "--json", &elsewhere], SOON);
    let objects = ended.exits(1).objects();
    assert!(objects[0]["message"].as_str().is_some_and(|text| text.contains("404")), "{ended}");
    server.end();
}

/// The text of a server reaches a terminal without control sequences.
#[test]
fn no_server_steers_the_terminal() {
    let url = http::serve(|_| http::response("401 No", "\x1b]0;seen\x07ok"));
    let ended = Program::run(&["tools", &url], SOON);
    ended.exits(3).reports("HTTP status 401").reports("^[]0;seen^Gok");
    assert!(!ended.stderr.contains(['\x1b', '\x07']), "{ended}");
}

/// A refusal by HTTP may say why in the words of JSON-RPC, and programs read its code.
#[test]
fn the_json_rpc_error_of_a_refusal_is_reported() {
    let error = json!({ "code": -32077, "message": "not you", "data": { "who": "you" } });
    let body = json!({ "jsonrpc": "2.0", "id": null, "error": error }).to_string();
    let url = http::serve(move |_| http::response("403 No\r\ncontent-type: application/json", &body));
    for era in ["auto", "legacy", "modern"] {
        let ended = Program::run(&["tools", "--json", "--era", era, &url], SOON);
        assert_eq!(ended.exits(3).objects()[0]["error"], error, "{era}: {ended}");
    }
}

/// The process that started it may have left without reading its errors.
#[test]
fn a_closed_stderr_does_not_change_the_exit_code() {
    let (unread, stderr) = std::io::pipe().expect("there are pipes");
    drop(unread);
    let mut command = std::process::Command::new(agentwire());
    let ended = command.args(["tools", "http://127.0.0.1:1/"]).stderr(stderr).status();
    assert_eq!(ended.expect("it can be started").code(), Some(4));
}

/// A call that is under way when the server is signalled to end, and comes to its own end in time.
#[test]
fn a_terminated_server_completes_running_calls() {
    rows::for_each(&WAYS, |(path, era)| {
        let server = Server::start();
        let caller = slow(&server, path, era, "{\"seconds\": 2, \"steps\": 4}");
        server.program.signal(Signal::TERM);
        let ended = server.program.end(SOON);
        assert_eq!(ended.exits(143).stdout, "");
        let called = caller.end(SOON);
        called.exits(0).prints("took 2 s in 4 steps");
    });
}

#[test]
fn a_terminated_server_does_not_wait_for_long_calls() {
    rows::for_each(&WAYS, |(path, era)| {
        let server = Server::start();
        let caller = slow(&server, path, era, "{\"seconds\": 600, \"steps\": 6000}");
        server.program.signal(Signal::TERM);
        server.program.end(SOON).exits(143);
        caller.end(SOON).exits(5).reports("the server is shutting down");
    });
    let mut server = Server::start();
    let caller = slow(&server, "/mcp", "auto", "{\"seconds\": 600, \"steps\": 6000}");
    server.program.signal_until(Signal::INT, Program::has_ended);
    server.program.end(PROMPT).exits(130).reports("interrupted");
    caller.end(SOON).exits(1);
}

#[test]
fn a_call_reports_a_killed_server() {
    rows::for_each(&WAYS, |(path, era)| {
        let server = Server::start();
        let caller = slow(&server, path, era, "{\"seconds\": 600, \"steps\": 6000}");
        server.program.signal(Signal::KILL);
        assert_eq!(server.program.end(SOON).code(), None);
        let ended: Ended = caller.end(SOON);
        ended.exits(1).reports("error: ");
        assert!(
            ["HTTP", "stream", "nothing listens"].iter().any(|words| ended.stderr.contains(words)),
            "it says what broke: {ended}"
        );
    });
}

/// Interrupted calls are cancelled at the server, over every transport.
#[test]
fn an_interrupted_call_is_cancelled_at_the_server() {
    let server = Server::start();
    for (number, (path, era)) in WAYS.iter().enumerate() {
        let caller = slow(&server, path, era, "{\"seconds\": 600, \"steps\": 6000}");
        caller.signal(Signal::INT);
        caller.end(SOON).exits(130).reports("interrupted");
        let url = format!("{}/mcp", server.origin);
        let deadline = std::time::Instant::now() + SOON;
        let expected = format!("{}\n", number + 1);
        while Program::run(&["call", &url, "cancelled-count"], SOON).exits(0).stdout != expected {
            assert!(std::time::Instant::now() < deadline, "{path} {era}: it is not cancelled");
        }
    }
    server.end();
}

/// Starts a call of `slow`, and waits until it is under way.
fn slow(server: &Server, path: &str, era: &str, arguments: &str) -> Program {
    let url = format!("{}{path}", server.origin);
    let mut program = Program::start(&["call", "--era", era, &url, "slow", arguments]);
    program.close_stdin();
    program.stderr.words("step 1 of");
    program
}

#[test]
fn a_session_has_servers_on_the_network() {
    let server = Server::start();
    let proxies = [Proxy::before(&server.origin), Proxy::before(&server.origin)];
    let web = format!("web={}/mcp", proxies[0].origin);
    let old = format!("old={}/sse", proxies[1].origin);
    let file = tempfile::NamedTempFile::new().expect("there is room");
    std::fs::write(file.path(), "# ours\nX-Team: 7\n").expect("there is room");
    let file = format!("web={}", file.path().display());
    let header = ["--header", "web=Authorization: Bearer 12345", "--header-file", &file];
    let ended = Program::run(
        &[&["chat", "--mcp", &web], &header[..], &["/call add {\"a\": 2, \"b\": 40}"]].concat(),
        SOON,
    );
    ended.exits(0).shows("42");
    let heads = proxies[0].heads();
    for line in ["authorization: bearer 12345\r\n", "x-team: 7\r\n"] {
        assert!(heads.iter().all(|head| head.contains(line)), "{line}: {heads:?}");
    }
    let local = format!("local='{}' server", agentwire().display());
    let ended = Program::run(&["chat", "--mcp", &web, "--mcp", &old, "--mcp", &local, "/tools"], SOON);
    ended.exits(0).shows("web__add").shows("old__add").shows("local__add");
    assert!(proxies.iter().all(|proxy| proxy.checked() >= 4), "{ended}");
    server.end();
}

/// All that a client sends of a server reaches it, and the agent advertises that it can.
#[test]
fn our_agent_takes_every_kind_of_server() {
    let server = Server::start();
    let proxies = [Proxy::before(&server.origin), Proxy::before(&server.origin)];
    let mut agent = Conversation::with(&["agent", "--timeout", "20"]);
    let hello = json!({ "protocolVersion": 1, "clientCapabilities": {} });
    let answer = agent.ask("initialize", hello);
    let can = &answer["result"]["agentCapabilities"]["mcpCapabilities"];
    assert_eq!(*can, json!({ "http": true, "sse": true }), "{answer}");
    let headers = json!([{ "name": "Authorization", "value": "Bearer 12345" }]);
    let servers = json!([
        { "name": "local", "command": agentwire(), "args": ["server"], "env": [] },
        { "type": "http", "name": "web", "url": format!("{}/mcp", proxies[0].origin), "headers": headers },
        { "type": "sse", "name": "old", "url": format!("{}/sse", proxies[1].origin), "headers": headers },
        { "type": "http", "name": "gone", "url": "http://127.0.0.1:1/mcp", "headers": [] },
    ]);
    let opened = agent.ask("session/new", json!({ "cwd": "/", "mcpServers": servers }));
    let session = opened["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{opened}")).to_owned();
    let told = agent.turn(&session, "/tools");
    assert!(told.contains("local__add") && told.contains("web__add") && told.contains("old__add"), "{told}");
    assert!(told.contains("MCP server gone: failed: server/discover: failed: no HTTP response"), "{told}");
    for name in ["web__add", "old__add"] {
        let told = agent.turn(&session, &format!("/call {name} {{\"a\": 2, \"b\": 40}}"));
        assert!(told.contains("\"status\":\"completed\"") && told.contains("42"), "{told}");
    }
    for proxy in &proxies {
        assert!(proxy.checked() >= 6, "{}", proxy.checked());
        let heads = proxy.heads();
        assert!(heads.iter().all(|head| head.contains("authorization: bearer 12345\r\n")), "{heads:?}");
    }
    for (url, name, value, words) in [
        ("ftp://host/", "X-Any", "thing", "not the URL"),
        ("http://host/", "X Any", "thing", "`X Any` is not a header"),
    ] {
        let headers = json!([{ "name": name, "value": value }]);
        let servers = json!([{ "type": "http", "name": "web", "url": url, "headers": headers }]);
        let refused = agent.ask("session/new", json!({ "cwd": "/", "mcpServers": servers }));
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
        assert!(refused["error"]["message"].as_str().is_some_and(|text| text.contains(words)), "{refused}");
    }
    agent.program.close_stdin();
    agent.program.end(SOON).exits(0);
    server.end();
}

#[test]
fn a_killed_server_costs_a_session_its_own_tools_only() {
    let server = Server::start();
    let mut agent = Conversation::with_agent();
    let servers = json!([
        { "name": "good", "command": agentwire(), "args": ["server"], "env": [] },
        { "type": "http", "name": "bad", "url": format!("{}/mcp", server.origin), "headers": [] },
    ]);
    let opened = agent.ask("session/new", json!({ "cwd": "/", "mcpServers": servers }));
    let session = opened["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{opened}")).to_owned();
    assert!(agent.turn(&session, "/tools").contains("bad__add"));
    server.program.signal(Signal::KILL);
    server.program.end(SOON);
    let told = agent.turn(&session, "/call bad__add {\"a\": 2, \"b\": 40}");
    assert!(told.contains("\"status\":\"failed\"") && told.contains("no HTTP response"), "{told}");
    let told = agent.turn(&session, "/call good__add {\"a\": 2, \"b\": 40}");
    assert!(told.contains("\"status\":\"completed\"") && told.contains("42"), "{told}");
    agent.program.close_stdin();
    agent.program.end(SOON).exits(0);
}

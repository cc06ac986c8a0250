//! What errors say to do.

use std::io::{Read, Write};
use std::net::TcpListener;

use serde_json::json;

use crate::binaries::{acting, agentwire};
use crate::chat::script;
use crate::program::{Ended, Program, SOON};
use crate::rows;

fn run(arguments: &[&str]) -> Ended {
    Program::run(arguments, SOON)
}

/// The origin of a server that gives every request this response.
fn responding(head: &str, body: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there are ports");
    let origin = format!("http://{}", listener.local_addr().expect("it listens"));
    let length = body.len();
    let response = format!("HTTP/1.1 {head}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}");
    std::thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            let mut request = [0; 4096];
            let _heard = client.read(&mut request);
            let _told = client.write_all(response.as_bytes());
        }
    });
    origin
}

#[test]
fn a_target_that_is_no_server_is_named_before_anything_starts() {
    let rows = [
        ("localhost:8080/mcp", "`localhost:8080/mcp` has no scheme; write http://localhost:8080/mcp"),
        ("mcp.example:443/mcp", "`mcp.example:443/mcp` has no scheme; write https://mcp.example:443/mcp"),
    ];
    rows::for_each(&rows, |(target, text)| {
        assert_eq!(run(&["tools", target]).exits(2).stderr, format!("error: {text}\n"));
    });
}

#[test]
fn a_program_that_cannot_be_started_is_named_without_secrets() {
    let rows = [
        ("/no/such/server --key hunter2", "cannot start `/no/such/server`: there is no such command"),
        (
            "API_KEY=hunter2 server",
            "cannot start `API_KEY=…`: a variable is set by `env API_KEY=…` before the program",
        ),
        (
            "mcp.example/mcp",
            "cannot start `mcp.example/mcp`: there is no such command; for a server at a URL, write https://mcp.example/mcp",
        ),
    ];
    rows::for_each(&rows, |(target, text)| {
        assert_eq!(run(&["tools", target]).exits(4).stderr, format!("error: {text}\n"));
    });
}

#[test]
fn a_web_page_is_no_server() {
    let page = "<html><body>Welcome</body></html>";
    for head in ["200 OK\r\ncontent-type: text/html", "405 No\r\ncontent-type: text/html; charset=utf-8"] {
        let origin = responding(head, page);
        let ended = run(&["tools", &format!("{origin}/")]);
        let expected = format!("error: {origin}/ is a web page and no MCP server; try {origin}/mcp\n");
        assert_eq!(ended.exits(1).stderr, expected, "{head}");
    }
}

#[test]
fn a_refusal_for_want_of_rights_names_the_scopes() {
    let challenge =
        "403 No\r\nwww-authenticate: Bearer error=\"insufficient_scope\", scope=\"files:read files:write\"";
    let url = format!("{}/mcp", responding(challenge, ""));
    let ended = run(&["tools", "--token", "hunter2", &url]);
    let expected = format!(
        "error: {url} asks for more rights (HTTP status 403 Forbidden), with the scopes `files:read files:write`; run \
         `agentwire login {url} --scope files:read --scope files:write`\n"
    );
    assert_eq!(ended.exits(3).stderr, expected);
}

#[test]
fn attempts_are_told_where_they_are_asked_for() {
    let origin = responding("404 No", "");
    let expected = format!(
        "error: there is no MCP server at {origin}/a (HTTP status 404 Not Found); try {origin}/a/mcp\n"
    );
    assert_eq!(run(&["tools", &format!("{origin}/a")]).exits(1).stderr, expected);
    let told = run(&["-v", "tools", &format!("{origin}/a")]);
    told.exits(1)
        .tells("tried server/discover, then initialize: ")
        .tells("tried HTTP+SSE: ")
        .tells(&expected);
}

/// The line is there at once, and again with the error.
#[test]
fn a_server_that_logs_to_stdout_is_quoted() {
    let server = "sh -c 'echo Server runs on stdio; exec sleep 600'";
    let ended = run(&["tools", "--timeout", "2", server]);
    let expected = "`sh` writes to stdout, where only JSON-RPC belongs: Server runs on stdio\n\
        error: the server did not answer within 2s; it wrote to stdout, where only JSON-RPC belongs: Server runs on stdio\n";
    assert_eq!(ended.exits(124).stderr, expected);
}

#[test]
fn a_program_of_the_other_protocol_is_told_of() {
    let ours = |command: &str| format!("'{}' {command}", agentwire().display());
    let (server, agent) = (ours("server"), ours("agent"));
    run(&["chat", "--agent", &server, "hello"])
        .exits(1)
        .tells("error: the agent refused initialize: ")
        .tells(" is an MCP server, try `agentwire tools`, or give it to an agent by --mcp\n");
    run(&["tools", &agent])
        .exits(1)
        .tells("error: the server refused initialize: ")
        .tells(" is an ACP agent, try `agentwire chat --agent`\n");
}

#[test]
fn the_data_of_an_error_is_shown() {
    let refusal = json!({ "code": 7, "message": "no", "data": { "why": "the disk is full" } });
    let agent = acting(&script(json!({}), json!({ "session/new": [{ "refuse": refusal }] })));
    let ended = run(&["chat", "--agent", &agent, "hello"]);
    ended
        .exits(1)
        .tells("error: the agent refused session/new: no (7); data: {\"why\":\"the disk is full\"}\n");
}

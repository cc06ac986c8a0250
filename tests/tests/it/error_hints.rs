//! The advice in errors.

use std::ffi::OsStr;
use std::process::Command;

use agentwire_test_support::http;
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
    let response = http::response(head, body);
    http::serve(move |_| response.clone())
}

#[test]
fn a_target_that_is_no_server_is_named_before_anything_starts() {
    let rows = [
        ("localhost:8080/mcp", "`localhost:8080/mcp` has no scheme; write http://localhost:8080/mcp"),
        ("mcp.example:443/mcp", "`mcp.example:443/mcp` has no scheme; write https://mcp.example:443/mcp"),
        ("ws://mcp.example/mcp", "`ws:` is not the URL of an MCP server; write http://mcp.example/mcp"),
        ("htp://mcp.example/mcp", "`htp:` is not the URL of an MCP server; write http://mcp.example/mcp"),
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
        let expected = format!("error: {origin}/ is a web page, not an MCP server; try {origin}/mcp\n");
        assert_eq!(ended.exits(1).stderr, expected, "{head}");
    }
}

#[test]
fn a_scheme_that_the_port_does_not_speak_is_named() {
    let origin = responding("400 Bad Request", "");
    let (url, host) = (origin.replacen("http", "https", 1), origin.trim_start_matches("http://").to_owned());
    let expected = format!(
        "error: cannot reach {url}/mcp: what listens at {host} speaks no TLS; for plain HTTP, write {origin}/mcp\n"
    );
    assert_eq!(run(&["tools", &format!("{url}/mcp")]).exits(4).stderr, expected);
}

#[test]
fn certificates_that_cannot_be_used_are_named() {
    let folder = tempfile::tempdir().expect("there is a folder for files");
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("it runs").success());
    let rows = [
        ("/no/such.pem", "there is no such file"),
        ("/", "it is a folder"),
        ("/dev/null", "it is not a regular file"),
        ("/dev/zero", "it is not a regular file"),
        (pipe.to_str().expect("it is text"), "it is not a regular file"),
    ];
    for (file, why) in rows {
        let variables = [("SSL_CERT_FILE", OsStr::new(file))];
        let ended = Program::start_with(&variables, &["tools", "https://127.0.0.1:1/mcp"]).end(SOON);
        ended
            .exits(2)
            .reports(&format!("SSL_CERT_FILE names {file:?}: {why}; name a file with root certificates"));
        for command in [&["login"][..], &["agents", "search", "x", "--registry"]] {
            let ended =
                Program::start_with(&variables, &[command, &["https://127.0.0.1:1/mcp"]].concat()).end(SOON);
            ended.exits(2).reports(&format!("error: SSL_CERT_FILE names {file:?}: {why}; name a file"));
        }
        // They do not matter without TLS.
        let plain = Program::start_with(&variables, &["tools", "http://127.0.0.1:1/mcp"]).end(SOON);
        plain.exits(4).reports("nothing listens at 127.0.0.1:1");
    }
}

#[test]
fn too_few_open_files_are_an_error_that_names_the_limit() {
    let ours = agentwire();
    for limit in 4..=24 {
        let mut shell = Command::new("sh");
        // Descriptors that this process has inherited would count too.
        let close = "exec 3<&- 4<&- 5<&- 6<&- 7<&- 8<&- 9<&-";
        shell
            .arg("-c")
            .arg(format!("{close}; ulimit -n {limit}; exec '{}' tools /no/such/server", ours.display()));
        let ended = Program::start_other(shell).end(SOON);
        assert!(!ended.stderr.contains("panicked"), "{limit}: {}", ended.stderr);
        if limit < 20 {
            ended.exits(1).reports(&format!("the limit of open files is {limit} (`ulimit -n`)"));
        }
    }
}

#[test]
fn a_mistyped_name_is_answered_with_the_name_that_was_meant() {
    let ours = format!("'{}' server", agentwire().display());
    run(&["call", &ours, "ecko"]).exits(2).reports("the server has no tool `ecko`; did you mean `echo`?");
    run(&["tools", &ours, "ecko"]).exits(2).reports("the server has no tool `ecko`; did you mean `echo`?");
    let folder = tempfile::tempdir().expect("there is a folder for files");
    let config = folder.path().join("config.toml");
    std::fs::write(&config, "[agents.claude]\ncommand = 'x'\n[servers.files]\ncommand = 'x'\n")
        .expect("it is written");
    let file = config.to_str().expect("it is text");
    run(&["tools", "--config", file, "fiels"]).exits(2).reports("did you mean `files`?");
    run(&["chat", "--config", file, "--agent", "claud", "hello"]).exits(2).reports("did you mean `claude`?");
    for words in [&["files", "--jsn"][..], &["files", "a", "b"]] {
        let ended = run(&[&["tools", "--config", file], words].concat());
        assert!(!ended.exits(2).stderr.contains("quote it"), "a name needs no quotes: {ended}");
    }
}

#[test]
fn words_of_a_command_line_that_is_not_quoted_get_advice() {
    run(&["call", "my-server", "run", "add", "a=1"])
        .exits(2)
        .reports("`add` is not an argument")
        .reports("if this is the command line of a server, quote it, or put -- before it: -- my-server …");
}

#[test]
fn a_server_with_tokens_of_its_own_asks_for_one() {
    let url = format!("{}/mcp", responding("401 No\r\nwww-authenticate: Bearer", ""));
    run(&["tools", &url])
        .exits(3)
        .reports("the server names no authorization server")
        .reports("or send a token that you have by --header-file or --token");
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
fn verbose_output_shows_each_attempt() {
    let origin = responding("404 No", "");
    let expected = format!(
        "error: there is no MCP server at {origin}/a (HTTP status 404 Not Found); try {origin}/a/mcp\n"
    );
    assert_eq!(run(&["tools", &format!("{origin}/a")]).exits(1).stderr, expected);
    let told = run(&["-v", "tools", &format!("{origin}/a")]);
    told.exits(1)
        .reports("tried server/discover, then initialize: ")
        .reports("tried HTTP+SSE: ")
        .reports(&expected);
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
fn a_program_of_the_other_protocol_is_reported() {
    let ours = |command: &str| format!("'{}' {command}", agentwire().display());
    let (server, agent) = (ours("server"), ours("agent"));
    run(&["chat", "--agent", &server, "hello"])
        .exits(1)
        .reports("error: the agent refused initialize: ")
        .reports(" is an MCP server, try `agentwire tools`, or give it to an agent by --mcp\n");
    run(&["tools", &agent])
        .exits(1)
        .reports("error: the server refused initialize: ")
        .reports(" is an ACP agent, try `agentwire chat --agent`\n");
}

#[test]
fn the_data_of_an_error_is_shown() {
    let refusal = json!({ "code": 7, "message": "no", "data": { "why": "the disk is full" } });
    let agent = acting(&script(json!({}), json!({ "session/new": [{ "refuse": refusal }] })));
    let ended = run(&["chat", "--agent", &agent, "hello"]);
    ended
        .exits(1)
        .reports("error: the agent refused session/new: no (7); data: {\"why\":\"the disk is full\"}\n");
}

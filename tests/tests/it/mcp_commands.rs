//! The commands that show what an MCP server is and offers, with their exact texts.

use serde_json::{Value, json};

use crate::binaries::{acting, agentwire, recorded};
use crate::program::{Ended, Program, SOON};
use crate::rows;

fn run(arguments: &[&str]) -> Ended {
    Program::run(arguments, SOON)
}

fn server() -> String {
    recorded("mcp", "server")
}

/// A server with one of each kind of content.
fn scripted() -> String {
    let contents = json!([
        { "uri": "a://notes", "mimeType": "text/plain", "text": "Some notes.\n" },
        { "uri": "a://archive.gz", "mimeType": "application/gzip", "blob": "AAEC" },
    ]);
    acting(&json!({
        "initialize": [{ "answer": { "protocolVersion": "2025-11-25", "serverInfo": { "name": "all", "version": "2", "title": "All kinds" },
            "instructions": "Be kind.", "capabilities": { "tools": {}, "resources": { "subscribe": true }, "prompts": {}, "completions": {} } } }],
        "ping": [{ "answer": {} }],
        "tools/list": [{ "answer": { "tools": [] } }],
        "resources/list": [{ "answer": { "resources": [{ "uri": "a://notes", "name": "notes", "mimeType": "text/plain", "size": 12,
            "description": "What was noted." }] } }],
        "resources/templates/list": [{ "answer": { "resourceTemplates": [{ "uriTemplate": "a://{name}", "name": "any" }] } }],
        "resources/read": [{ "answer": { "contents": contents } }],
        "prompts/list": [{ "answer": { "prompts": [{ "name": "greet", "description": "Greets.",
            "arguments": [{ "name": "name", "required": true }, { "name": "tone" }] }] } }],
        "prompts/get": [{ "refuse": { "code": -32602, "message": "no" } }],
        "completion/complete": [{ "answer": { "completion": { "values": ["Ada", "Adele"], "total": 5, "hasMore": true } } }],
    }))
}

#[test]
fn inspect_prints_the_description_of_a_server() {
    let expected = "\
all 2
title: All kinds
revision: 2025-11-25
transport: stdio
capabilities: completions, prompts, resources (subscribe), tools
instructions:
  Be kind.
tools: 0
resources: 1
  a://notes (text/plain, 12 bytes)  notes: What was noted.
resource templates: 1
  a://{name}  any
prompts: 1
  greet(name, tone?)  Greets.
";
    let ended = run(&["inspect", &scripted()]);
    assert_eq!((ended.exits(0).stdout.as_str(), ended.stderr.as_str()), (expected, ""));
    let objects = run(&["inspect", "--json", &scripted()]).exits(0).objects();
    assert_eq!(objects.len(), 1);
    assert_eq!(objects[0]["server"]["name"], "all");
    assert_eq!(objects[0]["revision"], "2025-11-25");
    assert_eq!(objects[0]["resources"][0]["uri"], "a://notes");
    // In each kind of revision.
    for (era, revision) in [("legacy", "2025-11-25"), ("modern", "2026-07-28")] {
        let ended = run(&["inspect", "--era", era, &server()]);
        ended.exits(0).prints(&format!("agentwire {}\nrevision: {revision}\n", env!("CARGO_PKG_VERSION")));
        ended
            .prints("tools: 11\n  echo(message: string)  Give the message back\n")
            .prints("\nresources: 1\n");
    }
}

#[test]
fn lists_have_a_line_for_each_item() {
    let ours = server();
    let slow =
        "slow(seconds: number, steps?: integer = 1)  Take so many seconds, and report each of the steps\n";
    run(&["tools", &ours]).exits(0).prints(slow);
    let scripted = scripted();
    let rows: [(&[&str], &str); 3] = [
        (
            &["resources", &scripted],
            "a://notes (text/plain, 12 bytes)  notes: What was noted.\na://{name}  any\n",
        ),
        (&["prompts", &scripted], "greet(name, tone?)  Greets.\n"),
        (&["prompts", &ours], "greet(name)  Greet somebody\n"),
    ];
    rows::for_each(&rows, |(arguments, expected)| {
        let ended = run(arguments);
        assert_eq!((ended.exits(0).stdout.as_str(), ended.stderr.as_str()), (*expected, ""));
        let json = run(&[arguments, &["--json"][..]].concat());
        assert_eq!(json.exits(0).objects().len(), expected.lines().count(), "{json}");
    });
}

#[test]
fn a_tool_is_shown_with_its_schemas() {
    let expected = r#"echo(message: string)

Give the message back

Input:
{
  "properties": {
    "message": {
      "description": "The text to return.",
      "type": "string"
    }
  },
  "required": [
    "message"
  ],
  "type": "object"
}
"#;
    let ours = server();
    let ended = run(&["tools", &ours, "echo"]);
    assert_eq!(ended.exits(0).stdout, expected);
    let objects = run(&["tools", "--json", &ours, "echo"]).exits(0).objects();
    assert_eq!(objects[0]["name"], "echo", "{objects:?}");
    let ended = run(&["tools", &ours, "ecko"]);
    assert_eq!(ended.exits(2).stderr, "error: the server has no tool `ecko`; did you mean `echo`?\n");
}

#[test]
fn resources_are_read_and_saved() {
    let ended = run(&["read", &server(), "agentwire://about"]);
    assert_eq!(ended.exits(0).stdout, "This is the demonstration server of agentwire.\n");
    let scripted = scripted();
    let ended = run(&["read", &scripted, "a://all"]);
    assert_eq!(ended.exits(0).stdout, "Some notes.\n[a file, a://archive.gz, application/gzip, 3 bytes]\n");
    let folder = tempfile::tempdir().expect("a folder");
    let directory = folder.path().to_str().expect("UTF-8");
    for (notes, archive) in [("notes.txt", "archive.gz"), ("notes-2.txt", "archive-2.gz")] {
        let ended = run(&["read", &scripted, "a://all", "--save", directory]);
        let expected = format!(
            "[a text, a://notes, text/plain, 12 bytes, saved as {directory}/{notes}]\n\
             [a file, a://archive.gz, application/gzip, 3 bytes, saved as {directory}/{archive}]\n"
        );
        assert_eq!(ended.exits(0).stdout, expected);
        assert_eq!(std::fs::read(folder.path().join(archive)).expect("it is saved"), [0, 1, 2]);
    }
    let objects = run(&["read", "--json", &scripted, "a://all", "--save", directory]).exits(0).objects();
    assert_eq!(objects[2]["saved"]["path"], format!("{directory}/archive-3.gz"), "{objects:?}");
}

#[test]
fn prompts_and_completions() {
    let ours = server();
    let ended = run(&["prompt", &ours, "greet", "name=Ada"]);
    assert_eq!(ended.exits(0).stdout, "[user]\nPlease greet Ada warmly.\n");
    let ended = run(&["prompt", &ours, "greet", "{\"name\": \"Ada\"}"]);
    assert_eq!(ended.exits(0).stdout, "[user]\nPlease greet Ada warmly.\n");
    run(&["prompt", &ours, "gret", "name=Ada"]).exits(2).reports("no prompt `gret`; did you mean `greet`?");
    run(&["prompt", &scripted(), "greet"])
        .exits(2)
        .reports("argument `name` is missing: greet(name, tone?)\n");
    let ended = run(&["complete", &scripted(), "greet", "name", "Ad"]);
    assert_eq!((ended.exits(0).stdout.as_str(), ended.stderr.as_str()), ("Ada\nAdele\n", "[3 more]\n"));
    run(&["complete", &ours, "greet", "name", "Ad"]).exits(1).reports("the server does not offer it");
}

#[test]
fn any_request_can_be_made() {
    let ended = run(&["request", "--era", "legacy", &server(), "resources/list"]);
    let expected = r#"{
  "resources": [
    {
      "uri": "agentwire://about",
      "name": "about",
      "title": "About this server",
      "mimeType": "text/plain"
    }
  ]
}
"#;
    assert_eq!(ended.exits(0).stdout, expected);
    let ended = run(&["request", "--json", &scripted(), "ping", "{}"]);
    assert_eq!(ended.exits(0).stdout, "{\"result\":{}}\n");
    run(&["request", &scripted(), "ping", "[]"]).exits(2).reports("the parameters are not a JSON object\n");
    let read = run(&["request", &server(), "resources/read", r#"{"uri": "agentwire://about"}"#, "--json"]);
    let objects = read.exits(0).objects();
    assert_eq!(objects[0]["result"]["contents"][0]["mimeType"], Value::from("text/plain"), "{read}");
}

#[test]
fn a_command_stands_behind_two_dashes() {
    let program = agentwire().to_str().expect("UTF-8");
    run(&["tools", "--", program, "server"]).exits(0).prints("echo(message: string)");
    run(&["tools", "echo", "--", program, "server"]).exits(0).prints("\nInput:\n");
    let ended = run(&["call", "add", "a=1", "b=2", "--", program, "server"]);
    assert_eq!(ended.exits(0).stdout, "{\"sum\":3}\n");
    let script = format!("echo \"$KEY $PWD\" >&2; exec '{program}' server");
    let ended =
        run(&["tools", "-v", "-e", "KEY=some value", "--cwd", "/usr", "--", "/bin/sh", "-c", &script]);
    ended.exits(0).reports("server: some value /usr\n");
    // Variables and ~ are read in a command line, and nothing in single quotes is.
    let line = format!("/bin/sh -c 'echo \"$0 $1 $KEY\" >&2; exec {program} server' ~ \"${{HOME}}/x\"");
    let home = std::env::var("HOME").expect("it is set");
    run(&["tools", "-v", "-e", "KEY=k", &line]).exits(0).reports(&format!("server: {home} {home}/x k\n"));
}

#[test]
fn wrong_targets_are_explained() {
    let advice = "if this is the command line of a server, quote it, or put -- before it: -- npx …\n";
    let rows: [(&[&str], String); 7] = [
        (&["tools", "npx", "-y", "secret"], format!("For more information, try '--help'.\n{advice}")),
        (&["call", "npx", "secret"], format!("error: `npx` alone is not a server; {advice}")),
        (&["inspect", "npx x", "secret"], format!("error: too many arguments; {advice}")),
        (
            &["inspect"],
            "error: the server is missing: write a URL, a quoted command line, or -- and the command\n"
                .into(),
        ),
        (&["read", "x"], "error: URI is missing\n".into()),
        (
            &["tools", "x $NO_SUCH_VARIABLE"],
            "error: `$NO_SUCH_VARIABLE` in the command line is not set; in single quotes it stays as it is\n"
                .into(),
        ),
        (
            &["tools", "-e", "A=b", "http://127.0.0.1:1/mcp"],
            "error: -e, --cwd: only a command has an environment and a directory\n".into(),
        ),
    ];
    rows::for_each(&rows, |(arguments, expected)| {
        let ended = run(arguments);
        ended.exits(2);
        assert!(ended.stderr.ends_with(expected) && !ended.stderr.contains("secret"), "{ended}");
        assert!(ended.stdout.is_empty(), "{ended}");
    });
}

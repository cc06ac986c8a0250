//! The memory that a hostile server makes `agentwire tools` and `call` take.

use serde_json::{Value, json};

use super::{A_WHILE, LONG, Table, fill};
use crate::binaries::acting;
use crate::program::{Ended, Program};

/// A server of which something is large.
fn server(more: Value) -> Value {
    let greeting = json!({ "protocolVersion": "2025-11-25", "serverInfo": { "name": "s", "version": "1" }, "capabilities": { "tools": {} } });
    let mut script =
        json!({ "initialize": [{ "answer": greeting }], "tools/list": [{ "answer": { "tools": [] } }] });
    let more = more.as_object().expect("a script is an object").clone();
    script.as_object_mut().expect("a script is an object").extend(more);
    script
}

/// Servers, and the command that is run with each.
fn servers() -> Vec<(&'static str, Value, &'static str)> {
    let answer = |length: usize, item: &str, result: &str| json!([{ "fill": [length, item, format!(r#"{{"jsonrpc":"2.0","id":ID,"result":{result}}}"#)] }]);
    let tool = r#"{"name":"","inputSchema":{"type":"object"}},"#;
    let tools = |length: usize, item: &str, more: &str| {
        answer(
            length,
            item,
            &format!(r#"{{"tools":[FILL{{"name":"","inputSchema":{{"type":"object"}}}}]{more}}}"#),
        )
    };
    let described = format!(
        r#"{{"name":"a","description":"{}","inputSchema":{{"type":"object"}}}},"#,
        "\u{9b}".repeat(700)
    );
    let lists = [
        ("a page of tiny tools", tools(LONG, tool, "")),
        ("a page of tiny tools within its limit", tools(440_000, tool, "")),
        ("a page of tools within its limit", tools(15 << 20, &described, "")),
        ("pages of tools without end", tools(1 << 20, &described, r#","nextCursor":"c#""#)),
        (
            "a large schema",
            answer(
                900_000,
                "[],",
                r#"{"tools":[{"name":"a","inputSchema":{"type":"object","x":[FILL[]]}}]}"#,
            ),
        ),
        (
            "a tool's name",
            answer(15 << 20, "\u{9b}", r#"{"tools":[{"name":"FILL","inputSchema":{"type":"object"}}]}"#),
        ),
        (
            "an argument's name",
            answer(
                15 << 20,
                "x",
                r#"{"tools":[{"name":"a","inputSchema":{"type":"object","properties":{"FILL":{}}}}]}"#,
            ),
        ),
        (
            "refused at length",
            json!([fill("x", r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"FILL"}}"#)]),
        ),
    ];
    let text = |item| answer(LONG, item, r#"{"content":[{"type":"text","text":"FILL"}]}"#);
    let progress = fill(
        "x",
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1,"message":"FILL"}}"#,
    );
    let asks = fill(
        "x",
        r#"{"jsonrpc":"2.0","id":"q#","method":"elicitation/create","params":{"message":"FILL","requestedSchema":{"type":"object","properties":{}}}}"#,
    );
    let then = |step: Value| json!([step.clone(), step, { "answer": { "content": [] } }]);
    let calls = [
        ("a text", text("x")),
        ("a text with escapes", text(r"xxxxxxx\n")),
        ("a text with half a character", text(r"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\ud83d")),
        ("a text that is longer on a terminal", text("\u{9b}")),
        (
            "an image",
            answer(LONG, "A", r#"{"content":[{"type":"image","mimeType":"image/png","data":"FILL"}]}"#),
        ),
        ("structured content", answer(LONG, "x", r#"{"content":[],"structuredContent":{"a":"FILL"}}"#)),
        (
            "structured content of tiny values",
            answer(LONG, "[],", r#"{"content":[],"structuredContent":{"a":[FILL[]]}}"#),
        ),
        (
            "tiny blocks",
            answer(LONG, r#"{"type":"text","text":""},"#, r#"{"content":[FILL{"type":"text","text":""}]}"#),
        ),
        (
            "tiny blocks within their limit",
            answer(
                600_000,
                r#"{"type":"text","text":""},"#,
                r#"{"content":[FILL{"type":"text","text":""}]}"#,
            ),
        ),
        ("a link", answer(LONG, "x", r#"{"content":[{"type":"resource_link","name":"a","uri":"FILL"}]}"#)),
        (
            "a block of a kind that nobody knows",
            answer(LONG, "x", r#"{"content":[{"type":"_new","text":"FILL"}]}"#),
        ),
        (
            "refused at length",
            json!([fill("x", r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"FILL"}}"#)]),
        ),
        ("progress at length", then(progress)),
        ("a question at length", then(asks)),
    ];
    let lists = lists.map(|(name, steps)| (name, server(json!({ "tools/list": steps })), "tools"));
    let calls = calls.map(|(name, steps)| (name, server(json!({ "tools/call": steps })), "call"));
    lists.into_iter().chain(calls).collect()
}

fn speak_to(script: &Value, command: &str, more: &[&str]) -> Ended {
    let server = acting(script);
    let mut arguments = vec![command, "--era", "legacy", &*server];
    arguments.extend((command == "call").then_some("t"));
    Program::run(&[&arguments[..], more].concat(), A_WHILE)
}

#[test]
fn of_tools_and_call_in_the_worst_cases() {
    let cases = [
        ("tools", "an argument's name", false),
        ("tools", "a large schema", false),
        ("call", "a text with half a character", false),
        ("call", "a text that is longer on a terminal", true),
        ("call", "tiny blocks", false),
        ("call", "progress at length", true),
    ];
    let (servers, mut table) = (servers(), Table::default());
    for (command, name, json) in cases {
        let (_, script, _) = servers
            .iter()
            .find(|case| (case.0, case.2) == (name, command))
            .unwrap_or_else(|| panic!("there is no case {name}"));
        let ended = speak_to(script, command, if json { &["--json"] } else { &[] });
        table.add(&format!("{command}, json {json}: {name}"), &ended);
    }
    table.check();
}

mod long {
    use super::*;

    #[test]
    #[ignore = "takes minutes: cargo xtask ci long"]
    fn of_tools_and_call() {
        let mut table = Table::default();
        for (name, script, command) in servers() {
            for json in [&[][..], &["--json"]] {
                table.add(&format!("{command} {json:?}: {name}"), &speak_to(&script, command, json));
            }
        }
        table.check();
    }
}

//! The peak memory of `agentwire chat`, `tools` and `call` with hostile agents and servers.
//!
//! `cargo xtask ci long` runs all of it, and prints what each case takes, in memory and in processor time. The worst cases of
//! each kind are run with all other tests.

mod long;
mod of_servers;

use std::fmt::Write as _;
use std::sync::OnceLock;
use std::time::Duration;

use serde_json::{Value, json};

use crate::binaries::acting;
use crate::chat::script;
use crate::program::{Ended, Program};

/// Two unoptimised programs move some hundred megabytes, on a machine that does other things too.
const A_WHILE: Duration = Duration::from_secs(240);

/// In MiB, over what an idle one takes: the bound is 128 in all, of which a program as it is delivered takes less than 16 when
/// idle, and an unoptimised one more.
const BOUND: u64 = 112;

/// The memory of a program that does next to nothing, in MiB: a server after `initialize`.
fn idle() -> u64 {
    static IDLE: OnceLock<u64> = OnceLock::new();
    *IDLE.get_or_init(|| {
        let mut server = Program::start(&["server", "--stdio"]);
        server.write(
            br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
"#,
        );
        server.stdout.words("serverInfo");
        let peak = server.peak_memory().expect("it waits for more");
        server.close_stdin();
        server.end(A_WHILE).exits(0);
        peak
    })
}

/// About as long as a line may be, in bytes.
const LONG: usize = 31 << 20;

/// A line that the agent sends in a turn, with as many items in it as fit.
fn fill(item: &str, text: &str) -> Value {
    json!({ "fill": [LONG, item, text] })
}

/// The same, of an update.
fn update(item: &str, update: &str) -> Value {
    fill(
        item,
        &format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s1","update":{update}}}}}"#
        ),
    )
}

fn chunk(item: &str) -> Value {
    update(
        item,
        r#"{"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"text","text":"FILL"}}"#,
    )
}

fn tool(item: &str, members: &str) -> Value {
    update(item, &format!(r#"{{"sessionUpdate":"tool_call_update","toolCallId":"c",{members}}}"#))
}

/// The messages of an agent in a turn.
struct Turn {
    name: &'static str,
    protocol: &'static str,
    steps: Vec<Value>,
}

fn one(name: &'static str, steps: impl Into<Vec<Value>>) -> Turn {
    Turn { name, protocol: "1", steps: steps.into() }
}

fn two(name: &'static str, steps: impl Into<Vec<Value>>) -> Turn {
    Turn { name, protocol: "2", steps: steps.into() }
}

/// The cases of both versions.
fn common() -> Vec<(&'static str, Value)> {
    let text = |item| tool(item, r#""content":[{"type":"content","content":{"type":"text","text":"FILL"}}]"#);
    vec![
        ("text", chunk("x")),
        ("text with escapes", chunk(r"xxxxxxx\n")),
        ("text with half a character", chunk(r"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\ud83d")),
        ("text that is longer on a terminal", chunk("\u{9b}")),
        ("a title", tool("x", r#""title":"FILL""#)),
        ("a tool's text", text("x")),
        ("a tool's lines", text(r"\n")),
        ("a tool's output", tool("x", r#""rawOutput":"FILL""#)),
        ("an id", update("x", r##"{"sessionUpdate":"tool_call_update","toolCallId":"#FILL","title":"t"}"##)),
        (
            "tiny pieces of content",
            tool(
                r#"{"type":"content","content":{"type":"text","text":""}},"#,
                r#""content":[FILL{"type":"content","content":{"type":"text","text":""}}]"#,
            ),
        ),
        (
            "options",
            update(
                r#"{"id":"","configId":"","name":"","type":"boolean","currentValue":true},"#,
                r#"{"sessionUpdate":"config_option_update","configOptions":[FILL{"id":"","configId":"","name":"","type":"boolean","currentValue":true}]}"#,
            ),
        ),
        (
            "values of an option",
            update(
                r#"{"value":"","name":""},"#,
                r#"{"sessionUpdate":"config_option_update","configOptions":[{"id":"","configId":"","name":"","type":"select","currentValue":"","options":[FILL{"value":"","name":""}]}]}"#,
            ),
        ),
        (
            "commands",
            update(
                r#"{"name":"","description":""},"#,
                r#"{"sessionUpdate":"available_commands_update","availableCommands":[FILL{"name":"","description":""}]}"#,
            ),
        ),
        ("an update of a kind that nobody knows", update("x", r#"{"sessionUpdate":"_new","text":"FILL"}"#)),
        (
            "an update of a kind that nobody knows, which is said last",
            update("x", r#"{"text":"FILL","sessionUpdate":"_new"}"#),
        ),
        ("a line that is too long", json!({ "fill": [64 << 20, "x", "FILL"] })),
        ("a question", permission("x", "FILL", "")),
        ("a question with a long input", question("x", r#""rawInput":"FILL""#, r#""title":"t""#)),
        (
            "a question with a long choice",
            permission("x", "", r#"{"optionId":"y","name":"FILL","kind":"_"}"#),
        ),
        (
            "choices",
            permission(
                r#"{"optionId":"","name":"","kind":"_"},"#,
                "",
                r#"FILL{"optionId":"","name":"","kind":"_"}"#,
            ),
        ),
    ]
}

/// A question, which is answered at once, since no person is there. A title goes into the place of that version only.
fn permission(item: &str, text: &str, options: &str) -> Value {
    let call = format!(r#"{{"toolCallId":"c","rawInput":"{text}"}}"#);
    let params = format!(r#"{{"sessionId":"s1","title":"t","toolCall":{call},"options":[{options}]}}"#);
    let request = r#"{"jsonrpc":"2.0","id":"q#","method":"session/request_permission","params":"#;
    fill(item, &format!("{request}{params}}}"))
}

/// A question that can be answered. What is asked for always is remembered by all of it.
fn question(item: &str, call: &str, more: &str) -> Value {
    let options = r#"[{"optionId":"y","name":"Yes","kind":"allow_once"}]"#;
    let params =
        format!(r#"{{"sessionId":"s1","toolCall":{{"toolCallId":"c",{call}}},"options":{options},{more}}}"#);
    let request = r#"{"jsonrpc":"2.0","id":"q#","method":"session/request_permission","params":"#;
    fill(item, &format!("{request}{params}}}"))
}

fn turns() -> Vec<Turn> {
    let common_turns = common()
        .into_iter()
        .flat_map(|(name, step)| [one(name, [step.clone(), step.clone()]), two(name, [step.clone(), step])]);
    let many = |times: usize, step: Value| json!({ "repeat": [times, step] });
    let small = |update: &str| {
        let params = format!(r#"{{"sessionId":"s1","update":{update}}}"#);
        json!({ "fill": [0, "x", format!(r#"{{"jsonrpc":"2.0","method":"session/update","params":{params}}}"#)] })
    };
    let own = [
        one(
            "entries of a plan",
            [update(
                r#"{"content":"","priority":"low","status":"pending"},"#,
                r#"{"sessionUpdate":"plan","entries":[FILL{"content":"","priority":"low","status":"pending"}]}"#,
            )],
        ),
        one("places", [tool(r#"{"path":"/"},"#, r#""locations":[FILL{"path":"/"}]"#)]),
        one(
            "changes",
            [tool(
                r#"{"type":"diff","path":"/","newText":""},"#,
                r#""content":[FILL{"type":"diff","path":"/","newText":""}]"#,
            )],
        ),
        one(
            "a change of many lines",
            [tool(r"\n", r#""content":[{"type":"diff","path":"/","newText":"FILL"}]"#)],
        ),
        one(
            "made-up sessions with options",
            [many(
                40,
                json!({ "fill": [1 << 20, r#"{"value":"","name":""},"#, concat!(
            r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s#","update":"#,
            r#"{"sessionUpdate":"config_option_update","configOptions":[{"id":"","name":"","type":"select","currentValue":"","options":[FILL{"value":"","name":""}]}]}}}"#,
        )] }),
            )],
        ),
        one(
            "tool calls without end",
            [many(
                100_000,
                small(r##"{"sessionUpdate":"tool_call","toolCallId":"#","title":"Look at something"}"##),
            )],
        ),
        one(
            "refused at length",
            [fill("x", r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"FILL"}}"#)],
        ),
        one("a reason at length", [fill("x", r#"{"jsonrpc":"2.0","id":ID,"result":{"stopReason":"FILL"}}"#)]),
        // DEL is one byte, and six where it is escaped.
        one(
            "a question about a change",
            [question(
                "\u{7f}",
                r#""title":"t","content":[{"type":"diff","path":"/","newText":"FILL"}]"#,
                r#""_meta":{}"#,
            )],
        ),
        two(
            "a question with a description",
            [question("\u{7f}", r#""title":"t""#, r#""title":"t","description":"FILL""#)],
        ),
        two(
            "a question about a command",
            [question(
                "x",
                r#""title":"t""#,
                r#""title":"t","subject":{"type":"command","command":"FILL","cwd":"/"}"#,
            )],
        ),
        two(
            "a reason at length",
            [update("x", r#"{"sessionUpdate":"state_update","state":"idle","stopReason":"FILL"}"#)],
        ),
        two(
            "entries of a plan",
            [update(
                r#"{"content":"","priority":"low","status":"pending"},"#,
                r#"{"sessionUpdate":"plan_update","plan":{"type":"items","planId":"p","entries":[FILL{"content":"","priority":"low","status":"pending"}]}}"#,
            )],
        ),
        two(
            "changes",
            [tool(
                r#"{"operation":"delete","path":"/"},"#,
                r#""content":[{"type":"diff","changes":[FILL{"operation":"delete","path":"/"}]}]"#,
            )],
        ),
        two(
            "a patch of many lines",
            [tool(
                r"\n",
                r#""content":[{"type":"diff","changes":[],"patch":{"format":"git_patch","text":"FILL"}}]"#,
            )],
        ),
        two(
            "tool calls without end",
            [many(
                100_000,
                small(
                    r##"{"sessionUpdate":"tool_call_update","toolCallId":"#","title":"Look at something"}"##,
                ),
            )],
        ),
        two(
            "calls that can be cancelled",
            [many(
                8,
                update(
                    "x",
                    r##"{"sessionUpdate":"tool_call_update","toolCallId":"#FILL","capabilities":{"cancel":{}}}"##,
                ),
            )],
        ),
        two(
            "messages of the person's",
            [many(
                8,
                update(
                    "x",
                    r##"{"sessionUpdate":"user_message_chunk","messageId":"#FILL","content":{"type":"text","text":""}}"##,
                ),
            )],
        ),
    ];
    common_turns.chain(own).collect()
}

/// An agent that sends this.
fn agent(turn: &Turn) -> String {
    let (begin, end) = match turn.protocol {
        "1" => (vec![], json!({ "answer": { "stopReason": "end_turn" } })),
        // The answer comes late, so that what is sent before it is kept as long as it may be.
        _ => (
            vec![json!({ "update": { "sessionUpdate": "state_update", "state": "running" } })],
            json!({ "answer": { "messageId": "u1" } }),
        ),
    };
    let idle = (turn.protocol == "2").then(|| {
        json!({ "update": { "sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn" } })
    });
    let steps: Vec<_> = begin.iter().chain(&turn.steps).chain([&end]).chain(&idle).cloned().collect();
    let greeting = match turn.protocol {
        "1" => json!({ "protocolVersion": 1 }),
        _ => {
            json!({ "protocolVersion": 2, "info": { "name": "a", "version": "1" }, "capabilities": { "session": {} } })
        }
    };
    acting(&script(json!({}), json!({ "initialize": [{ "answer": greeting }], "session/prompt": steps })))
}

/// The memory of the cases, and those that are over the bound.
#[derive(Default)]
struct Table {
    over: String,
}

impl Table {
    fn add(&mut self, name: &str, ended: &Ended) {
        let Ended { peak_memory, cpu, stdout, .. } = ended;
        let line = format!(
            "{peak_memory:>5} MiB {:>6.1} s  {name} ({} bytes shown)",
            cpu.as_secs_f64(),
            stdout.len()
        );
        eprintln!("{line}");
        if peak_memory.saturating_sub(idle()) > BOUND {
            writeln!(self.over, "{line}").expect("text grows");
        }
    }

    fn check(self) {
        assert!(self.over.is_empty(), "more than {BOUND} MiB over {}:\n{}", idle(), self.over);
    }
}

fn chat(turn: &Turn, more: &[&str]) -> Ended {
    let agent = agent(turn);
    Program::run(
        &[&["chat", "--protocol", turn.protocol, "--agent", &agent][..], more, &["hello"]].concat(),
        A_WHILE,
    )
}

#[test]
fn of_chat_in_the_worst_cases() {
    let cases = [
        ("1", "text with escapes", true),
        ("2", "text with half a character", false),
        ("1", "values of an option", false),
        ("2", "entries of a plan", true),
        ("1", "a tool's output", true),
        ("1", "a change of many lines", false),
        ("2", "a patch of many lines", false),
        ("1", "a question", true),
        ("1", "a question about a change", false),
        ("2", "a question with a description", false),
        ("2", "a question about a command", true),
        ("2", "a reason at length", false),
        ("2", "an update of a kind that nobody knows, which is said last", false),
        ("1", "made-up sessions with options", false),
        ("1", "refused at length", true),
    ];
    let (turns, mut table) = (turns(), Table::default());
    for (protocol, name, json) in cases {
        let turn = turns.iter().find(|turn| (turn.protocol, turn.name) == (protocol, name));
        let turn = turn.unwrap_or_else(|| panic!("there is no case {name}"));
        let ended = chat(turn, if json { &["--json"] } else { &[] });
        table.add(&format!("chat, json {json}, version {protocol}: {name}"), &ended);
    }
    table.check();
}

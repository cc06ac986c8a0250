//! `agentwire chat` with agents that have sessions, modes, options and questions.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::binaries::acting;
use crate::program::{Ended, Program, SOON};
use crate::rows;

/// A script with these beside what every agent does.
pub(crate) fn script(capabilities: Value, more: Value) -> Value {
    let mut script = json!({
        "initialize": [{ "answer": { "protocolVersion": 1, "agentCapabilities": capabilities } }],
        "session/new": [{ "answer": { "sessionId": "s1" } }],
        "session/prompt": ["hear", { "answer": { "stopReason": "end_turn" } }],
    });
    let more = more.as_object().expect("a script is an object").clone();
    script.as_object_mut().expect("a script is an object").extend(more);
    script
}

/// Runs `agentwire chat` with the agent of a script.
pub(crate) fn chat(script: &Value, arguments: &[&str]) -> Ended {
    let agent = acting(script);
    Program::run(&[&["chat", "--agent", &agent], arguments].concat(), SOON)
}

/// A step of a script that sends an update of this kind.
pub(crate) fn update(kind: &str, mut members: Value) -> Value {
    members["sessionUpdate"] = kind.into();
    json!({ "update": members })
}

fn kinds(ended: &Ended) -> Vec<String> {
    let first = |object: &Value| {
        object.as_object().and_then(|object| object.keys().find(|name| *name != "sessionId").cloned())
    };
    ended.objects().iter().filter_map(first).collect()
}

fn listed() -> Value {
    let session = |id, cwd, time| json!({ "sessionId": id, "cwd": cwd, "title": format!("title of {id}"), "updatedAt": time });
    let sessions = [
        session("s0", "/", "2026-01-01T00:00:00Z"),
        session("s1", "/", "2026-03-01T00:00:00Z"),
        session("s2", "/tmp", "2026-05-01T00:00:00Z"),
    ];
    json!([{ "answer": { "sessions": sessions } }])
}

fn message(kind: &str, text: &str) -> Value {
    json!({ "update": { "sessionUpdate": kind, "content": { "type": "text", "text": text } } })
}

/// The answer that begins a session, an update of it and a request in it come in one write.
#[test]
fn updates_right_behind_the_answer_belong_to_the_session() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("note.txt");
    let commands = json!({ "sessionUpdate": "available_commands_update", "availableCommands": [] });
    let update = json!({ "sessionId": "s1", "update": commands });
    let update = json!({ "jsonrpc": "2.0", "method": "session/update", "params": update });
    let write = json!({ "sessionId": "s1", "path": file, "content": "written" });
    let write = json!({ "jsonrpc": "2.0", "id": "asked-0", "method": "fs/write_text_file", "params": write });
    let answer = r#"{"jsonrpc":"2.0","id":ID,"result":{"sessionId":"s1"}}"#;
    let steps = json!({
        "session/new": [{ "raw": format!("{answer}\n{update}\n{write}") }],
        "session/prompt": [{ "until": file }, { "answer": { "stopReason": "end_turn" } }],
    });
    let agent = script(json!({}), steps);
    let arguments = ["--json", "--yes", "--cwd", folder.path().to_str().unwrap(), "hello"];
    for _ in 0..8 {
        let ended = chat(&agent, &arguments);
        assert_eq!(kinds(ended.exits(0)), ["initialized", "session", "update", "stopReason"], "{ended}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "written");
        fs::remove_file(&file).unwrap();
    }
}

/// JavaScript writes a chunk that ends inside a character with half a surrogate pair, and `1e999` is JSON too.
#[test]
fn numbers_beyond_serde_json_are_neither_lost_nor_the_end() {
    let line = |update: &str| {
        let params = format!(r#"{{"sessionId":"s1","update":{update}}}"#);
        json!({ "raw": format!(r#"{{"jsonrpc":"2.0","method":"session/update","params":{params}}}"#) })
    };
    let half = r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"half \ud83d"}}"#;
    let large = r#"{"sessionUpdate":"agent_message_chunk","content":1e999}"#;
    let steps = json!([line(half), line(large), { "answer": { "stopReason": "end_turn" } }]);
    let agent = script(json!({}), json!({ "session/prompt": steps }));
    let unreadable = format!(r#"{{"unreadable":{{"params":{{"sessionId":"s1","update":{large}}},"#);
    chat(&agent, &["--json", "hello"]).exits(0).prints("\"half \u{fffd}\"").prints(&unreadable);
    chat(&agent, &["hello"])
        .exits(0)
        .prints("half \u{fffd}")
        .reports("an update of the agent cannot be read");
}

/// Items that cannot be read are named, the first of each kind to people and all of them to programs.
#[test]
fn omitted_entries_of_a_list_are_named() {
    let commands = json!([{ "name": "good", "description": "" }, { "name": 1 }, { "name": 2 }]);
    let commands =
        json!({ "update": { "sessionUpdate": "available_commands_update", "availableCommands": commands } });
    let plan = json!({ "update": { "sessionUpdate": "plan", "entries": [7] } });
    let opened = json!([{ "answer": { "sessionId": "s1", "configOptions": [{}] } }]);
    let steps = json!([commands, commands, plan, { "answer": { "stopReason": "end_turn" } }]);
    let agent = script(json!({}), json!({ "session/new": opened, "session/prompt": steps }));
    let ended = chat(&agent, &["hello"]);
    ended.exits(0).reports("warning: agent: session/update: skipped update.availableCommands[1]: ");
    ended.reports("warning: agent: session/update: skipped update.entries[0]: ");
    ended.reports("warning: agent: session/new: skipped configOptions[0]: ");
    assert_eq!(ended.stderr.matches("skipped").count(), 3, "{ended}");
    let ended = chat(&agent, &["--json", "hello"]);
    ended.exits(0).prints(
        r#"{"skipped":{"method":"session/new","more":0,"parts":[{"index":0,"kind":"SessionConfigOption","#,
    );
    assert_eq!(ended.stdout.matches(r#""kind":"AvailableCommand""#).count(), 4, "{ended}");
    assert_eq!(ended.stdout.matches(r#""name":"good""#).count(), 2, "{ended}");
}

/// The data of an agent's error is shown as it came.
#[test]
fn an_error_with_a_number_that_nothing_holds_is_shown() {
    let refusal = r#"{"code":-32000,"message":"full","data":{"most":1e999}}"#;
    let answer = format!(r#"{{"jsonrpc":"2.0","id":ID,"error":{refusal}}}"#);
    let agent = script(json!({}), json!({ "session/prompt": [{ "raw": answer }] }));
    chat(&agent, &["--json", "hello"]).exits(3).prints(&format!(r#"{{"error":{refusal},"#));
}

#[test]
fn sessions_are_listed_and_deleted() {
    let capabilities = json!({ "sessionCapabilities": { "list": {}, "delete": {} } });
    let more = json!({ "session/list": listed(), "session/delete": [{ "answer": {} }] });
    let agent = script(capabilities, more);
    let ended = chat(&agent, &["--list", "--json"]);
    ended.exits(0);
    assert_eq!(kinds(&ended), ["initialized", "sessionInfo", "sessionInfo", "sessionInfo"], "{ended}");
    assert_eq!(ended.objects()[2]["sessionInfo"]["sessionId"], "s1", "{ended}");
    chat(&agent, &["--list"]).exits(0).prints("s1  2026-03-01 00:00  /  title of s1\n");

    let ended = chat(&agent, &["--delete", "s1", "--json"]);
    assert_eq!(ended.exits(0).objects().last(), Some(&json!({ "deleted": "s1" })), "{ended}");
    chat(&agent, &["--delete", "s1"]).exits(0).prints("deleted s1");

    let cannot = script(json!({}), json!({}));
    chat(&cannot, &["--list"]).exits(1).reports("did not advertise the capability");
    chat(&cannot, &["--delete", "s1"]).exits(1).reports("did not advertise the capability");
}

#[test]
fn a_session_is_gone_on_with() {
    let replay = json!([
        message("user_message_chunk", "What was it?"),
        message("agent_message_chunk", "It was this."),
        "hear",
        { "answer": {} },
    ]);
    let load = json!({ "loadSession": true, "sessionCapabilities": { "list": {} } });
    let agent = script(load, json!({ "session/list": listed(), "session/load": replay }));
    let ended = chat(&agent, &["--continue", "--json", "hello"]);
    ended.exits(0).prints("heard {\\\"cwd\\\":\\\"/\\\",\\\"mcpServers\\\":[],\\\"sessionId\\\":\\\"s1\\\"}");
    let kinds = kinds(&ended);
    assert_eq!(
        kinds,
        ["initialized", "update", "update", "update", "session", "update", "stopReason"],
        "{ended}"
    );
    assert_eq!(ended.objects()[4]["session"]["sessionId"], "s1", "{ended}");
    chat(&agent, &["--session", "s1", ""]).exits(0).reports("> What was it?\nIt was this.\nheard ");

    let resume = json!({ "sessionCapabilities": { "resume": {} } });
    let agent = script(resume, json!({ "session/resume": [{ "answer": {} }] }));
    let ended = chat(&agent, &["--session", "s1", "hello"]);
    ended.exits(0).prints("heard {\"prompt\":[{\"text\":\"hello\",\"type\":\"text\"}],\"sessionId\":\"s1\"}");
    chat(&agent, &["--continue", "hello"]).exits(1).reports("cannot list its sessions");
}

#[test]
fn a_session_that_cannot_be_gone_on_with_is_a_clear_failure() {
    let list = json!({ "loadSession": true, "sessionCapabilities": { "list": {} } });
    let agent = script(list, json!({ "session/list": [{ "answer": { "sessions": [] } }] }));
    chat(&agent, &["--continue", "hello"]).exits(1).reports("there is no session of / to go on with");
    let agent = script(json!({}), json!({}));
    let ended = chat(&agent, &["--session", "s1", "--json", "hello"]);
    ended.exits(1).reports("can neither load nor resume sessions");
    assert_eq!(kinds(&ended), ["initialized", "error"], "{ended}");
}

#[test]
fn modes_and_options_are_set_before_the_prompt() {
    let model = |value| {
        let values =
            json!([{ "value": "large", "name": "Large one" }, { "value": "small", "name": "Small" }]);
        json!({ "id": "model", "name": "Model", "type": "select", "currentValue": value, "options": values })
    };
    let loud = |value| json!({ "id": "loud", "name": "Loud", "type": "boolean", "currentValue": value });
    let modes = json!({ "currentModeId": "ask", "availableModes": [
        { "id": "ask", "name": "Ask" }, { "id": "code", "name": "Code" },
    ] });
    let opened = json!({ "sessionId": "s1", "modes": modes, "configOptions": [model("small"), loud(false)] });
    let agent = script(
        json!({}),
        json!({
            "session/new": [{ "answer": opened }],
            "session/set_mode": ["hear", { "answer": {} }],
            "session/set_config_option": ["hear", { "answer": { "configOptions": [model("large"), loud(true)] } }],
        }),
    );
    let arguments = ["--mode", "code", "--option", "model=Large one", "--option", "loud=on", "hello"];
    let ended = chat(&agent, &arguments);
    ended
        .exits(0)
        .prints("heard {\"modeId\":\"code\",\"sessionId\":\"s1\"}")
        .reports("mode: code\n")
        .prints("heard {\"configId\":\"model\",\"sessionId\":\"s1\",\"value\":\"large\"}")
        .prints("\"type\":\"boolean\",\"value\":true")
        .reports("Model: large\nLoud: on\n");
    chat(&agent, &["--mode", "no", "hello"]).exits(2).reports("there is no mode `no`; there are: ask, code");
    chat(&agent, &["--option", "no=1", "hello"]).exits(2).reports("there are: model, loud");
    chat(&agent, &["--option", "model=no", "hello"]).exits(2).reports("it can be: large, small");
}

#[test]
fn an_unanswered_change_of_mode_times_out() {
    let modes = json!({ "currentModeId": "ask", "availableModes": [
        { "id": "ask", "name": "Ask" }, { "id": "code", "name": "Code" },
    ] });
    let opened = json!([{ "answer": { "sessionId": "s1", "modes": modes } }]);
    let agent =
        script(json!({}), json!({ "session/new": opened, "session/set_mode": [{ "await": "never" }] }));
    chat(&agent, &["--timeout", "4", "--mode", "code", "hello"]).exits(124).reports("within 4s");
}

#[test]
fn files_are_sent_as_the_agent_takes_them() {
    let folder = tempfile::tempdir().expect("there is room");
    fs::write(folder.path().join("a.txt"), "what is in it").expect("it can be written");
    fs::write(folder.path().join("b.png"), b"\x89PNG\r\n\x1a\n").expect("it can be written");
    let cwd = folder.path().to_str().expect("it is UTF-8");
    let says = |capabilities: Value, stdin: Option<&str>| {
        let agent = acting(&script(json!({ "promptCapabilities": capabilities }), json!({})));
        let text = "see @a.txt and @b.png @@you";
        let mut arguments = vec!["chat", "--cwd", cwd, "--agent", &agent];
        arguments.extend(stdin.is_none().then_some(text));
        let mut program = Program::start(&arguments);
        assert!(stdin.is_none_or(|text| program.write(text.as_bytes())));
        program.close_stdin();
        let ended = program.end(SOON);
        ended.exits(0);
        let heard = ended.stdout.split_once("heard ").expect("it heard something").1;
        let heard: Value =
            serde_json::from_str(heard.lines().next().expect("there is a line")).expect("it is JSON");
        heard["prompt"].clone()
    };
    let text = |text: &str| json!({ "type": "text", "text": text });
    let uri = |name: &str| format!("file://{cwd}/{name}");
    let link = |name: &str| json!({ "type": "resource_link", "name": name, "uri": uri(name) });
    let embedded =
        json!({ "type": "resource", "resource": { "text": "what is in it", "uri": uri("a.txt") } });
    let image =
        json!({ "type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png", "uri": uri("b.png") });
    let all = says(json!({ "image": true, "embeddedContext": true }), None);
    assert_eq!(all, json!([text("see "), embedded, text(" and "), image, text(" @you")]));
    let links = json!([text("see "), link("a.txt"), text(" and "), link("b.png"), text(" @you")]);
    assert_eq!(says(json!({}), None), links);
    // What comes through a pipe may have been written by anybody, and sends no files.
    let piped = says(json!({ "image": true, "embeddedContext": true }), Some("see @a.txt @@you"));
    assert_eq!(piped, json!([text("see @a.txt @@you")]));
}

#[test]
fn without_a_person_nothing_is_asked() {
    let scope = json!({ "sessionId": "s1", "message": "Who?", "mode": "form",
        "requestedSchema": { "type": "object", "properties": {} } });
    let steps =
        json!([{ "ask": ["elicitation/create", scope] }, "hear", { "answer": { "stopReason": "end_turn" } }]);
    let agent = script(json!({}), json!({ "session/prompt": steps }));
    chat(&agent, &["hello"]).exits(0).prints("-32601");
    let agent =
        script(json!({}), json!({ "session/new": [{ "refuse": { "code": -32000, "message": "no" } }] }));
    let hint = "; the code says that the agent wants authorization, but it names no way to log in\n";
    chat(&agent, &["hello"]).exits(3).reports(hint);
}

#[test]
fn a_command_line_that_contradicts_itself_is_wrong_usage() {
    let rows: [&[&str]; 9] = [
        &["--continue", "--session", "s1", "hello"],
        &["--list", "--delete", "s1"],
        &["--list", "hello"],
        &["--delete", "s1", "hello"],
        &["--list", "--mode", "code"],
        &["--delete", "s1", "--option", "a=b"],
        &["--option", "no-equals-sign", "hello"],
        &["--protocol", "3", "hello"],
        &["--session"],
    ];
    rows::for_each(&rows, |arguments| {
        Program::run(&[&["chat"], *arguments].concat(), SOON).exits(2);
    });
}

/// While the output is not read, ^C still works, and the agent gets the cancellation of its turn.
#[test]
fn unread_output_does_not_block_an_interrupt() {
    let folder = tempfile::tempdir().expect("there is room");
    let (told, cancelled) = (folder.path().join("told"), folder.path().join("cancelled"));
    // More than fits into a pipe, and less than makes us stop to read.
    let steps = json!([
        { "repeat": [600, message("agent_message_chunk", &"much ".repeat(200))] },
        { "touch": told },
        { "await": "session/cancel" },
        { "touch": cancelled },
        { "answer": { "stopReason": "cancelled" } },
    ]);
    let agent = acting(&script(json!({}), json!({ "session/prompt": steps })));
    let mut program = Program::start(&["chat", "--agent", &agent, "hello"]);
    program.stdout.pause();
    program.close_stdin();
    for file in [told, cancelled] {
        let deadline = Instant::now() + SOON;
        while !file.exists() {
            assert!(Instant::now() < deadline, "{} does not come", file.display());
            std::thread::sleep(Duration::from_millis(10));
        }
        program.signal(Signal::INT);
    }
    program.stderr.words("interrupted");
    program.stdout.resume();
    program.end(SOON).exits(130);
}

/// An agent that does not end its turn is given up, also where the failure cannot be printed.
#[test]
fn unread_output_does_not_block_a_second_interrupt() {
    let folder = tempfile::tempdir().expect("there is room");
    let told = folder.path().join("told");
    let steps = json!([
        { "repeat": [600, message("agent_message_chunk", &"much ".repeat(200))] },
        { "touch": told },
        { "await": "never" },
    ]);
    let agent = acting(&script(json!({}), json!({ "session/prompt": steps })));
    let mut program = Program::start(&["chat", "--json", "--agent", &agent, "hello"]);
    program.stdout.pause();
    program.close_stdin();
    let deadline = Instant::now() + SOON;
    while !told.exists() {
        assert!(Instant::now() < deadline, "the agent does not get so far");
        std::thread::sleep(Duration::from_millis(10));
    }
    let told = "the agent did not end the turn";
    program.signal_until(Signal::INT, |program| program.stderr.text().contains(told));
    program.stdout.resume();
    program.end(SOON).exits(130);
}

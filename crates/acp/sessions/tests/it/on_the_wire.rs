//! The agent of the README as a program, held against what the protocol demands of an agent. Names bear the ids of the
//! demands, `rows.rs` has all of them.

use std::path::Path;

use serde_json::{Value, json};
use tempfile::{TempDir, tempdir};

use crate::peer::{again, short, text};
use crate::program::{Program, prompt};
use crate::tools::SCRIPT;

fn ready() -> (Program, TempDir) {
    let folder = tempdir().unwrap();
    (Program::ready(folder.path()), folder)
}

/// A server that does not work, and one that does.
fn servers() -> Value {
    let good = json!({ "name": "good", "command": "/bin/sh", "args": ["-c", SCRIPT, "argument"],
        "env": [{ "name": "WORD", "value": "environment" }] });
    json!([{ "name": "broken", "command": "/no/such/program", "args": [], "env": [] }, good])
}

fn allow(program: &mut Program, asked: &Value) {
    let answer = json!({ "outcome": { "outcome": "selected", "optionId": asked["params"]["options"][0]["optionId"] } });
    program.raw(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": answer }).to_string());
}

#[test]
fn tr_01_02_03_05_07_10_only_messages_come_and_the_end_comes_with_that_of_stdin() {
    let (mut program, _folder) = ready();
    let session = program.open("/", json!([]));
    let odd = "é \u{2028} two\nlines\r and \u{0} \u{1F600}";
    let id = program.begin(&session, odd);
    assert_eq!(program.stopped(id), "end_turn");
    assert_eq!(text(&program.updates()[0]), format!("0 tools, you said: {odd}"));
    // In the middle of a turn, too.
    let session = program.open("/", servers());
    program.begin_long(&session);
    assert!(program.end().success());
}

#[test]
fn tr_06_rpc_11_12_bad_lines_are_refused_and_nothing_else_suffers() {
    let (mut program, _folder) = ready();
    for (line, code) in
        [("{\"jsonrpc\":", -32700), ("[]", -32600), ("[{\"jsonrpc\":\"2.0\",\"id\":1}]", -32600)]
    {
        program.raw(line);
        let refused = program.hear(|message| message.get("error").is_some());
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&Value::Null, &json!(code)), "{line}");
    }
    for _storm in 0..100 {
        program.raw("{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":7}");
        program.request("session/prompt", json!({ "sessionId": 5 }));
    }
    assert_eq!(program.rest().iter().filter(|message| message.get("error").is_some()).count(), 200);
    program.open("/", json!([]));
}

#[test]
fn rpc_01_02_id_of_a_request_is_returned_unchanged() {
    let (mut program, _folder) = ready();
    for id in [json!(0), json!(-1), json!(9_007_199_254_740_992_u64), json!("abc-é"), json!("")] {
        program.ask(&id, "session/list", json!({}));
        assert!(program.answer(&id)["result"].is_object(), "{id}");
        program.ask(&id, "nope", json!({}));
        assert!(program.answer(&id)["error"].is_object(), "{id}");
    }
}

#[test]
fn rpc_03_04_05_06_07_10_pr_17_23_unknown_messages_are_refused_or_ignored() {
    let (mut program, _folder) = ready();
    for method in ["_x/unknown", "nope/nope", "session/nope"] {
        assert_eq!(program.refused(method, json!({})), -32601, "{method}");
    }
    let session = program.open("/", json!([]));
    program.notify("nope", json!({}));
    program.notify("_x/told", json!([1]));
    program.notify("$/nope", json!({}));
    program.notify("session/cancel", json!({ "sessionId": 5 }));
    program.notify("session/cancel", json!({ "sessionId": "nobody" }));
    program.notify("session/cancel", json!({ "sessionId": session }));
    program.notify("$/cancel_request", json!({ "requestId": "nobody" }));
    assert_eq!(program.rest(), [Value::Null; 0]);
}

#[test]
fn rpc_13_15_19_21_params_are_read_as_the_schema_says() {
    let (mut program, _folder) = ready();
    let meta = json!({ "traceparent": [1, { "deep": [[[]]] }], "x": null });
    let new = |cwd: &str, servers: Value| json!({ "cwd": cwd, "mcpServers": servers, "_meta": meta });
    for (cwd, servers) in [("repo", json!([])), ("/", json!("x")), ("/", json!(5))] {
        assert_eq!(program.refused("session/new", new(cwd, servers)), -32602);
    }
    let relative = json!({ "cwd": "/", "mcpServers": [], "additionalDirectories": ["lib"] });
    assert_eq!(program.refused("session/new", relative), -32602);
    let session = program.call("session/new", new("/", Value::Null))["result"]["sessionId"].clone();
    let mut say = prompt(session.as_str().unwrap(), "hello");
    say["_meta"] = meta.clone();
    say["prompt"][0]["annotations"] = json!("no annotations");
    let id = program.request("session/prompt", say);
    assert_eq!(program.stopped(id), "end_turn");
}

#[test]
fn init_05_06_09_10_15_19_auth_11_the_beginning() {
    let folder = tempdir().unwrap();
    let mut program = Program::start(folder.path());
    let new = json!({ "cwd": "/", "mcpServers": [] });
    assert_eq!(program.refused("session/new", new), -32600);
    for version in [json!("1"), json!(1.5), json!(-1), json!(70_000)] {
        assert_eq!(program.refused("initialize", json!({ "protocolVersion": version })), -32602, "{version}");
    }
    let hello = json!({ "protocolVersion": 1, "clientCapabilities": { "terminal": "odd" }, "clientInfo": 5 });
    let result = program.call("initialize", hello.clone())["result"].clone();
    assert_eq!(result["protocolVersion"], 1);
    assert!(
        result["agentInfo"]["name"].is_string() && result["agentInfo"]["version"].is_string(),
        "{result}"
    );
    assert_eq!(result["agentCapabilities"]["loadSession"], true);
    assert_eq!(result["authMethods"].as_array().map_or(0, Vec::len), 0);
    let again = program.call("initialize", hello);
    assert!(again.get("error").is_some() || again["result"] == result, "{again}");
    program.open("/", json!([]));
}

#[test]
fn init_07_another_version_is_answered_with_ours() {
    for version in [0, 2, 3, 65_535] {
        let folder = tempdir().unwrap();
        let mut program = Program::start(folder.path());
        for params in [
            json!({ "protocolVersion": version, "clientCapabilities": {} }),
            json!({ "protocolVersion": version, "capabilities": {}, "info": { "name": "c", "version": "1" } }),
        ] {
            let hello = program.call("initialize", params);
            if hello.get("error").is_none() {
                assert_eq!(hello["result"]["protocolVersion"], 1, "{version}");
            } else {
                // The second of them.
                assert_eq!(hello["error"]["code"], -32600, "{hello}");
            }
        }
    }
}

#[test]
fn init_16_17_pr_03_04_a_prompt_of_text_and_a_link() {
    let (mut program, _folder) = ready();
    let session = program.open("/", json!([]));
    let mut params = prompt(&session, "look at ");
    let link = json!({ "type": "resource_link", "name": "it", "uri": "file:///it" });
    params["prompt"].as_array_mut().unwrap().push(link);
    let id = program.request("session/prompt", params);
    assert_eq!(program.stopped(id), "end_turn");
    let updates = program.updates();
    assert_eq!(short(&updates), ["agent 0 tools, you said: look at "]);
}

#[test]
fn ses_02_07_08_09_12_15_28_sessions_outlive_the_program() {
    let (mut program, folder) = ready();
    let session = program.open("/", json!([]));
    for text in ["one", "two"] {
        let id = program.begin(&session, text);
        assert_eq!(program.stopped(id), "end_turn");
    }
    let live = program.updates();
    assert!(program.end().success());

    let mut program = Program::ready(folder.path());
    assert_ne!(program.open("/", json!([])), session);
    let id = program.begin(&session, "early");
    assert_eq!(program.answer(&json!(id))["error"]["code"], -32002, "it is not open");
    assert_eq!(program.refused("session/close", json!({ "sessionId": session })), -32002);
    assert_eq!(program.refused("session/load", again("nobody", "/")), -32002);
    let id = program.request("session/load", again(&session, "/"));
    let mut replayed = Vec::new();
    let answer = loop {
        let message = program.hear(|_| true);
        if message["id"] == id {
            break message;
        }
        replayed.push(message["params"]["update"].clone());
    };
    assert!(answer["result"].is_object(), "{answer}");
    let all = ["user one", "agent 0 tools, you said: one", "user two", "agent 0 tools, you said: two"];
    assert_eq!(short(&replayed), all);
    assert_eq!([&replayed[1], &replayed[3]], [&live[0], &live[1]]);
    assert_eq!(program.updates(), [Value::Null; 0], "nothing comes after the answer");
    assert_eq!(program.call("session/close", json!({ "sessionId": session }))["result"], json!({}));
    assert!(program.call("session/resume", again(&session, "/"))["result"].is_object());
    assert_eq!(program.updates(), [Value::Null; 0], "nothing is replayed");
    let id = program.begin(&session, "three");
    assert_eq!(program.stopped(id), "end_turn");
}

#[test]
fn list_02_03_04_05_08_09_12_del_02_03_sessions_are_listed_and_deleted() {
    let (mut program, _folder) = ready();
    let list = |program: &mut Program, params: Value| {
        let response = program.call("session/list", params);
        let sessions =
            response["result"]["sessions"].as_array().unwrap_or_else(|| panic!("{response}")).clone();
        assert!(sessions.iter().all(|session| Path::new(session["cwd"].as_str().unwrap()).is_absolute()));
        (sessions, response["result"]["nextCursor"].clone())
    };
    assert_eq!(list(&mut program, json!({})).0, [Value::Null; 0]);
    for number in 0..60 {
        program.open(if number == 7 { "/seven" } else { "/" }, json!([]));
    }
    let (first, cursor) = list(&mut program, json!({}));
    let (second, end) = list(&mut program, json!({ "cursor": cursor }));
    assert_eq!((first.len() + second.len(), end), (60, Value::Null));
    assert!(first.len() < 60, "a page is a part");
    assert_eq!(list(&mut program, json!({})).0, first, "listing changes nothing");
    assert_eq!(program.refused("session/list", json!({ "cursor": "garbage" })), -32602);
    assert_eq!(list(&mut program, json!({ "cwd": "/nobody" })).0, [Value::Null; 0]);
    let (seven, _) = list(&mut program, json!({ "cwd": "/seven" }));
    assert_eq!(seven.len(), 1);
    let id = json!({ "sessionId": seven[0]["sessionId"] });
    for gone in [id.clone(), id, json!({ "sessionId": "nobody" })] {
        assert_eq!(program.call("session/delete", gone)["result"], json!({}));
    }
    assert_eq!(list(&mut program, json!({ "cwd": "/seven" })).0, [Value::Null; 0]);
}

#[test]
fn pr_09_tc_01_02_04_07_11_ses_04_21_24_26_a_tool_is_called_where_the_session_is() {
    let (mut program, folder) = ready();
    let cwd = folder.path().canonicalize().unwrap().join("elsewhere");
    std::fs::create_dir(&cwd).unwrap();
    let session = program.open(cwd.to_str().unwrap(), servers());
    let mut calls = Vec::new();
    for _call in 0..2 {
        let (id, asked) = program.begin_long(&session);
        let options = asked["params"]["options"].as_array().unwrap();
        let mut ids: Vec<_> = options.iter().map(|option| option["optionId"].as_str().unwrap()).collect();
        ids.dedup();
        assert_eq!(ids.len(), 4);
        allow(&mut program, &asked);
        assert_eq!(program.stopped(id), "end_turn");
        let updates = program.updates();
        let said = format!("agent environment argument {}", cwd.display());
        let states =
            ["tool_call pending", "tool_call_update in_progress", "tool_call_update completed", &said];
        assert_eq!(short(&updates), states);
        assert_eq!(updates[0]["name"], "where");
        assert_eq!(
            updates[2]["content"][0]["content"],
            json!({ "type": "text", "text": said["agent ".len()..] })
        );
        assert!(
            updates[..3]
                .iter()
                .all(|update| update["toolCallId"] == asked["params"]["toolCall"]["toolCallId"])
        );
        calls.push(updates[0]["toolCallId"].clone());
    }
    assert_ne!(calls[0], calls[1]);
}

#[test]
fn ses_14_pr_10_11_12_13_20_21_a_turn_is_cancelled_in_each_way() {
    let (mut program, _folder) = ready();
    let session = program.open("/", servers());
    for way in ["session/cancel", "$/cancel_request", "session/close"] {
        let (id, asked) = program.begin_long(&session);
        let busy = program.begin(&session, "busy");
        assert_eq!(program.answer(&json!(busy))["error"]["code"], -32600);
        let mut close = None;
        match way {
            "session/close" => close = Some(program.request(way, json!({ "sessionId": session }))),
            "session/cancel" => program.notify(way, json!({ "sessionId": session })),
            _ => program.notify(way, json!({ "requestId": id })),
        }
        let withdrawn = program.hear(|message| message["method"] == "$/cancel_request");
        assert_eq!(withdrawn["params"]["requestId"], asked["id"], "{way}");
        assert_eq!(program.stopped(id), "cancelled", "{way}");
        if let Some(close) = close {
            assert_eq!(program.answer(&json!(close))["result"], json!({}));
        }
        let told = program.updates();
        assert_eq!(told.last().unwrap()["status"], "failed", "{way}");
        allow(&mut program, &asked);
        assert_eq!(program.rest(), [Value::Null; 0], "nothing comes after the answer");
    }
    let id = program.begin(&session, "closed");
    assert_eq!(program.answer(&json!(id))["error"]["code"], -32002);
}

#[test]
fn pr_18_a_cancel_in_the_same_write_as_its_prompt_finds_it() {
    let (mut program, _folder) = ready();
    let session = program.open("/", servers());
    let prompt = json!({ "jsonrpc": "2.0", "id": "p", "method": "session/prompt", "params": prompt(&session, "/call where") });
    let cancel = json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": session } });
    program.raw(&format!("{prompt}\n{cancel}"));
    assert_eq!(program.answer(&json!("p"))["result"]["stopReason"], "cancelled");
}

#[test]
fn pr_06_07_19_sessions_do_not_wait_for_each_other() {
    let (mut program, _folder) = ready();
    let waiting = program.open("/", servers());
    let (id, asked) = program.begin_long(&waiting);
    program.rest();
    let other = program.open("/", json!([]));
    let mut messages = Vec::new();
    for text in ["one", "two"] {
        let turn = program.begin(&other, text);
        assert_eq!(program.stopped(turn), "end_turn");
        let heard = program.rest();
        assert!(heard.iter().all(|message| message["params"]["sessionId"] == other), "{heard:?}");
        messages.push(heard[0]["params"]["update"]["messageId"].clone());
    }
    assert!(messages[0].is_string() && messages[0] != messages[1], "{messages:?}");
    allow(&mut program, &asked);
    assert_eq!(program.stopped(id), "end_turn");
    assert!(program.rest().iter().all(|message| message["params"]["sessionId"] == waiting));
}

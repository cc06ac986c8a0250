//! What a turn does with its hands: MCP tools, permissions, terminals and files.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agentwire_acp_sessions::hub::{CustomTarget, ServerConfig, ServerState};
use agentwire_acp_sessions::schema::{CreateTerminalRequest, StopReason};
use agentwire_acp_sessions::{Ask, Error, SessionAgent, Turn, TurnError, Warning, agent};
use agentwire_mcp_server::schema::{ContentBlock, ToolAnnotations};
use agentwire_mcp_server::{Context, NoArguments, Server, ServerTool, ToolError};
use agentwire_transport::duplex;
use serde_json::{Value, json};

use crate::peer::{Peer, capable, play, short, with};

/// How many calls of `slow` were begun, and how many of those were cancelled.
#[derive(Clone, Default)]
pub(crate) struct Slow {
    begun: Arc<AtomicUsize>,
    cancelled: Arc<AtomicUsize>,
}

struct Running(Arc<AtomicUsize>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A server in this process.
pub(crate) fn within(name: &str, server: Server) -> ServerConfig {
    let target = CustomTarget::new(name, move || {
        let (near, far) = duplex(8);
        tokio::spawn(server.serve(far));
        Ok(near)
    });
    ServerConfig::new(name, target)
}

pub(crate) fn tools(slow: &Slow) -> Server {
    let slow = slow.clone();
    let look = async |_: NoArguments, _: Context| "seen";
    Server::new("tools", "1")
        .tool("fail", "Fails", async |_: NoArguments, _: Context| -> Result<&str, ToolError> {
            Err(ToolError::new("it broke"))
        })
        .tool("picture", "Shows", async |_: NoArguments, _: Context| {
            let block = json!({ "type": "image", "data": "aGk=", "mimeType": "image/png" });
            serde_json::from_value::<ContentBlock>(block).unwrap()
        })
        .tool("steps", "Reports", async |_: NoArguments, cx: Context| {
            for step in 1..=2 {
                cx.progress(f64::from(step), Some(2.0), None).await.unwrap();
                tokio::time::sleep(std::time::Duration::from_secs(1)).await;
            }
            "done"
        })
        .tool("slow", "Never ends", move |_: NoArguments, _: Context| {
            slow.begun.fetch_add(1, Ordering::Relaxed);
            let running = Running(slow.cancelled.clone());
            async move {
                let _running = running;
                std::future::pending::<()>().await;
            }
        })
        .with_tool(
            ServerTool::new("look", "Looks", look)
                .title("Look around")
                .annotations(ToolAnnotations::default().read_only_hint(true)),
        )
}

/// Calls the tool that the prompt names, and says what became of it.
fn calling(ask: Ask) -> SessionAgent<impl AsyncFn(Turn) -> Result<StopReason, Error>> {
    let agent = agent(async |turn: Turn| {
        let called = turn.call_tool(turn.text(), json!({ "x": 1 })).await;
        let said = match called {
            Ok(result) => format!("{} {}", result.is_error, result.text()),
            Err(TurnError::NotPermitted { tool, .. }) => format!("not permitted: {tool}"),
            Err(error) => format!("error: {error}"),
        };
        turn.say(said).await?;
        Ok(StopReason::EndTurn)
    });
    agent.mcp_server(within("tools", tools(&Slow::default()))).ask(ask)
}

#[tokio::test(start_paused = true)]
async fn tc_01_to_04_07_a_call_is_announced_permitted_begun_and_ended() {
    with(calling(Ask::Client), async |peer| {
        let session = peer.open("/repo").await;
        let prompt = peer.begin_prompt(&session, "look").await;
        let ask = peer.asked("session/request_permission").await;
        let announced = peer.told("tool_call").await;
        assert_eq!(announced["title"], "Look around");
        assert_eq!(announced["name"], "look");
        assert_eq!(announced["kind"], "read");
        assert_eq!(announced["status"], "pending");
        assert_eq!(announced["rawInput"], json!({ "x": 1 }));
        assert_eq!(ask["params"]["sessionId"], session);
        assert_eq!(ask["params"]["toolCall"]["toolCallId"], announced["toolCallId"]);
        let options = ask["params"]["options"].as_array().unwrap();
        let kinds: Vec<_> = options.iter().map(|option| option["kind"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["allow_once", "allow_always", "reject_once", "reject_always"], "TC-11");
        choose(peer, &ask, "allow_once").await;
        assert_eq!(peer.stopped(prompt).await, "end_turn");
        let updates = peer.updates();
        let said = ["tool_call_update in_progress", "tool_call_update completed", "agent false seen"];
        assert_eq!(short(&updates), said);
        assert!(updates[..2].iter().all(|update| update["toolCallId"] == announced["toolCallId"]));
        assert_eq!(updates[1]["content"][0]["content"]["text"], "seen");
        assert_eq!(updates[1]["rawOutput"]["content"][0]["text"], "seen");
    })
    .await;
}

/// Answers a question with the option of that kind.
async fn choose(peer: &mut Peer, ask: &Value, kind: &str) {
    let options = ask["params"]["options"].as_array().unwrap();
    let option = options.iter().find(|option| option["kind"] == kind).unwrap();
    let outcome = json!({ "outcome": "selected", "optionId": option["optionId"] });
    peer.answer(ask, json!({ "outcome": outcome })).await;
}

#[tokio::test(start_paused = true)]
async fn what_was_decided_once_is_asked_again_and_what_was_decided_for_always_is_not() {
    with(calling(Ask::Client), async |peer| {
        let session = peer.open("/repo").await;
        // The tool, what is answered (nothing where nobody may be asked), and what comes of it.
        let rounds = [
            ("look", Some("reject_once"), "agent not permitted: look"),
            ("look", Some("allow_always"), "agent false seen"),
            ("look", None, "agent false seen"),
            ("fail", Some("reject_always"), "agent not permitted: fail"),
            ("fail", None, "agent not permitted: fail"),
            ("look", None, "agent false seen"),
        ];
        for (tool, answer, said) in rounds {
            let prompt = peer.begin_prompt(&session, tool).await;
            if let Some(kind) = answer {
                let ask = peer.asked("session/request_permission").await;
                choose(peer, &ask, kind).await;
            }
            assert_eq!(peer.stopped(prompt).await, "end_turn");
            let updates = peer.updates();
            assert_eq!(short(&updates).last().unwrap(), said);
            let failed = updates.iter().any(|update| update["status"] == "failed");
            assert_eq!(failed, said.contains("not"));
        }
        // Another session has rules of its own, and an answer that was not offered allows nothing.
        let other = peer.open("/repo").await;
        for outcome in
            [json!({ "outcome": "selected", "optionId": "yes!" }), json!({ "outcome": "cancelled" })]
        {
            let prompt = peer.begin_prompt(&other, "look").await;
            let ask = peer.asked("session/request_permission").await;
            peer.answer(&ask, json!({ "outcome": outcome })).await;
            assert_eq!(peer.stopped(prompt).await, "end_turn");
            assert_eq!(short(&peer.updates()).last().unwrap(), "agent not permitted: look");
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn con_03_what_tools_give_is_passed_on_and_their_failures_and_progress_are_told() {
    with(calling(Ask::Nobody), async |peer| {
        let session = peer.open("/repo").await;
        let mut ids = Vec::new();
        for (tool, updates) in [
            (
                "picture",
                vec!["tool_call pending", "tool_call_update in_progress", "tool_call_update completed"],
            ),
            ("fail", vec!["tool_call pending", "tool_call_update in_progress", "tool_call_update failed"]),
            ("nope", vec!["tool_call pending", "tool_call_update failed"]),
            (
                "steps",
                vec![
                    "tool_call pending",
                    "tool_call_update in_progress",
                    "tool_call_update -",
                    "tool_call_update -",
                    "tool_call_update completed",
                ],
            ),
        ] {
            peer.prompt(&session, tool).await;
            let came = peer.updates();
            assert_eq!(short(&came[..came.len() - 1]), updates, "{tool}");
            ids.push(came[0]["toolCallId"].clone());
            let last = &came[came.len() - 2];
            match tool {
                "picture" => {
                    let picture = json!({ "type": "image", "data": "aGk=", "mimeType": "image/png" });
                    assert_eq!(last["content"], json!([{ "type": "content", "content": picture }]));
                }
                "steps" => assert_eq!(came[2]["content"][0]["content"]["text"], "1 of 2"),
                "nope" => assert_eq!(short(&came)[2], "agent error: there is no tool `nope`"),
                _ => assert_eq!(last["content"][0]["content"]["text"], "it broke"),
            }
        }
        // Unique in the session, also after it was opened anew (TC-02).
        peer.call("session/load", crate::peer::again(&session, "/repo")).await;
        peer.updates();
        peer.prompt(&session, "look").await;
        let id = peer.updates()[0]["toolCallId"].clone();
        assert!(!ids.contains(&id));
        ids.dedup();
        assert_eq!(ids.len(), 4);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn pr_09_cancelling_ends_a_call_at_its_server_and_withdraws_a_question() {
    let slow = Slow::default();
    let agent = calling(Ask::Client).mcp_server(within("mine", tools(&slow)));
    with(agent, async |peer| {
        let session = peer.open("/repo").await;
        // While it is asked.
        let prompt = peer.begin_prompt(&session, "mine__slow").await;
        let ask = peer.asked("session/request_permission").await;
        peer.cancel(&session).await;
        assert_eq!(peer.stopped(prompt).await, "cancelled");
        let withdrawn = peer.next().await;
        let withdrawn = if withdrawn["method"] == "session/update" { peer.next().await } else { withdrawn };
        assert_eq!(withdrawn["method"], "$/cancel_request", "{withdrawn}");
        assert_eq!(withdrawn["params"]["requestId"], ask["id"]);
        peer.answer(&ask, json!({ "outcome": { "outcome": "cancelled" } })).await;
        assert_eq!(short(&peer.updates())[0], "tool_call_update failed");
        assert_eq!(slow.begun.load(Ordering::Relaxed), 0);
        // While it runs.
        let prompt = peer.begin_prompt(&session, "mine__slow").await;
        let ask = peer.asked("session/request_permission").await;
        choose(peer, &ask, "allow_once").await;
        while slow.begun.load(Ordering::Relaxed) == 0 {
            tokio::task::yield_now().await;
        }
        peer.cancel(&session).await;
        assert_eq!(peer.stopped(prompt).await, "cancelled");
        let said = short(&peer.updates());
        assert_eq!(&said[2], "tool_call_update failed");
        peer.silence().await;
        assert_eq!(slow.cancelled.load(Ordering::Relaxed), 1, "its server has ended it");
    })
    .await;
}

#[tokio::test]
async fn ses_21_24_26_servers_of_the_client_are_started_and_a_broken_one_costs_only_itself() {
    // A process takes real time.
    let script = r#"
        while IFS= read -r line; do
            id=${line#*\"id\":}; id=${id%%,*}
            case $line in
            *'"server/discover"'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}\n' "$id" ;;
            *'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}\n' "$id" ;;
            *'"tools/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"where","inputSchema":{"type":"object"}}]}}\n' "$id" ;;
            *'"tools/call"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s %s %s"}]}}\n' "$id" "$WORD" "$0" "$PWD" ;;
            esac
        done"#;
    let warnings: Arc<std::sync::Mutex<Vec<String>>> = Arc::default();
    let heard = warnings.clone();
    let agent = agent(async |turn: Turn| {
        let names: Vec<_> = turn.mcp().tools().await.into_iter().map(|tool| tool.name).collect();
        let result = turn.call_tool("where", ()).ask(Ask::Nobody).await?;
        turn.say(format!("{names:?} {}", result.text())).await?;
        Ok(StopReason::EndTurn)
    })
    .on_warning(move |warning| {
        assert!(matches!(&warning, Warning::McpServer { state: ServerState::Failed(_), .. }));
        heard.lock().unwrap().push(warning.to_string());
    });
    with(agent, async |peer| {
        let directory = tempfile::tempdir().unwrap();
        let cwd = directory.path().canonicalize().unwrap();
        let cwd = cwd.to_str().unwrap();
        let servers = json!([
            { "name": "broken", "command": "/no/such/program", "args": [], "env": [] },
            { "type": "http", "name": "far", "url": "http://127.0.0.1:1/mcp", "headers": [] },
            {
                "name": "good",
                "command": "/bin/sh",
                "args": ["-c", script, "argument"],
                "env": [{ "name": "WORD", "value": "environment" }],
            },
        ]);
        let session = peer.call("session/new", json!({ "cwd": cwd, "mcpServers": servers })).await;
        assert_eq!(peer.prompt(session["sessionId"].as_str().unwrap(), "go").await, "end_turn");
        let said = format!("agent [\"where\"] environment argument {cwd}");
        assert_eq!(short(&peer.updates()).last().unwrap(), &said);
        let bad = json!({ "type": "http", "name": "bad", "url": "no url", "headers": [] });
        let new = json!({ "cwd": cwd, "mcpServers": [bad] });
        assert_eq!(peer.refused("session/new", new).await, -32602);
    })
    .await;
    let mut warnings = warnings.lock().unwrap().clone();
    warnings.sort_unstable();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings[0].contains("broken: failed") && warnings[1].contains("far: failed"), "{warnings:?}");
}

/// Runs a command in one of several ways.
async fn run(turn: Turn) -> Result<StopReason, Error> {
    let request = CreateTerminalRequest::new(turn.session_id(), "ls");
    let terminal = turn.terminal(request).await?;
    match &*turn.text() {
        "whole" => {
            let exit = terminal.wait().await?;
            let output = terminal.output().await?;
            terminal.release().await?;
            turn.say(format!("{} {:?}", output.output, exit.exit_code)).await?;
        }
        "kill" => {
            terminal.kill().await?;
            terminal.release().await?;
        }
        "wait" => drop(terminal.wait().await?),
        "forget" => std::mem::forget(terminal),
        _ => {}
    }
    Ok(StopReason::EndTurn)
}

/// Answers requests about terminals until the prompt is answered. Gives what was asked, and why the turn stopped.
async fn terminals(peer: &mut Peer, prompt: u64, cancel_at: Option<&str>) -> (Vec<String>, String) {
    let mut asked = Vec::new();
    loop {
        let message = peer.next().await;
        let Some(method) = message["method"].as_str().map(str::to_owned) else {
            assert_eq!(message["id"], prompt);
            return (asked, message["result"]["stopReason"].as_str().unwrap_or("error").to_owned());
        };
        let Some(method) = method.strip_prefix("terminal/") else { continue };
        asked.push(method.to_owned());
        if method == "create" {
            assert_eq!(message["params"]["cwd"], "/repo", "TERM-10, SES-04");
        }
        let session = message["params"]["sessionId"].as_str().unwrap().to_owned();
        let result = match method {
            "create" => json!({ "terminalId": "t" }),
            "output" => json!({ "output": "files", "truncated": false }),
            "wait_for_exit" => json!({ "exitCode": 0 }),
            _ => json!({}),
        };
        if cancel_at == Some(method) {
            peer.cancel(&session).await;
            if method == "wait_for_exit" {
                continue;
            }
        }
        peer.answer(&message, result).await;
    }
}

#[tokio::test(start_paused = true)]
async fn term_04_10_every_terminal_is_given_back_before_the_turn_is_answered() {
    with(agent(run), async |peer| {
        let session = peer.open("/repo").await;
        let rows: [(_, _, _, &[_]); 7] = [
            ("whole", None, "end_turn", &["create", "wait_for_exit", "output", "release"]),
            ("kill", None, "end_turn", &["create", "kill", "release"]),
            ("drop", None, "end_turn", &["create", "kill", "release"]),
            ("forget", None, "end_turn", &["create", "kill", "release"]),
            ("wait", None, "end_turn", &["create", "wait_for_exit", "release"]),
            // One that is made although nobody waits for it any more.
            ("whole", Some("create"), "cancelled", &["create", "kill", "release"]),
            ("wait", Some("wait_for_exit"), "cancelled", &["create", "wait_for_exit", "kill", "release"]),
        ];
        for (text, cancel_at, reason, expected) in rows {
            let prompt = peer.begin_prompt(&session, text).await;
            let (asked, stopped) = terminals(peer, prompt, cancel_at).await;
            assert_eq!(stopped, reason, "{text} {cancel_at:?}");
            assert_eq!(asked, expected, "{text} {cancel_at:?}");
        }
    })
    .await;
}

/// A client that never answers about its terminals does not keep a turn from ending.
#[tokio::test(start_paused = true)]
async fn a_turn_does_not_wait_for_ever_to_give_a_terminal_back() {
    with(agent(run), async |peer| {
        let session = peer.open("/repo").await;
        let prompt = peer.begin_prompt(&session, "drop").await;
        let create = peer.asked("terminal/create").await;
        peer.answer(&create, json!({ "terminalId": "t" })).await;
        assert_eq!(peer.stopped(prompt).await, "end_turn");
        peer.asked("terminal/release").await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn term_01_fs_01_03_nothing_is_asked_of_a_client_that_cannot_or_outside_of_the_roots() {
    let agent = agent(async |turn: Turn| {
        let said = match &*turn.text() {
            "terminal" => {
                let request = CreateTerminalRequest::new(turn.session_id(), "ls");
                turn.terminal(request).await.map(|_| String::new())
            }
            "write" => turn.write_text_file("b.txt", "text").await.map(|()| "written".into()),
            path => turn.read_text_file(path).await,
        };
        turn.say(said.unwrap_or_else(|error| error.to_string())).await?;
        Ok(StopReason::EndTurn)
    });
    let try_all = async |peer: &mut Peer, answers: bool, rows: &[(&str, &str)]| {
        let new = json!({ "cwd": "/repo", "additionalDirectories": ["/lib"], "mcpServers": [] });
        let session = peer.call("session/new", new).await["sessionId"].as_str().unwrap().to_owned();
        for (text, expected) in rows {
            let prompt = peer.begin_prompt(&session, text).await;
            if answers && expected.starts_with('/') {
                let ask = peer.asked("fs/read_text_file").await;
                let path = ask["params"]["path"].clone();
                peer.answer(&ask, json!({ "content": path })).await;
            }
            peer.stopped(prompt).await;
            let said = short(&peer.updates()).pop().unwrap();
            assert!(said.contains(expected), "{text}: {said}");
        }
    };
    play(agent, async |peer| {
        peer.initialize(json!({ "fs": { "readTextFile": true, "writeTextFile": false } })).await;
        try_all(
            peer,
            true,
            &[
                ("terminal", "capability terminal"),
                ("write", "fs.writeTextFile"),
                ("a.txt", "/repo/a.txt"),
                ("x/../../lib/b", "/lib/b"),
                ("/repo/./c", "/repo/c"),
                ("../secret", "outside"),
                ("/repository", "outside"),
                ("/repo/../etc", "outside"),
            ],
        )
        .await;
    })
    .await;
    assert!(capable()["terminal"].as_bool().unwrap());
}

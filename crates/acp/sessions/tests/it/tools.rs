//! The tools and permissions of a turn.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agentwire_acp_sessions::hub::{CustomTarget, ServerConfig, ServerState};
use agentwire_acp_sessions::schema::{StopReason, ToolCallUpdate};
use agentwire_acp_sessions::{PermissionPolicy, SessionAgent, Turn, TurnError, Warning, agent};
use agentwire_mcp_server::schema::{ContentBlock, ToolAnnotations};
use agentwire_mcp_server::{Context, NoArguments, Server, ServerTool, ToolError};
use agentwire_transport::duplex;
use serde_json::{Value, json};

use crate::peer::{Peer, short, with};

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

/// An MCP server for `sh -c`: its one tool, `where`, returns the variable WORD, the first argument and the directory.
pub(crate) const SCRIPT: &str = r#"
        while IFS= read -r line; do
            id=${line#*\"id\":}; id=${id%%,*}
            case $line in
            *'"server/discover"'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}\n' "$id" ;;
            *'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}\n' "$id" ;;
            *'"tools/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"where","inputSchema":{"type":"object"}}]}}\n' "$id" ;;
            *'"tools/call"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s %s %s"}]}}\n' "$id" "$WORD" "$0" "$PWD" ;;
            esac
        done"#;

/// Calls the tool that the prompt names, and sends its outcome.
fn calling(policy: PermissionPolicy) -> SessionAgent {
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
    agent.mcp_server(within("tools", tools(&Slow::default()))).permissions(policy)
}

#[tokio::test(start_paused = true)]
async fn tc_01_to_04_07_a_call_is_announced_permitted_begun_and_ended() {
    with(calling(PermissionPolicy::Ask), async |peer| {
        let session = peer.open("/repo").await;
        let prompt = peer.begin_prompt(&session, "look").await;
        let ask = peer.asked("session/request_permission").await;
        let announced = peer.told("tool_call").await;
        assert_eq!(announced["title"], "tools: Look around");
        assert_eq!(announced["name"], "look");
        assert_eq!(announced["kind"], "read");
        assert_eq!(announced["status"], "pending");
        assert_eq!(announced["rawInput"], json!({ "x": 1 }));
        assert_eq!(ask["params"]["sessionId"], session);
        assert_eq!(ask["params"]["toolCall"]["toolCallId"], announced["toolCallId"]);
        let options = ask["params"]["options"].as_array().unwrap();
        let kinds: Vec<_> = options.iter().map(|option| option["kind"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["allow_once", "reject_once", "allow_always", "reject_always"], "TC-11");
        let name = options[2]["name"].as_str().unwrap();
        assert!(name.starts_with("Always allow: every call of `look` of the MCP server `"), "{name}");
        choose(peer, &ask, "allow_once").await;
        assert_eq!(peer.stopped(prompt).await, "end_turn");
        let updates = peer.updates();
        let said = ["tool_call_update in_progress", "tool_call_update completed", "agent false seen"];
        assert_eq!(short(&updates), said);
        assert!(updates[..2].iter().all(|update| update["toolCallId"] == announced["toolCallId"]));
        assert_eq!(updates[1]["content"][0]["content"]["text"], "seen");
        assert_eq!(updates[1]["rawOutput"].get("content"), None, "it is said once");
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
async fn decision_for_once_is_asked_again_and_decision_for_always_is_not() {
    with(calling(PermissionPolicy::Ask), async |peer| {
        let session = peer.open("/repo").await;
        // The tool, the answer (empty if no person may be asked), and the outcome.
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

/// Tools of the agent's own are asked for with the same answers as those of servers.
#[tokio::test(start_paused = true)]
async fn answer_for_always_is_not_asked_again() {
    let agent = agent(async |turn: Turn| {
        let call = ToolCallUpdate::new(turn.new_tool_call_id()).title("Own");
        let allowed = turn.permits(&turn.text(), call).await?;
        turn.say(format!("{} {allowed}", turn.text())).await?;
        Ok(StopReason::EndTurn)
    });
    with(agent, async |peer| {
        let session = peer.open("/repo").await;
        let rows = [
            ("write", Some("allow_once"), "agent write true"),
            ("write", Some("allow_always"), "agent write true"),
            ("write", None, "agent write true"),
            ("run", Some("reject_once"), "agent run false"),
            ("run", Some("reject_always"), "agent run false"),
            ("run", None, "agent run false"),
            ("run more", Some("reject_once"), "agent run more false"),
        ];
        let mut ids = Vec::new();
        for (tool, answer, said) in rows {
            let prompt = peer.begin_prompt(&session, tool).await;
            if let Some(answer) = answer {
                let ask = peer.asked("session/request_permission").await;
                // "Always" names its subject.
                let names = ask["params"]["options"].as_array().unwrap().iter().map(|option| &option["name"]);
                let always = [format!("Always allow: {tool}"), format!("Always reject: {tool}")];
                assert_eq!(names.collect::<Vec<_>>(), ["Allow", "Reject", &*always[0], &*always[1]]);
                ids.push(ask["params"]["toolCall"]["toolCallId"].as_str().unwrap().to_owned());
                choose(peer, &ask, answer).await;
            }
            assert_eq!(peer.stopped(prompt).await, "end_turn");
            assert_eq!(short(&peer.updates()), [said]);
        }
        ids.dedup();
        assert_eq!(ids.len(), 5);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn content_failures_and_progress_of_tools_are_passed_on() {
    with(calling(PermissionPolicy::Allow), async |peer| {
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
        // Unique in the session, also after it was opened again (TC-02).
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
    let agent = calling(PermissionPolicy::Ask).mcp_server(within("mine", tools(&slow)));
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

#[cfg(feature = "http")]
#[tokio::test]
async fn ses_21_24_26_servers_of_the_client_are_started_and_a_broken_one_affects_no_other() {
    // A process takes real time.
    let warnings: Arc<std::sync::Mutex<Vec<String>>> = Arc::default();
    let heard = warnings.clone();
    let agent = agent(async |turn: Turn| {
        let names: Vec<_> = turn.mcp().tools().await.into_iter().map(|tool| tool.name).collect();
        let result = turn.call_tool("where", ()).permissions(PermissionPolicy::Allow).await?;
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
                "args": ["-c", SCRIPT, "argument"],
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

#[tokio::test(start_paused = true)]
async fn a_server_that_a_turn_adds_and_that_is_broken_is_reported_too() {
    let warnings: Arc<std::sync::Mutex<Vec<String>>> = Arc::default();
    let heard = warnings.clone();
    let agent = agent(async |turn: Turn| {
        // The session has no servers, or only some that have gone.
        let broken = CustomTarget::new("b", || Err::<agentwire_transport::Duplex, _>("it is broken".into()));
        for name in ["one", "two"] {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            let name = turn.mcp().add(ServerConfig::new(name, broken.clone()))?;
            turn.mcp().ready().await;
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            turn.mcp().remove(&name)?;
        }
        Ok(StopReason::EndTurn)
    })
    .on_warning(move |warning| heard.lock().unwrap().push(warning.to_string()));
    with(agent, async |peer| {
        let session = peer.open("/repo").await;
        assert_eq!(peer.prompt(&session, "go").await, "end_turn");
    })
    .await;
    let warnings = warnings.lock().unwrap().clone();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
}

/// Each report is written to the store, so a server must not decide how many there are.
#[tokio::test(start_paused = true)]
async fn a_server_that_reports_without_pause_is_shown_now_and_then() {
    let flood = async |_: NoArguments, cx: Context| {
        for step in 1..=2000 {
            cx.progress(f64::from(step), Some(2000.0), None).await.unwrap();
        }
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        "done"
    };
    let server = Server::new("s", "1").tool("flood", "Reports", flood);
    let agent = agent(async |turn: Turn| {
        turn.call_tool("flood", ()).permissions(PermissionPolicy::Allow).await?;
        Ok(StopReason::EndTurn)
    });
    with(agent.mcp_server(within("s", server)), async |peer| {
        let session = peer.open("/repo").await;
        assert_eq!(peer.prompt(&session, "go").await, "end_turn");
        let came = peer.updates();
        let reports: Vec<_> = came.iter().filter(|update| update["status"].is_null()).collect();
        assert!((1..20).contains(&reports.len()), "{}", reports.len());
        assert_eq!(
            reports.last().unwrap()["content"][0]["content"]["text"],
            "2000 of 2000",
            "the last one is shown"
        );
    })
    .await;
}

//! The work of a turn through its client: terminals and files.

use agentwire_acp_sessions::schema::{CreateTerminalRequest, StopReason};
use agentwire_acp_sessions::{BoxError, Turn, agent};
use serde_json::json;

use crate::peer::{Peer, capable, play, short, with};

/// Runs a command in one of several ways.
async fn run(turn: Turn) -> Result<StopReason, BoxError> {
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
async fn term_04_10_every_terminal_is_released_before_the_prompt_is_answered() {
    with(agent(run), async |peer| {
        let session = peer.open("/repo").await;
        let rows: [(_, _, _, &[_]); 7] = [
            ("whole", None, "end_turn", &["create", "wait_for_exit", "output", "release"]),
            ("kill", None, "end_turn", &["create", "kill", "release"]),
            ("drop", None, "end_turn", &["create", "kill", "release"]),
            ("forget", None, "end_turn", &["create", "kill", "release"]),
            ("wait", None, "end_turn", &["create", "wait_for_exit", "release"]),
            // One that is made although no turn waits for it any more.
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

#[tokio::test(start_paused = true)]
async fn a_terminal_is_shown_in_a_tool_call_while_it_is_used() {
    let agent = agent(async |turn: Turn| {
        let listing = turn.tool("List").run(async |running| {
            let terminal = turn.terminal(CreateTerminalRequest::new(turn.session_id(), "ls")).await?;
            running.show(&terminal).await?;
            let ended = terminal.finish().await?;
            Ok(format!("{}, {}", ended.output, ended.exit_status.unwrap_or_default()))
        });
        listing.await?;
        Ok(StopReason::EndTurn)
    });
    with(agent, async |peer| {
        let session = peer.open("/repo").await;
        let prompt = peer.begin_prompt(&session, "list").await;
        let create = peer.asked("terminal/create").await;
        peer.answer(&create, json!({ "terminalId": "t" })).await;
        let wait = peer.asked("terminal/wait_for_exit").await;
        let shown = peer.updates().pop().unwrap();
        assert_eq!(shown["content"], json!([{ "type": "terminal", "terminalId": "t" }]));
        peer.answer(&wait, json!({ "exitCode": 0 })).await;
        let output = peer.asked("terminal/output").await;
        peer.answer(&output, json!({ "output": "files", "truncated": false })).await;
        let release = peer.asked("terminal/release").await;
        peer.answer(&release, json!({})).await;
        assert_eq!(peer.stopped(prompt).await, "end_turn");
        let shown = peer.updates().pop().unwrap();
        assert_eq!(shown["content"][0]["content"]["text"], "files, exit code 0");
    })
    .await;
}

/// A client that never answers about its terminals does not keep a turn from ending.
#[tokio::test(start_paused = true)]
async fn turn_waits_only_the_grace_period_to_release_a_terminal() {
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
async fn term_01_fs_01_03_unsupported_methods_and_paths_outside_of_the_roots_are_not_requested() {
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

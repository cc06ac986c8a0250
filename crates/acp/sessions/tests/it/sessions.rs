//! Sessions: begun, loaded, resumed, listed, closed and deleted.

use std::sync::Arc;

use agentwire_acp_sessions::schema::{
    AvailableCommand, Implementation, PromptCapabilities, StopReason, UnstructuredCommandInput,
};
use agentwire_acp_sessions::{BoxError, MemoryStore, SessionAgent, SessionStore, Turn, agent};
use serde_json::{Value, json};

use crate::peer::{Peer, again, play, short, text, with};

/// Repeats the prompt, or waits, thinks, or sends its directory.
async fn echo(turn: Turn) -> Result<StopReason, BoxError> {
    match &*turn.text() {
        "wait" => turn.cancelled().await,
        "think" => {
            turn.think("hm").await?;
            turn.say("a").await?;
            turn.say("b").await?;
            turn.title("Thoughts".to_owned()).await?;
        }
        "where" => turn.say(format!("{:?} {:?}", turn.cwd(), turn.roots())).await?,
        text => turn.say(format!("you said {text}")).await?,
    }
    Ok(StopReason::EndTurn)
}

fn on(store: &Arc<impl SessionStore + 'static>) -> SessionAgent {
    agent(echo).shared_store(store.clone())
}

#[tokio::test(start_paused = true)]
async fn init_05_09_15_everything_that_is_offered_is_advertised_and_nothing_else() {
    let agent = agent(echo)
        .info(Implementation::new("mine", "2"))
        .prompt_capabilities(PromptCapabilities::new().image(true));
    play(agent, async |peer| {
        let hello = peer.initialize(json!({})).await;
        assert_eq!(hello["agentInfo"], json!({ "name": "mine", "version": "2" }));
        assert_eq!(hello["authMethods"].as_array().map_or(0, Vec::len), 0);
        let offer = &hello["agentCapabilities"];
        assert_eq!(offer["loadSession"], true);
        assert_eq!(
            offer["mcpCapabilities"],
            json!({ "http": cfg!(feature = "http"), "sse": cfg!(feature = "sse") })
        );
        assert_eq!(offer["promptCapabilities"]["image"], true);
        assert_eq!(offer["promptCapabilities"]["audio"], false);
        for method in ["list", "delete", "additionalDirectories", "resume", "close"] {
            assert!(offer["sessionCapabilities"][method].is_object(), "{method}");
        }
        assert!(offer["auth"].get("logout").is_none());
        assert_eq!(peer.refused("logout", json!({})).await, -32601);
        let session = peer.open("/repo").await;
        let mode = json!({ "sessionId": session, "modeId": "ask" });
        assert_eq!(peer.refused("session/set_mode", mode).await, -32602);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn ses_02_ids_are_random_and_unique_across_runs() {
    let mut ids = Vec::new();
    for _run in 0..2 {
        with(agent(echo), async |peer| {
            for _ in 0..20 {
                ids.push(peer.open("/repo").await);
            }
        })
        .await;
    }
    assert!(ids.iter().all(|id| id.len() == 32));
    let mut bits: Vec<u128> = ids.iter().map(|id| u128::from_str_radix(id, 16).unwrap()).collect();
    // Over forty numbers no bit is always the same.
    assert_eq!(bits.iter().fold(0, |all, bits| all | bits), u128::MAX);
    assert_eq!(bits.iter().fold(u128::MAX, |all, bits| all & bits), 0);
    bits.sort_unstable();
    bits.dedup();
    assert_eq!(bits.len(), 40);
}

#[tokio::test(start_paused = true)]
async fn ses_03_04_the_working_directory_is_absolute_and_the_first_root() {
    with(agent(echo), async |peer| {
        assert_eq!(peer.refused("session/new", json!({ "cwd": "repo", "mcpServers": [] })).await, -32602);
        let params = json!({ "cwd": "/repo", "additionalDirectories": ["/lib"], "mcpServers": [] });
        let session = peer.call("session/new", params).await["sessionId"].as_str().unwrap().to_owned();
        peer.prompt(&session, "where").await;
        assert_eq!(text(&peer.updates()[0]), r#""/repo" ["/repo", "/lib"]"#);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn ses_07_08_09_load_replays_all_updates_in_order_before_the_answer() {
    let store = Arc::new(MemoryStore::new());
    let (mut session, mut live) = (String::new(), Vec::new());
    with(on(&store), async |peer| {
        session = peer.open("/repo").await;
        for prompt in ["one", "think", "two"] {
            peer.prompt(&session, prompt).await;
        }
        live = peer.updates();
    })
    .await;
    with(on(&store), async |peer| {
        let id = peer.request("session/load", again(&session, "/repo")).await;
        let response = peer.response(id).await;
        assert!(response["result"].is_object());
        let replayed = peer.updates();
        let said = [
            "user one",
            "agent you said one",
            "user think",
            "thought hm",
            "agent a",
            "agent b",
            "session_info_update",
            "user two",
            "agent you said two",
        ];
        assert_eq!(short(&replayed), said);
        let told: Vec<_> = replayed
            .iter()
            .filter(|update| update["sessionUpdate"] != "user_message_chunk")
            .cloned()
            .collect();
        assert_eq!(told, live, "what was sent is replayed as it was sent");
        peer.silence().await;
        // It goes on where it was.
        assert_eq!(peer.prompt(&session, "three").await, "end_turn");
        assert_eq!(short(&peer.updates()), ["agent you said three"]);
        peer.call("session/load", again(&session, "/repo")).await;
        assert_eq!(peer.updates().len(), 11, "loading it once more shows the new turn too");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn ses_12_resume_replays_nothing_and_keeps_the_conversation() {
    let store = Arc::new(MemoryStore::new());
    let mut session = String::new();
    with(on(&store), async |peer| {
        session = peer.open("/repo").await;
        peer.prompt(&session, "one").await;
    })
    .await;
    let history = agent(async |turn: Turn| {
        let history = turn.history().await?;
        turn.say(format!("{}", history.len())).await?;
        Ok(StopReason::EndTurn)
    });
    with(history.shared_store(store.clone()), async |peer| {
        assert_eq!(peer.begin_prompt(&session, "early").await, 2);
        assert_eq!(peer.response(2).await["error"]["code"], -32002, "it is not open yet");
        let params = json!({ "sessionId": session, "cwd": "/repo" });
        assert!(peer.call("session/resume", params).await.is_object());
        peer.silence().await;
        peer.prompt(&session, "two").await;
        assert_eq!(text(&peer.updates()[0]), "3", "two of the first turn, and this prompt");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn ses_14_close_ends_the_turn_as_cancelled_and_frees_the_session() {
    with(agent(echo), async |peer| {
        let session = peer.open("/repo").await;
        let prompt = peer.begin_prompt(&session, "wait").await;
        let close = peer.request("session/close", json!({ "sessionId": session })).await;
        let first = peer.next().await;
        assert_eq!((&first["id"], &first["result"]["stopReason"]), (&json!(prompt), &json!("cancelled")));
        assert_eq!(peer.next().await["id"], close);
        assert_eq!(peer.refused("session/close", json!({ "sessionId": session })).await, -32002);
        let id = peer.begin_prompt(&session, "late").await;
        assert_eq!(peer.response(id).await["error"]["code"], -32002);
        // What was said is there.
        peer.call("session/load", again(&session, "/repo")).await;
        assert_eq!(short(&peer.updates()), ["user wait"]);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn ses_19_additional_directories_come_from_the_request_and_are_not_restored() {
    with(agent(echo), async |peer| {
        let params = json!({ "cwd": "/repo", "additionalDirectories": ["/a", "/b"], "mcpServers": [] });
        let session = peer.call("session/new", params).await["sessionId"].as_str().unwrap().to_owned();
        let listed = async |peer: &mut Peer| {
            let list = peer.call("session/list", json!({})).await;
            list["sessions"][0]["additionalDirectories"].clone()
        };
        assert_eq!(listed(peer).await, json!(["/a", "/b"]));
        peer.call("session/resume", again(&session, "/repo")).await;
        peer.prompt(&session, "where").await;
        assert_eq!(text(&peer.updates()[0]), r#""/repo" ["/repo"]"#);
        assert_eq!(listed(peer).await, Value::Null);
        let params = json!({ "sessionId": session, "cwd": "/repo", "additionalDirectories": ["/c"] });
        peer.call("session/resume", params).await;
        assert_eq!(listed(peer).await, json!(["/c"]));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn ses_28_unknown_session_is_not_found_and_one_of_another_directory_is_refused() {
    with(agent(echo), async |peer| {
        for method in ["session/load", "session/resume"] {
            assert_eq!(peer.refused(method, again("nope", "/repo")).await, -32002, "{method}");
        }
        for (method, params) in [
            ("session/prompt", json!({ "sessionId": "nope", "prompt": [] })),
            ("session/close", json!({ "sessionId": "nope" })),
            ("session/set_mode", json!({ "sessionId": "nope", "modeId": "m" })),
            ("session/set_config_option", json!({ "sessionId": "nope", "configId": "c", "value": "v" })),
        ] {
            assert_eq!(peer.refused(method, params).await, -32002, "{method}");
        }
        let session = peer.open("/repo").await;
        assert_eq!(peer.refused("session/load", again(&session, "/other")).await, -32602);
        assert_eq!(peer.prompt(&session, "still open").await, "end_turn");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn ses_29_pr_24_commands_are_sent_right_after_the_answer_that_opens_the_session() {
    let commands = [
        AvailableCommand::new("plan", "Make a plan"),
        AvailableCommand::new("run", "Run it").input(UnstructuredCommandInput::new("COMMAND")),
    ];
    with(agent(echo).commands(commands), async |peer| {
        let told = json!([
            { "name": "plan", "description": "Make a plan" },
            { "name": "run", "description": "Run it", "input": { "hint": "COMMAND" } },
        ]);
        let new = peer.request("session/new", json!({ "cwd": "/repo", "mcpServers": [] })).await;
        let answer = peer.next().await;
        assert_eq!(answer["id"], new);
        let session = answer["result"]["sessionId"].clone();
        let update = peer.next().await;
        assert_eq!(update["params"]["sessionId"], session);
        assert_eq!(update["params"]["update"]["availableCommands"], told);
        for method in ["session/load", "session/resume"] {
            let id = peer.request(method, again(session.as_str().unwrap(), "/repo")).await;
            assert_eq!(peer.next().await["id"], id, "{method}");
            assert_eq!(peer.next().await["params"]["update"]["availableCommands"], told);
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn list_02_to_09_pages_newest_first_by_directory_and_only_with_our_cursors() {
    with(agent(echo).page_size(2), async |peer| {
        assert_eq!(peer.call("session/list", json!({})).await, json!({ "sessions": [] }));
        let mut opened = Vec::new();
        for number in 0..5 {
            opened.push(peer.open(if number == 2 { "/other" } else { "/repo" }).await);
        }
        peer.prompt(&opened[1], "think").await;
        let (mut listed, mut params, mut pages) = (Vec::new(), json!({}), 0);
        loop {
            let page = peer.call("session/list", params).await;
            let sessions = page["sessions"].as_array().unwrap();
            assert!(sessions.len() <= 2);
            listed.extend(sessions.iter().cloned());
            pages += 1;
            match page.get("nextCursor") {
                Some(cursor) => params = json!({ "cursor": cursor }),
                None => break,
            }
        }
        assert_eq!(pages, 3);
        let mut ids: Vec<_> = listed.iter().map(|session| session["sessionId"].as_str().unwrap()).collect();
        let thoughts = listed.iter().find(|session| session["sessionId"] == *opened[1]).unwrap();
        assert_eq!(thoughts["title"], "Thoughts");
        assert!(thoughts["updatedAt"].as_str().unwrap().ends_with('Z'));
        ids.sort_unstable();
        let mut all: Vec<_> = opened.iter().map(|id| &**id).collect();
        all.sort_unstable();
        assert_eq!(ids, all, "each once");
        let other = peer.call("session/list", json!({ "cwd": "/other" })).await;
        assert_eq!(other["sessions"].as_array().unwrap().len(), 1);
        assert_eq!(other["sessions"][0]["sessionId"], *opened[2]);
        assert_eq!(other["sessions"][0]["cwd"], "/other");
        assert_eq!(peer.call("session/list", json!({ "cwd": "/none" })).await, json!({ "sessions": [] }));
        for cursor in ["", "garbage", "00000000"] {
            assert_eq!(peer.refused("session/list", json!({ "cursor": cursor })).await, -32602, "{cursor}");
        }
        // A list changes nothing.
        assert_eq!(peer.prompt(&opened[0], "one").await, "end_turn");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn del_02_03_a_deleted_session_is_gone_whatever_ran_in_it_and_can_be_deleted_again() {
    with(agent(echo), async |peer| {
        let session = peer.open("/repo").await;
        let prompt = peer.begin_prompt(&session, "wait").await;
        let delete = json!({ "sessionId": session });
        let id = peer.request("session/delete", delete.clone()).await;
        assert_eq!(peer.stopped(prompt).await, "cancelled");
        assert!(peer.response(id).await["result"].is_object());
        assert_eq!(peer.call("session/list", json!({})).await["sessions"], json!([]));
        assert_eq!(peer.refused("session/load", again(&session, "/repo")).await, -32002);
        let late = peer.begin_prompt(&session, "late").await;
        assert_eq!(peer.response(late).await["error"]["code"], -32002);
        peer.call("session/delete", delete).await;
        peer.call("session/delete", json!({ "sessionId": "never was" })).await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_session_is_not_loaded_while_a_turn_runs_in_it() {
    with(agent(echo), async |peer| {
        let session = peer.open("/repo").await;
        let prompt = peer.begin_prompt(&session, "wait").await;
        for method in ["session/load", "session/resume"] {
            assert_eq!(peer.refused(method, again(&session, "/repo")).await, -32600, "{method}");
        }
        peer.cancel(&session).await;
        assert_eq!(peer.stopped(prompt).await, "cancelled");
        peer.call("session/load", again(&session, "/repo")).await;
        assert_eq!(short(&peer.updates()), ["user wait"]);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn open_sessions_have_a_limit() {
    with(agent(echo).session_limit(2), async |peer| {
        let first = peer.open("/repo").await;
        peer.open("/repo").await;
        let new = json!({ "cwd": "/repo", "mcpServers": [] });
        assert_eq!(peer.refused("session/new", new.clone()).await, -32600);
        peer.call("session/close", json!({ "sessionId": first })).await;
        peer.call("session/new", new).await;
        assert_eq!(peer.refused("session/load", again(&first, "/repo")).await, -32600);
    })
    .await;
}

/// Of two connections that share a store one at a time has a session, whichever way it came to it.
async fn is_open_once(store: &Arc<impl SessionStore + 'static>) {
    with(on(store), async |here| {
        let session = here.open("/repo").await;
        let named = json!({ "sessionId": session });
        with(on(store), async |there| {
            assert_eq!(there.call("session/list", json!({})).await["sessions"][0]["sessionId"], *session);
            for method in ["session/load", "session/resume"] {
                assert_eq!(there.refused(method, again(&session, "/repo")).await, -32600, "{method}");
            }
            assert_eq!(there.refused("session/delete", named.clone()).await, -32600);
            // To open it again, also in vain, is to keep it.
            here.call("session/load", again(&session, "/repo")).await;
            assert_eq!(here.refused("session/load", again(&session, "/elsewhere")).await, -32602);
            assert_eq!(there.refused("session/load", again(&session, "/repo")).await, -32600);
            assert_eq!(here.prompt(&session, "go").await, "end_turn");

            here.call("session/close", named.clone()).await;
            // Who fails to open it has not got it.
            assert_eq!(here.refused("session/load", again(&session, "/elsewhere")).await, -32602);
            there.call("session/load", again(&session, "/repo")).await;
            assert_eq!(short(&there.updates()), ["user go", "agent you said go"]);
            assert_eq!(here.refused("session/load", again(&session, "/repo")).await, -32600);
        })
        .await;
        // The other connection is over.
        here.call("session/load", again(&session, "/repo")).await;
        here.call("session/delete", named).await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_session_in_memory_is_open_on_one_connection() {
    is_open_once(&Arc::new(MemoryStore::new())).await;
}

#[cfg(feature = "file")]
#[tokio::test]
async fn a_session_in_a_directory_is_open_on_one_connection() {
    let directory = tempfile::TempDir::new().unwrap();
    is_open_once(&Arc::new(crate::store::open(directory.path()))).await;
}

/// A path of so many bytes.
fn path(bytes: usize) -> String {
    format!("/{}", "x".repeat(bytes - 1))
}

/// The memory of a session for the request that opened it is bounded, however the bytes are spread.
#[cfg(feature = "http")]
#[tokio::test(start_paused = true)]
async fn setup_of_a_session_has_a_limit() {
    let store = Arc::new(MemoryStore::new());
    let server = |args: Value| json!({ "name": "n", "command": "/none", "args": args, "env": [] });
    let variable = |bytes| json!({ "name": "v", "value": "x".repeat(bytes) });
    let remote = json!({
        "type": "http", "name": "n", "url": format!("http://127.0.0.1:1/{}", "x".repeat(70_000)), "headers": [],
    });
    let with_variable =
        |bytes| json!({ "name": "n", "command": "/none", "args": [], "env": [variable(bytes)] });
    let rows = [
        (path(4097), json!([]), json!([]), "cwd: a path has 4097 bytes, and the limit of a path is 4096"),
        ("/repo".into(), json!([path(4097)]), json!([]), "additionalDirectories: a path has 4097 bytes"),
        (
            "/repo".into(),
            json!([path(4096), path(4096), path(4096), path(4096), path(4096), path(4096)]),
            json!([]),
            "set-up is 65536",
        ),
        ("/repo".into(), json!(vec!["/"; 1000]), json!([]), "set-up is 65536"),
        ("/repo".into(), json!([]), json!([server(json!(["x".repeat(70_000)]))]), "set-up is 65536"),
        ("/repo".into(), json!([]), json!([server(json!(vec![""; 3000]))]), "set-up is 65536"),
        ("/repo".into(), json!([]), json!([with_variable(70_000)]), "set-up is 65536"),
        ("/repo".into(), json!([]), json!([remote]), "set-up is 65536"),
        (path(4096), json!([]), json!(vec![server(json!([])); 16]), "set-up is 65536"),
    ];
    with(on(&store), async |peer| {
        let session = peer.open("/repo").await;
        for (cwd, directories, servers, why) in rows {
            for method in ["session/new", "session/load", "session/resume"] {
                let mut request =
                    json!({ "cwd": cwd, "additionalDirectories": directories, "mcpServers": servers });
                if method != "session/new" {
                    request["sessionId"] = json!(session);
                }
                let id = peer.request(method, request).await;
                let error = peer.response(id).await["error"].take();
                let message = error["message"].as_str().unwrap_or_default();
                assert!(error["code"] == -32602 && message.contains(why), "{method} {why}: {message:.200}");
            }
        }
        let sessions = peer.call("session/list", json!({})).await["sessions"].take();
        assert_eq!(sessions.as_array().map(Vec::len), Some(1), "nothing is kept of what is refused");
        let longest = json!({ "cwd": path(4096), "additionalDirectories": [path(4096)], "mcpServers": [] });
        assert!(peer.call("session/new", longest).await["sessionId"].is_string());
    })
    .await;
    with(on(&store).path_limit(10_000).setup_limit(200_000), async |peer| {
        let longer = json!({ "cwd": path(10_000), "mcpServers": [] });
        assert!(peer.call("session/new", longer).await["sessionId"].is_string());
        assert_eq!(
            peer.refused("session/new", json!({ "cwd": path(10_001), "mcpServers": [] })).await,
            -32602
        );
    })
    .await;
}

//! The stored parts of a session, loaded by a client of the same version or of the other.

use std::path::Path;

use agentwire_acp_sessions::schema::{
    Content, CreateTerminalRequest, StopReason, Terminal, ToolCall, ToolCallContent, ToolCallStatus,
    ToolCallUpdate,
};
use agentwire_acp_sessions::{FileStore, SessionAgent, Turn, agent};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tempfile::tempdir;

use crate::peer::{self, Peer, again, short};
use crate::v2::{begin, brief, prompt, until_idle, with};

/// An agent as it is started again and again with one store.
fn stored(folder: &Path) -> SessionAgent {
    let answer = async |turn: Turn| {
        let text = turn.text();
        turn.think("hm").await?;
        turn.update(ToolCall::new(turn.new_tool_call_id(), "Look")).await?;
        if text == "wait" {
            turn.cancelled().await;
            return Ok(StopReason::EndTurn);
        }
        turn.say("he").await?;
        turn.say("llo").await?;
        Ok(StopReason::EndTurn)
    };
    agent(answer).store(FileStore::open(folder).unwrap())
}

async fn resume(peer: &mut Peer, session: &str, replay: bool) -> (Vec<Value>, Value) {
    let mut params = again(session, "/");
    if replay {
        params["replayFrom"] = json!({ "type": "start" });
    }
    let id = peer.request("session/resume", params).await;
    let mut messages = Vec::new();
    loop {
        let message = peer.next().await;
        if message["id"] == id {
            return (messages, message);
        }
        messages.push(message);
    }
}

/// Has a client of version 2 make a session and prompt it.
async fn make_v2(folder: &Path) -> String {
    let mut id = String::new();
    with(stored(folder), async |peer| {
        id = peer.open("/").await;
        prompt(peer, &id, "one").await;
        begin(peer, &id, "wait").await;
        while peer.told("tool_call_update").await["status"] != "pending" {}
        peer.cancel(&id).await;
        until_idle(peer).await;
    })
    .await;
    id
}

/// The replay of that session. The call of the first turn was left open by the closure.
const REPLAYED: [&str; 10] = [
    "user one",
    "thought hm",
    "tool pending",
    "agent he",
    "agent llo",
    "tool failed",
    "user wait",
    "thought hm",
    "tool pending",
    "tool cancelled",
];

#[tokio::test]
async fn a_session_outlives_the_agent() {
    let folder = tempdir().unwrap();
    let id = make_v2(folder.path()).await;
    with(stored(folder.path()), async |peer| {
        let list = peer.call("session/list", json!({})).await;
        assert_eq!(list["sessions"][0]["sessionId"], id.as_str(), "{list}");
        let (replayed, answer) = resume(peer, &id, true).await;
        assert!(answer.get("result").is_some(), "{answer}");
        let brief = brief(&replayed);
        let (state, updates) = brief.split_last().unwrap();
        assert_eq!((updates, state.as_str()), (&REPLAYED.map(String::from)[..], "idle"));
        let ids = |at: usize| &replayed[at]["params"]["update"]["messageId"];
        assert!(ids(3) == ids(4) && ids(0) != ids(3) && ids(1) != ids(3));
        // Again, without what was said.
        let (resumed, _) = resume(peer, &id, false).await;
        assert_eq!(crate::v2::brief(&resumed), ["idle"]);
        prompt(peer, &id, "two").await;
        peer.call("session/delete", json!({ "sessionId": id })).await;
        assert_eq!(peer.call("session/list", json!({})).await["sessions"], json!([]));
        let (_, refused) = resume(peer, &id, true).await;
        assert_eq!(refused["error"]["code"], -32002, "{refused}");
        assert_eq!(refused["error"]["data"]["sessionId"], id.as_str(), "{refused}");
    })
    .await;
}

#[tokio::test]
async fn a_client_of_version_1_loads_a_session_of_version_2() {
    let folder = tempdir().unwrap();
    let id = make_v2(folder.path()).await;
    peer::with(stored(folder.path()), async |peer| {
        peer.call("session/load", again(&id, "/")).await;
        let replayed = [
            "user one",
            "thought hm",
            "tool_call -",
            "agent he",
            "agent llo",
            "tool_call_update failed",
            "user wait",
            "thought hm",
            "tool_call -",
            "tool_call_update failed",
        ];
        let came =
            short(&peer.updates()).into_iter().map(|one| one.replace("tool_call pending", "tool_call -"));
        assert_eq!(came.collect::<Vec<_>>(), replayed);
        assert_eq!(peer.prompt(&id, "two").await, "end_turn");
    })
    .await;
    // And back: what both have said is there.
    with(stored(folder.path()), async |peer| {
        let (replayed, _) = resume(peer, &id, true).await;
        let came = brief(&replayed);
        assert_eq!(came[..10], REPLAYED);
        assert_eq!(came[10], "user two");
    })
    .await;
}

/// The records of an agent of version 1 before there was version 2: no ids of messages, a terminal of the client's.
const OLD: [&str; 7] = [
    r#"{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"hi"}}"#,
    r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a"}}"#,
    r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"b"}}"#,
    r#"{"sessionUpdate":"tool_call","toolCallId":"t","title":"Run","content":[{"type":"terminal","terminalId":"x"},{"type":"content","content":{"type":"text","text":"out"}}]}"#,
    r#"{"sessionUpdate":"current_mode_update","currentModeId":"plan"}"#,
    r#"{"sessionUpdate":"tool_call_update","toolCallId":"t","status":"completed"}"#,
    r#"{"sessionUpdate":"plan","entries":[{"content":"c","priority":"low","status":"completed"}]}"#,
];

#[tokio::test]
async fn an_old_journal_is_replayed_to_a_client_of_version_2() {
    use agentwire_acp_sessions::{SessionHeader, SessionStore};
    use agentwire_jsonrpc::RawJson;

    let folder = tempdir().unwrap();
    let store = FileStore::open(folder.path()).unwrap();
    store.create(&SessionHeader::new("old", "/")).await.unwrap();
    let records = OLD.map(|record| RawJson::parse(record.into()).unwrap());
    store.append(&"old".into(), &records).await.unwrap();
    drop(store);
    with(stored(folder.path()), async |peer| {
        let (replayed, answer) = resume(peer, "old", true).await;
        assert!(answer.get("result").is_some(), "{answer}");
        let whole =
            ["user hi", "agent a", "agent b", "tool pending", "tool completed", "plan_update", "idle"];
        assert_eq!(brief(&replayed), whole);
        let update = |at: usize| &replayed[at]["params"]["update"];
        assert!(update(1)["messageId"] == update(2)["messageId"]);
        assert!(update(0)["messageId"] != update(1)["messageId"]);
        let text = json!([{ "type": "content", "content": { "type": "text", "text": "out" } }]);
        assert_eq!(update(3)["content"], text, "the terminal was the client's");
    })
    .await;
}

/// Reads and writes a file, runs a command, and shows it.
fn busy(folder: &Path) -> SessionAgent {
    let answer = async |turn: Turn| {
        turn.write_text_file("a.txt", "written").await?;
        let text = turn.read_text_file("a.txt").await?;
        assert!(turn.read_text_file("/etc/passwd").await.is_err());
        let call = turn.new_tool_call_id();
        turn.update(ToolCall::new(&call, "Run")).await?;
        let request = CreateTerminalRequest::new(turn.session_id(), "sh");
        let terminal =
            turn.terminal(request.args(["-c", "printf begun; cat a.txt; sleep 1; exit 3"])).await?;
        let shown = ToolCallContent::from(Terminal::new(terminal.id()));
        turn.update(ToolCallUpdate::new(&call).content([shown.clone()])).await?;
        let exit = terminal.wait().await?;
        let output = terminal.output().await?.output;
        terminal.release().await?;
        let ended = ToolCallUpdate::new(&call).status(ToolCallStatus::Completed);
        turn.update(ended.content([shown, Content::from(&*output).into()])).await?;
        turn.say(format!("{text} {:?} {output}", exit.exit_code)).await?;
        Ok(StopReason::EndTurn)
    };
    agent(answer).store(FileStore::open(folder).unwrap())
}

#[cfg(unix)]
#[tokio::test]
async fn files_and_terminals_are_those_of_the_agents_machine() {
    let (folder, work) = (tempdir().unwrap(), tempdir().unwrap());
    let cwd = work.path().to_str().unwrap().to_owned();
    let mut id = String::new();
    with(busy(folder.path()), async |peer| {
        id = peer.open(&cwd).await;
        let messages = prompt(peer, &id, "go").await;
        let said = brief(&messages);
        assert!(said.contains(&"agent written Some(3) begunwritten".to_owned()), "{said:?}");
        let of = |kind: &str| -> Vec<&Value> {
            let updates = messages.iter().map(|message| &message["params"]["update"]);
            updates.filter(|update| update["sessionUpdate"] == kind).collect()
        };
        let chunks: Vec<u8> = of("terminal_output_chunk")
            .iter()
            .flat_map(|chunk| STANDARD.decode(chunk["data"].as_str().unwrap()).unwrap())
            .collect();
        assert_eq!(String::from_utf8(chunks).unwrap(), "begunwritten", "shown while it ran");
        let updates = of("terminal_update");
        assert_eq!(updates[0]["command"], "sh -c printf begun; cat a.txt; sleep 1; exit 3");
        let end = updates.last().unwrap();
        assert_eq!(end["exitStatus"]["exitCode"], 3);
        assert_eq!(end["output"]["data"], STANDARD.encode("begunwritten"));
    })
    .await;
    let mut params = again(&id, &cwd);
    peer::with(busy(folder.path()), async |peer| {
        peer.call("session/load", params.clone()).await;
        let updates = peer.updates();
        assert!(updates.iter().all(|update| update["sessionUpdate"] != "terminal_update"), "{updates:?}");
    })
    .await;
    params["replayFrom"] = json!({ "type": "start" });
    with(busy(folder.path()), async |peer| {
        let id = peer.request("session/resume", params).await;
        peer.response(id).await;
        let updates = peer.updates();
        let terminals = updates.iter().filter(|update| update["sessionUpdate"] == "terminal_update");
        assert_eq!(terminals.count(), 2, "its beginning and its end");
        let shows = |update: &Value| update["content"][0]["type"] == "terminal";
        assert_eq!(updates.iter().filter(|update| shows(update)).count(), 2);
    })
    .await;
    assert_eq!(std::fs::read_to_string(work.path().join("a.txt")).unwrap(), "written");
}

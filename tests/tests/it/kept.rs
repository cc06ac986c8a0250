//! `agentwire agent --store`: sessions that outlive it, however it ends.

use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::conversation::Conversation;
use crate::program::{Ended, Program, SOON};
use crate::rows;

/// Starts the agent on a store and initializes it.
fn agent(store: &Path) -> Conversation {
    let store = store.to_str().expect("it is UTF-8");
    let mut agent = Conversation::with(&["agent", "--store", store]);
    let capabilities = json!({ "fs": { "readTextFile": true, "writeTextFile": true },
        "session": { "configOptions": { "boolean": {} } } });
    let hello = json!({ "protocolVersion": 1, "clientCapabilities": capabilities });
    assert_eq!(agent.ask("initialize", hello)["result"]["agentCapabilities"]["loadSession"], true);
    agent
}

fn again(session: &str) -> Value {
    json!({ "sessionId": session, "cwd": "/", "mcpServers": [] })
}

/// Kills the agent and returns its output.
fn killed(agent: Conversation) -> Ended {
    agent.program.signal(Signal::KILL);
    agent.program.end(SOON)
}

fn messages(stdout: &str) -> impl DoubleEndedIterator<Item = Value> {
    let lines = stdout.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    lines.map(|line| serde_json::from_str(line).expect("each line is a message"))
}

/// The updates of the conversation.
fn updates(messages: impl Iterator<Item = Value>) -> Vec<Value> {
    let update =
        |message: Value| (message["method"] == "session/update").then(|| message["params"]["update"].clone());
    messages
        .filter_map(update)
        .filter(|update| update["sessionUpdate"] != "available_commands_update")
        .collect()
}

/// The updates of loading a session.
fn load(agent: &mut Conversation, session: &str) -> Vec<Value> {
    let answer = agent.ask("session/load", again(session));
    assert!(answer["result"].is_object(), "{answer}");
    let said = agent.program.stdout.text();
    updates(messages(&said).take_while(|message| *message != answer))
}

/// Numbers that are as good as random ones, and the same for the same seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// The reaction of the agent to a prompt.
#[derive(Debug)]
enum Turn {
    /// Repeats it.
    Echo(String),
    /// Sends so many words.
    Burst(usize),
    /// Writes a file.
    Write(String),
}

impl Turn {
    fn random(numbers: &mut Numbers) -> Self {
        match numbers.below(3) {
            0 => Self::Echo("all work and no play ".repeat(1 + numbers.below(30) as usize)),
            1 => Self::Burst(10 + numbers.below(60) as usize),
            _ => Self::Write("w".repeat(1 + numbers.below(5000) as usize)),
        }
    }

    fn prompt(&self) -> String {
        match self {
            Self::Echo(text) => text.clone(),
            Self::Burst(count) => format!("/burst {count}"),
            Self::Write(text) => format!("/write /a.txt {text}"),
        }
    }

    /// All that becomes part of a conversation with this turn, with small numbers for ids.
    fn story(&self, before: &[Value]) -> Vec<Value> {
        let prompt = self.prompt();
        let chunk = |kind, id, text: &str| json!({ "sessionUpdate": kind, "messageId": id, "content": { "type": "text", "text": text } });
        let mut story = vec![chunk("user_message_chunk", 0, &prompt)];
        if before.iter().all(|update| update["sessionUpdate"] != "session_info_update") {
            let title: String = prompt.trim().chars().take(60).collect();
            story.push(json!({ "sessionUpdate": "session_info_update", "title": title }));
        }
        let said: Vec<String> = match self {
            Self::Echo(text) => {
                let pieces: Vec<_> = text.as_bytes().chunks(24).collect();
                let pieces = pieces.into_iter().map(|piece| String::from_utf8_lossy(piece).into_owned());
                ["You said: ".to_owned()].into_iter().chain(pieces).collect()
            }
            Self::Burst(count) => (0..*count).map(|number| format!("{number} ")).collect(),
            Self::Write(_) => Vec::new(),
        };
        story.extend(said.iter().map(|text| chunk("agent_message_chunk", 1, text)));
        if let Self::Write(text) = self {
            let diff = json!([{ "type": "diff", "path": "/a.txt", "newText": text }]);
            let update = json!({ "sessionUpdate": "tool_call_update", "toolCallId": 1 });
            let with = |more: Value| merged(&update, &more);
            let call = json!({ "sessionUpdate": "tool_call", "title": "Write /a.txt", "kind": "edit",
                "status": "pending", "content": diff, "locations": [{ "path": "/a.txt" }],
                "rawInput": { "path": "/a.txt" } });
            story.extend([
                merged(&update, &call),
                with(json!({ "status": "in_progress" })),
                with(json!({ "status": "completed", "content": diff })),
            ]);
        }
        let used = before.iter().rev().find_map(|update| update["used"].as_u64()).unwrap_or_default();
        let characters = prompt.len() + said.iter().map(String::len).sum::<usize>();
        let used = used + characters.div_ceil(4) as u64;
        story.push(json!({ "sessionUpdate": "usage_update", "used": used, "size": 200_000 }));
        story
    }

    /// Lets the turn go on to some moment.
    fn until(&self, moment: u64, agent: &mut Conversation, prompt: u64) {
        if let Self::Write(_) = self {
            let questions = ["session/request_permission", "fs/write_text_file"];
            let permission = json!({ "outcome": { "outcome": "selected", "optionId": "allow-once" } });
            for (number, (question, answer)) in questions.into_iter().zip([permission, json!({})]).enumerate()
            {
                if moment == number as u64 * 2 {
                    return;
                }
                let question = agent.receive(question, |message| message["method"] == question);
                if moment == number as u64 * 2 + 1 {
                    return;
                }
                agent.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer }));
            }
            if moment > 4 {
                agent.receive("the end of the call", |message| {
                    message["params"]["update"]["status"] == "completed"
                });
            }
            return;
        }
        let before = updates(messages(&agent.program.stdout.text())).len();
        agent.program.stdout.until("some updates", |bytes| {
            let said = String::from_utf8_lossy(bytes);
            let heard = updates(messages(&said)).len();
            let over =
                messages(&said).any(|message| message["id"] == prompt && message.get("result").is_some());
            (over || heard as u64 >= before as u64 + moment).then_some(())
        });
    }

    /// How many moments there are.
    fn moments(&self) -> u64 {
        match self {
            Self::Echo(text) => 1 + text.len() as u64 / 24,
            Self::Burst(count) => *count as u64,
            Self::Write(_) => 6,
        }
    }
}

/// One object with the members of both.
fn merged(one: &Value, other: &Value) -> Value {
    let mut all = one.clone();
    let members = other.as_object().expect("it is an object").clone();
    all.as_object_mut().expect("it is an object").extend(members);
    all
}

/// The same updates with small numbers instead of ids: 0 for the first id.
fn numbered(updates: &[Value]) -> Vec<Value> {
    let mut ids: Vec<Value> = Vec::new();
    let mut number = |update: &Value| {
        let mut update = update.clone();
        for member in ["messageId", "toolCallId"] {
            if let Some(id) = update.get_mut(member) {
                let known = ids.iter().position(|known| known == id);
                let number = known.unwrap_or_else(|| {
                    ids.push(id.clone());
                    ids.len() - 1
                });
                *id = json!(number);
            }
        }
        update
    };
    updates.iter().map(&mut number).collect()
}

/// Checks that the updates of a turn that was cut off are the beginning of that turn, and no fewer than were received.
fn check(gained: &[Value], story: &[Value], heard: &[Value]) {
    assert!(gained.len() > heard.len() || heard.is_empty(), "{} heard, {} kept", heard.len(), gained.len());
    if let Some((_prompt, told)) = gained.split_first() {
        assert_eq!(told[..heard.len()], *heard, "what was heard is there as it was heard");
    }
    // An unfinished call was ended when the session was loaded.
    let numbered = numbered(gained);
    let as_told = numbered.iter().zip(story).take_while(|(gained, story)| gained == story).count();
    let (begun, rest) = numbered.split_at(as_told);
    let is_open = begun
        .last()
        .is_some_and(|last| ["pending", "in_progress"].map(Value::from).contains(&last["status"]));
    match rest {
        [] => assert!(!is_open, "a call is left open"),
        [failed] => {
            assert!(is_open && failed["status"] == "failed", "{failed}\ninstead of {:?}", story.get(as_told));
            assert_eq!(failed["toolCallId"], begun.last().expect("there is a call")["toolCallId"]);
        }
        more => panic!("{more:?}\ninstead of {:?}", story.get(as_told)),
    }
}

/// So many kills in the middle of turns, all on one session. Some come when the turn is over already, and are not counted.
fn lives(kills: usize, numbers: &mut Numbers) {
    let folder = tempfile::tempdir().expect("there is room");
    let mut first = agent(folder.path());
    let session = first.open(&[]);
    let mut kept: Vec<Value> = Vec::new();
    let (mut next, mut in_turns) = (first, 0);
    for life in 0.. {
        if in_turns == kills {
            break;
        }
        assert!(life < MAX_RESTARTS, "only {in_turns} of {life} turns were cut off");
        let turn = Turn::random(numbers);
        let prompt = next.prompt(&session, &turn.prompt());
        let before = updates(messages(&next.program.stdout.text())).len().min(kept.len());
        turn.until(numbers.below(turn.moments()), &mut next, prompt);
        thread::sleep(Duration::from_micros(numbers.below(1000)));
        let ended = killed(next);
        assert_eq!(ended.code(), None, "{ended}");
        let heard = updates(messages(&ended.stdout)).split_off(before);
        in_turns += usize::from(!messages(&ended.stdout).any(|message| message["id"] == prompt));

        next = agent(folder.path());
        let replayed = load(&mut next, &session);
        assert_eq!(replayed[..kept.len().min(replayed.len())], kept, "what was there before");
        check(&replayed[kept.len()..], &turn.story(&kept), &heard);
        kept = replayed;
    }
    next.program.close_stdin();
    next.program.end(SOON).exits(0);
}

/// How many an agent may live for that.
const MAX_RESTARTS: usize = 100;

/// So many turns of each of these sessions are cut off.
fn killed_in_turns(sessions: u64, kills: usize) {
    let seeds: Vec<u64> = (1..=sessions).collect();
    rows::for_each(&seeds, |seed| lives(kills, &mut Numbers(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15))));
}

#[test]
fn updates_received_before_a_kill_are_loaded_with_the_session() {
    killed_in_turns(8, 5);
}

mod long {
    use super::*;

    #[test]
    #[ignore = "takes minutes: cargo xtask ci long"]
    fn updates_received_before_two_hundred_kills_are_loaded_with_the_session() {
        killed_in_turns(20, 10);
    }
}

/// While an editor keeps its agent alive, other sessions of the store and the list of all stay usable.
#[test]
fn two_agents_have_one_store_and_each_session_belongs_to_one() {
    let folder = tempfile::tempdir().expect("there is room");
    let (mut first, mut second) = (agent(folder.path()), agent(folder.path()));
    let session = first.open(&[]);
    first.turn(&session, "good morning");
    let listed = |agent: &mut Conversation| {
        let listed = agent.ask("session/list", json!({}));
        let sessions = listed["result"]["sessions"].as_array().expect("it is a list").clone();
        sessions.into_iter().map(|session| session["sessionId"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(listed(&mut second), [json!(session)], "also what was begun since");
    let id = json!({ "sessionId": session });
    for (method, params) in
        [("session/load", again(&session)), ("session/resume", again(&session)), ("session/delete", id)]
    {
        let refused = second.ask(method, params);
        let message = refused["error"]["message"].as_str().expect("it is refused");
        assert!(message.contains(&session) && message.contains("another process"), "{refused}");
    }
    // Both go on, each with a session of its own.
    let other = second.open(&[]);
    first.turn(&session, "more");
    second.turn(&other, "more");
    first.turn(&session, "more");
    assert_eq!(listed(&mut first).len(), 2);
    // What one has closed the other may open, and finds all that was said.
    let closed = first.ask("session/close", json!({ "sessionId": session }));
    assert!(closed["result"].is_object(), "{closed}");
    let replayed = load(&mut second, &session);
    let prompts = replayed.iter().filter(|update| update["sessionUpdate"] == "user_message_chunk");
    assert_eq!(prompts.count(), 3);
    for mut agent in [first, second] {
        agent.program.close_stdin();
        agent.program.end(SOON).exits(0);
    }
}

#[test]
fn a_store_that_is_no_folder_or_that_others_may_write_to_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    Program::run(&["agent", "--store", "/dev/null"], SOON).exits(1).reports("/dev/null");
    let folder = tempfile::tempdir().expect("there is room");
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).expect("it is ours");
    let store = folder.path().to_str().expect("it is UTF-8");
    let remedy = format!("chmod 700 {store}");
    Program::run(&["agent", "--store", store], SOON).exits(1).reports("0777").reports(&remedy);
}

/// A limit on the size of files fails a turn. It ends neither the agent nor the session.
#[test]
fn a_journal_that_reaches_the_limit_of_files_fails_the_turn() {
    let folder = tempfile::tempdir().expect("there is room");
    let mut limited = agent(folder.path());
    let session = limited.open(&[]);
    limited.turn(&session, "before");
    limited.program.limit_files(64 << 10);
    let prompt = limited.prompt(&session, &"a".repeat(100 << 10));
    let refused = limited.answer(prompt);
    assert!(refused["error"].is_object(), "{refused}");
    let heard = updates(messages(&limited.program.stdout.text()));
    limited.turn(&session, "small");
    limited.program.close_stdin();
    limited.program.end(SOON).exits(0);

    let mut next = agent(folder.path());
    let replayed = load(&mut next, &session);
    let has = |text: &str| replayed.iter().any(|update| update["content"]["text"] == text);
    assert!(has("before") && has("small"));
    for update in heard {
        assert!(replayed.contains(&update), "it was heard, and is lost: {update}");
    }
    next.program.close_stdin();
    next.program.end(SOON).exits(0);
}

/// The messages and settings of one process are there in the next.
#[test]
fn a_session_has_a_title_a_mode_and_options_that_stay() {
    let folder = tempfile::tempdir().expect("there is room");
    let mut first = agent(folder.path());
    let session = first.open(&[]);
    first.turn(&session, "good morning\nto all");
    let mode = first.ask("session/set_mode", json!({ "sessionId": session, "modeId": "auto" }));
    assert!(mode["result"].is_object(), "{mode}");
    for (id, value) in
        [("chunks", json!({ "value": "whole" })), ("think", json!({ "type": "boolean", "value": true }))]
    {
        let option = merged(&json!({ "sessionId": session, "configId": id }), &value);
        let answer = first.ask("session/set_config_option", option);
        assert_eq!(answer["result"]["configOptions"].as_array().map(Vec::len), Some(3), "{answer}");
    }
    first.program.close_stdin();
    first.program.end(SOON).exits(0);

    let mut second = agent(folder.path());
    let listed = second.ask("session/list", json!({}));
    assert_eq!(listed["result"]["sessions"][0]["title"], "good morning", "{listed}");
    let resumed = second.ask("session/resume", again(&session))["result"].clone();
    assert_eq!(resumed["modes"]["currentModeId"], "auto", "{resumed}");
    let values: Vec<_> = resumed["configOptions"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|option| &option["currentValue"])
        .collect();
    assert_eq!(values, [&json!("auto"), &json!("whole"), &json!(true)]);
    let long = "a".repeat(500);
    let said = second.turn(&session, &long);
    assert!(said.contains("agent_thought_chunk") && said.contains(&long), "{said}");
    let said = second.turn(&session, "/history");
    assert!(said.contains("I remember 5 things.") && said.contains("- you: good morning"), "{said}");
    // This mode asks no questions, so that the answer to the one question writes the file.
    let prompt = second.prompt(&session, "/write /a.txt text");
    let question =
        second.receive("a question", |message| message["id"].is_number() && message.get("method").is_some());
    assert_eq!(question["method"], "fs/write_text_file", "{question}");
    second.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": {} }));
    assert_eq!(second.answer(prompt)["result"]["stopReason"], "end_turn");
    second.program.close_stdin();
    second.program.end(SOON).exits(0);
}

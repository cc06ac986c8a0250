//! The tool that the user is shown is the one that is called, even if servers change their lists.

use agentwire_acp_sessions::schema::StopReason;
use agentwire_acp_sessions::{SessionAgent, Turn, agent};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::peer::{Peer, short, with};
use crate::played::Played;

/// Calls the tool that the prompt names as `SERVER TOOL`, by the name that it has in the hub, or with one word by that.
fn calling(servers: &[(&str, &Played)]) -> SessionAgent {
    let agent = agent(async |turn: Turn| {
        let text = turn.text();
        let name = match text.split_once(' ') {
            None => text,
            Some((server, tool)) => {
                let place: usize = server.parse().unwrap();
                let server = turn.mcp().status()[place].name.clone();
                let tools = turn.mcp().tools().await;
                let tool =
                    tools.into_iter().find(|listed| listed.server == server && listed.tool.name == tool);
                let Some(tool) = tool else { return Ok(StopReason::EndTurn) };
                tool.name
            }
        };
        let said = match turn.call_tool(name, json!({ "secret": 1 })).await {
            Ok(result) => result.text().into_owned(),
            Err(error) => error.to_string(),
        };
        turn.say(said).await?;
        Ok(StopReason::EndTurn)
    });
    servers.iter().fold(agent, |agent, (name, played)| agent.mcp_server(played.config(name)))
}

async fn allow(peer: &mut Peer, ask: &Value, option: &str) {
    let outcome = json!({ "outcome": "selected", "optionId": option });
    peer.answer(ask, json!({ "outcome": outcome })).await;
}

/// The server `a` takes the name of the tool `c` of `a__b` while the person is asked about that.
#[tokio::test(start_paused = true)]
async fn a_permission_for_one_servers_tool_does_not_call_anothers() {
    let (bad, good, other) =
        (Played::new(&[("d", "bad")]), Played::new(&[("c", "good")]), Played::new(&[("c", "other")]));
    let agent = calling(&[("a", &bad), ("a__b", &good), ("z", &other)]);
    with(agent, async |peer| {
        let session = peer.open("/repo").await;
        let prompt = peer.begin_prompt(&session, "1 c").await;
        let ask = peer.asked("session/request_permission").await;
        bad.set_tools(&[("b__c", "bad"), ("c", "bad")]);
        bad.is_seen().await;
        allow(peer, &ask, "allow-once").await;
        assert_eq!(peer.stopped(prompt).await, "end_turn");
        assert_eq!(short(&peer.updates()).last().unwrap(), "agent done");
        let called = [bad.calls(), good.calls(), other.calls()].map(|calls| calls.len());
        assert_eq!(called, [0, 1, 0]);
    })
    .await;
}

/// A name without a tool when the call was announced, so that no person was asked.
#[tokio::test(start_paused = true)]
async fn a_tool_that_appears_after_it_was_looked_up_is_not_called_without_a_permission() {
    // It appears while the client is shown the call: the updates of the turn wait for the client to read them.
    for moment in 0..40 {
        let server = Played::new(&[]);
        let agent = calling(&[("s", &server)]);
        with(agent, async |peer| {
            let session = peer.open("/repo").await;
            peer.prompt(&session, "nothing").await;
            peer.updates();
            let prompt = peer.begin_prompt(&session, "late").await;
            for _ in 0..moment {
                tokio::task::yield_now().await;
            }
            server.set_tools(&[("late", "")]);
            let ended = peer.next().await;
            if ended["method"] == "session/request_permission" {
                allow(peer, &ended, "reject-once").await;
            }
            loop {
                let message = peer.next().await;
                if message["method"] == "session/request_permission" {
                    allow(peer, &message, "reject-once").await;
                }
                if message["id"] == prompt && message.get("method").is_none() {
                    break;
                }
            }
            assert_eq!(server.calls(), [], "moment {moment}");
        })
        .await;
    }
}

#[tokio::test(start_paused = true)]
async fn tool_that_changes_while_the_person_is_asked_is_not_called() {
    let server = Played::new(&[("read", "Reads a file")]);
    with(calling(&[("s", &server)]), async |peer| {
        let session = peer.open("/repo").await;
        let changes: [&[(&str, &str)]; 2] = [&[("read", "Deletes a file")], &[]];
        for change in changes {
            let prompt = peer.begin_prompt(&session, "read").await;
            let ask = peer.asked("session/request_permission").await;
            let subject = &ask["params"]["toolCall"];
            assert_eq!((&subject["title"], &subject["name"]), (&json!("s: read"), &json!("read")));
            server.set_tools(change);
            server.is_seen().await;
            allow(peer, &ask, "allow-once").await;
            assert_eq!(peer.stopped(prompt).await, "end_turn");
            let updates = peer.updates();
            let said = short(&updates);
            assert!(said.contains(&"tool_call_update failed".into()), "{said:?}");
            assert!(said.last().unwrap().contains("has changed or dropped its tool `read`"), "{said:?}");
        }
        assert_eq!(server.calls(), []);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn always_is_for_the_tool_that_was_shown() {
    let server = Played::new(&[("read", "Reads a file")]);
    with(calling(&[("s", &server)]), async |peer| {
        let session = peer.open("/repo").await;
        // What the tool is described by, and whether the person is asked, and answers.
        let rounds = [
            ("Reads a file", Some("allow-always")),
            ("Reads a file", None),
            ("Deletes a file", Some("reject-always")),
            ("Deletes a file", None),
            ("Sends a file", None),
        ];
        for (about, answer) in rounds {
            server.set_tools(&[("read", about)]);
            tokio::time::sleep(std::time::Duration::from_secs(100)).await;
            let prompt = peer.begin_prompt(&session, "read").await;
            if let Some(answer) = answer {
                let ask = peer.asked("session/request_permission").await;
                allow(peer, &ask, answer).await;
            }
            assert_eq!(peer.stopped(prompt).await, "end_turn");
            peer.updates();
        }
        assert_eq!(server.calls().len(), 2);
        assert!(server.calls().iter().all(|(_, about)| about == "Reads a file"));
    })
    .await;
}

/// The next step of a schedule.
#[derive(Clone, Debug)]
enum Step {
    /// Gives a server other tools.
    Change(usize, Vec<(usize, usize)>),
    /// Waits until the hub has listed them.
    Settle,
    /// Prompts for a tool.
    Call(usize, usize),
    /// Answers the question that stands.
    Answer(usize),
}

const SERVERS: [&str; 3] = ["a", "a__b", "a_b"];
const TOOLS: [&str; 2] = ["c", "b__c"];
const ABOUT: [&str; 2] = ["one", "two"];
const ANSWERS: [&str; 4] = ["allow-once", "reject-once", "allow-always", "reject-always"];

/// Rounds of a call, with lists that change before the call and while the person is asked.
fn steps() -> impl Strategy<Value = Vec<Step>> {
    let changes = || {
        let tools = proptest::collection::vec((0..TOOLS.len(), 0..ABOUT.len()), 0..3);
        let change = (0..SERVERS.len(), tools).prop_map(|(server, tools)| Step::Change(server, tools));
        let settle = any::<bool>().prop_map(|settles| settles.then_some(Step::Settle));
        (proptest::collection::vec(change, 0..3), settle)
    };
    let call = (0..SERVERS.len(), 0..TOOLS.len()).prop_map(|(server, tool)| Step::Call(server, tool));
    let answer = (0..ANSWERS.len()).prop_map(Step::Answer);
    let round =
        (changes(), call, changes(), answer).prop_map(|((before, early), call, (after, late), answer)| {
            let during = after.into_iter().chain(late).chain([answer]);
            before.into_iter().chain(early).chain([call]).chain(during).collect::<Vec<_>>()
        });
    proptest::collection::vec(round, 1..8).prop_map(|rounds| rounds.concat())
}

/// The client's knowledge of a turn that runs.
struct Running {
    prompt: u64,
    server: usize,
    tool: usize,
    /// The question that stands.
    ask: Option<Value>,
}

/// Runs a schedule: whatever is called was shown to the person, who allowed it.
async fn run(steps: &[Step]) {
    let played = SERVERS.map(|_| Played::new(&[("c", "one")]));
    let servers: Vec<_> = SERVERS.iter().copied().zip(&played).collect();
    with(calling(&servers), async |peer| {
        let session = peer.open("/repo").await;
        let mut running: Option<Running> = None;
        // By server and tool, how often it may have been called.
        let mut allowed = std::collections::HashMap::<(usize, usize), usize>::new();
        let mut always = std::collections::HashSet::new();
        let end = [Step::Answer(0), Step::Answer(0)];
        for step in steps.iter().chain(&end) {
            match step {
                Step::Change(server, tools) => {
                    let tools: Vec<_> =
                        tools.iter().map(|(tool, about)| (TOOLS[*tool], ABOUT[*about])).collect();
                    played[*server].set_tools(&tools);
                }
                Step::Settle => tokio::time::sleep(std::time::Duration::from_secs(100)).await,
                Step::Call(server, tool) if running.is_none() => {
                    let prompt = peer.begin_prompt(&session, &format!("{server} {}", TOOLS[*tool])).await;
                    running = Some(Running { prompt, server: *server, tool: *tool, ask: None });
                    if always.contains(&(*server, *tool)) {
                        *allowed.entry((*server, *tool)).or_default() += 1;
                    }
                }
                Step::Answer(answer) => {
                    let Some(turn) = &mut running else { continue };
                    let Some(ask) = turn.ask.take() else { continue };
                    let answer = ANSWERS[*answer];
                    if answer.starts_with("allow") {
                        *allowed.entry((turn.server, turn.tool)).or_default() += 1;
                    }
                    if answer == "allow-always" {
                        always.insert((turn.server, turn.tool));
                    }
                    allow(peer, &ask, answer).await;
                }
                Step::Call(..) => {}
            }
            // Reads until the turn ends or asks.
            while let Some(turn) = running.as_mut().filter(|turn| turn.ask.is_none()) {
                let message = peer.next().await;
                if message["method"] == "session/request_permission" {
                    turn.ask = Some(message);
                } else if message["id"] == turn.prompt && message.get("method").is_none() {
                    assert_eq!(message["result"]["stopReason"], "end_turn");
                    running = None;
                }
            }
        }
        assert!(running.is_none(), "every call ends");
        for (server, played) in played.iter().enumerate() {
            for (tool, name) in TOOLS.iter().enumerate() {
                let called = played.calls().iter().filter(|(called, _)| called == name).count();
                let most = allowed.get(&(server, tool)).copied().unwrap_or_default();
                assert!(
                    called <= most,
                    "{} {} was called {called} times, allowed {most}",
                    SERVERS[server],
                    name
                );
            }
        }
    })
    .await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn only_allowed_tools_are_called_however_lists_change(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(run(&steps));
    }
}

//! Checks of agents: sessions are begun, opened again and closed.

pub(super) mod list;
pub(crate) mod mcp_over_acp;
pub(super) mod mcp_servers;
pub(super) mod options;

use serde_json::{Value, json};

use super::Agent;
use super::connection::jsonrpc::SILENCE;
use super::turn::{Turn, is_update, update_in};
use crate::check::{ANY, Check, ORDERED, STDIO, check};
use crate::conversation::Conversation;
use crate::requirements::revision::Revision;
use crate::verdict::{Outcome, Stop, ensure};

pub(super) const CHECKS: &[Check<Agent>] = &[
    check!(session_ids_are_unique, ANY),
    check!(the_working_directory_is_that_of_the_session, STDIO),
    check!(a_load_replays_the_conversation, ORDERED),
    check!(a_load_is_answered_after_the_replay, ORDERED),
    check!(the_result_of_a_load_is_an_object, ORDERED),
    check!(a_resume_replays_nothing, ORDERED),
    check!(a_close_cancels_the_prompt, ORDERED),
    check!(closing_an_unknown_session_is_answered, ORDERED),
    check!(roots_are_not_restored, ORDERED),
    check!(unknown_sessions_fail, ORDERED),
];

async fn session_ids_are_unique(agent: Agent) -> Outcome {
    agent.needs_no_login().await?;
    let mut known: Vec<String> = Vec::new();
    for is_first in [true, false] {
        let (mut conversation, initialized) = agent.open().await?;
        for _ in 0..2 {
            let created = conversation.ok("session/new", agent.session_params()).await;
            let created = created.map_err(Stop::while_preparing)?;
            let id = created["sessionId"].as_str().unwrap_or_default().to_owned();
            ensure!(!id.is_empty(), "a `sessionId` in the result of session/new", "`{created}`");
            ensure!(!known.contains(&id), "an id that no other session has", "`{id}` again");
            known.push(id);
        }
        // An agent that keeps no sessions, or only those with a prompt, may count from one in each process.
        let keeps = agent.revision() == Revision::Acp1 && agent.needs(&initialized, LOAD, LOAD).is_ok();
        if !is_first || !keeps || agent.setting.text("say").is_err() {
            break;
        }
        for id in &known {
            agent.play(&mut conversation, id, "say").await?;
        }
    }
    Ok(())
}

async fn the_working_directory_is_that_of_the_session(agent: Agent) -> Outcome {
    agent.setting.text("roots")?;
    let from_root = agent.start_as(|command| match std::path::absolute(&command.program) {
        // A name without a folder is searched for, wherever the program is started.
        Ok(program) if command.program.contains('/') => {
            crate::subject::CommandLine { program: program.to_string_lossy().into_owned(), ..command }
                .folder("/")
        }
        _ => command.folder("/"),
    });
    let mut conversation = from_root.await?;
    let capabilities = super::capabilities(agent.revision());
    let opened = conversation.ok("initialize", agent.initialize(capabilities)).await;
    opened.map_err(Stop::while_preparing)?;
    let session = agent.new_session(&mut conversation).await?;
    let turn = agent.play(&mut conversation, &session, "roots").await?;
    let folder = std::env::temp_dir().to_string_lossy().trim_end_matches('/').to_owned();
    ensure!(turn.text().contains(&folder), format!("the session's directory {folder}"), "`{}`", turn.text());
    Ok(())
}

/// A session in which something was said and which is closed, where the agent can, with the prompt's text.
async fn past_session(agent: &Agent, capability: &str) -> Outcome<(Conversation, String, String, Turn)> {
    let text = agent.setting.text("say")?.to_owned();
    let (mut conversation, initialized, session) = agent.session().await?;
    agent.needs(&initialized, capability, "/capabilities/session")?;
    let turn = agent.play(&mut conversation, &session, "say").await?;
    let can_close = "/agentCapabilities/sessionCapabilities/close";
    if agent.needs(&initialized, can_close, "/capabilities/session").is_ok() {
        let closed = conversation.ok("session/close", json!({"sessionId": session})).await;
        closed.map_err(Stop::while_preparing)?;
    }
    // What is left from before does not belong to the replay.
    conversation.listen(SILENCE).await?;
    Ok((conversation, session, text, turn))
}

fn opening(session: &str) -> Value {
    json!({"sessionId": session, "cwd": std::env::temp_dir(), "mcpServers": []})
}

/// Loads the session: the response, and what came before it.
async fn load(conversation: &mut Conversation, session: &str) -> Outcome<(Value, Vec<Value>)> {
    let id = conversation.start("session/load", opening(session)).await?;
    let mut before = Vec::new();
    loop {
        let message = conversation.wanted("a response to session/load", |_| true).await?;
        if message.get("id") == Some(&id) && message.get("method").is_none() {
            if message.get("error").is_some() {
                return Err(Stop::inconclusive(format!("session/load: `{message}`")));
            }
            return Ok((message, before));
        }
        before.push(message);
    }
}

fn text_of(messages: &[Value], kind: &str) -> String {
    let updates = messages.iter().filter(|message| is_update(message, kind)).filter_map(update_in);
    updates.filter_map(|update| update["content"]["text"].as_str()).collect()
}

const LOAD: &str = "/agentCapabilities/loadSession";

async fn a_load_replays_the_conversation(agent: Agent) -> Outcome {
    let (mut conversation, session, text, turn) = past_session(&agent, LOAD).await?;
    let (_, mut replayed) = load(&mut conversation, &session).await.map_err(Stop::while_preparing)?;
    // What comes late is a matter of SES-08.
    replayed.extend(conversation.listen(SILENCE).await?.into_iter().map(|arrived| arrived.message));
    let user = text_of(&replayed, "user_message_chunk");
    ensure!(user.contains(text.trim()), format!("the user's message `{text}` in the replay"), "`{user}`");
    let (before, after) = (turn.text(), text_of(&replayed, "agent_message_chunk"));
    ensure!(
        after.contains(before.trim()),
        format!("the agent's message `{before}` in the replay"),
        "`{after}`"
    );
    Ok(())
}

fn is_history(message: &Value) -> bool {
    ["user_message_chunk", "agent_message_chunk", "agent_thought_chunk", "tool_call"]
        .iter()
        .any(|kind| is_update(message, kind))
}

async fn a_load_is_answered_after_the_replay(agent: Agent) -> Outcome {
    let (mut conversation, session, _, _) = past_session(&agent, LOAD).await?;
    load(&mut conversation, &session).await?;
    let what = "no replayed update after the response to session/load";
    conversation.silence(SILENCE, what, |message| !is_history(message)).await
}

async fn the_result_of_a_load_is_an_object(agent: Agent) -> Outcome {
    let (mut conversation, session, _, _) = past_session(&agent, LOAD).await?;
    let (response, _) = load(&mut conversation, &session).await.map_err(Stop::while_preparing)?;
    let result = &response["result"];
    ensure!(result.is_object() || result.is_null(), "an object or null as the result", "`{response}`");
    Ok(())
}

async fn a_resume_replays_nothing(agent: Agent) -> Outcome {
    let capability = "/agentCapabilities/sessionCapabilities/resume";
    let (mut conversation, session, _, _) = past_session(&agent, capability).await?;
    let resumed = conversation.ok("session/resume", opening(&session)).await;
    resumed.map_err(Stop::while_preparing)?;
    let history = conversation.queued().find(|message| is_history(message));
    ensure!(history.is_none(), "no update of the history before session/resume is answered", "`{history:?}`");
    Ok(())
}

async fn a_close_cancels_the_prompt(agent: Agent) -> Outcome {
    agent.setting.text("slow")?;
    let (mut conversation, initialized, session) = agent.session().await?;
    agent.needs(&initialized, "/agentCapabilities/sessionCapabilities/close", "/capabilities/session")?;
    let prompt = agent.begin_slow(&mut conversation, &session).await?;
    let close = conversation.start("session/close", json!({"sessionId": session})).await?;
    let ended = conversation.response(&prompt).await?;
    let is_cancelled = ended.pointer("/result/stopReason") == Some(&json!("cancelled"));
    ensure!(is_cancelled, "the stop reason `cancelled` of a prompt whose session is closed", "`{ended}`");
    // No page limits the time.
    let closed = conversation.response(&close).await.map_err(Stop::while_preparing)?;
    ensure!(closed.get("result").is_some(), "a result of session/close", "`{closed}`");
    Ok(())
}

async fn closing_an_unknown_session_is_answered(agent: Agent) -> Outcome {
    let (mut conversation, initialized) = agent.open().await?;
    agent.needs(&initialized, "/agentCapabilities/sessionCapabilities/close", "/capabilities/session")?;
    conversation.request("session/close", json!({"sessionId": "conformance-unknown"})).await?;
    Ok(())
}

pub(crate) fn extra_root() -> String {
    std::env::temp_dir().join("conformance-extra-root").to_string_lossy().into_owned()
}

async fn roots_are_not_restored(agent: Agent) -> Outcome {
    agent.setting.text("roots")?;
    let (mut conversation, initialized) = agent.open().await?;
    let place = "/agentCapabilities/sessionCapabilities";
    agent.needs(
        &initialized,
        &format!("{place}/additionalDirectories"),
        "/capabilities/session/additionalDirectories",
    )?;
    agent.needs(&initialized, &format!("{place}/resume"), "/capabilities/session")?;
    agent.needs(&initialized, &format!("{place}/close"), "/capabilities/session")?;
    // The directory need not exist for the agent to name it, but some agents look.
    std::fs::create_dir_all(extra_root()).map_err(|error| Stop::inconclusive(error.to_string()))?;
    let mut params = agent.session_params();
    params["additionalDirectories"] = json!([extra_root()]);
    let opened = conversation.ok("session/new", params).await.map_err(Stop::while_preparing)?;
    let session = opened["sessionId"].as_str().unwrap_or_default().to_owned();
    let turn = agent.play(&mut conversation, &session, "roots").await?;
    if !turn.text().contains(&extra_root()) {
        return Err(Stop::inconclusive(format!(
            "the agent does not name the further root: `{}`",
            turn.text()
        )));
    }
    let closed = conversation.request("session/close", json!({"sessionId": session})).await;
    closed.map_err(Stop::while_preparing)?;
    let resumed = conversation.ok("session/resume", opening(&session)).await;
    resumed.map_err(Stop::while_preparing)?;
    let turn = agent.play(&mut conversation, &session, "roots").await?;
    let said = turn.text();
    ensure!(!said.contains(&extra_root()), "no further roots where the request names none", "`{said}`");
    Ok(())
}

async fn unknown_sessions_fail(agent: Agent) -> Outcome {
    let (mut conversation, _) = agent.open().await?;
    conversation.error("session/prompt", agent.prompt("conformance-unknown", "Hello")).await?;
    Ok(())
}

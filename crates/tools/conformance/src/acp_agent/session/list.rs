//! Checks of agents: session-list.

use serde_json::{Value, json};

use crate::acp_agent::Agent;
use crate::acp_agent::messages::is_absolute;
use crate::check::{ANY, Check, ORDERED, check};
use crate::conversation::Conversation;
use crate::link::stand_in::random_id;
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::acp_agent) const CHECKS: &[Check<Agent>] = &[
    check!(sessions_are_a_list, ANY),
    check!(no_session_is_an_empty_list, ANY),
    check!(the_filter_holds, ANY),
    check!(listed_directories_are_absolute, ANY),
    check!(an_invalid_cursor_fails, ANY),
    check!(pages_are_bounded, ANY),
    check!(listing_changes_nothing, ANY),
    check!(a_deleted_session_is_not_listed, ORDERED),
    check!(deleting_again_succeeds, ORDERED),
];

/// An agent that lists sessions.
async fn lister(agent: &Agent) -> Outcome<(Conversation, Value)> {
    agent.needs_no_login().await?;
    let (conversation, initialized) = agent.open().await?;
    agent.needs(&initialized, "/agentCapabilities/sessionCapabilities/list", "/capabilities/session")?;
    Ok((conversation, initialized))
}

/// A folder of its own, so that sessions of other conversations do not matter. It is removed in the end.
struct Folder(String);

impl Folder {
    fn new(name: &str) -> Outcome<Self> {
        // Checks run at the same time in each version.
        let name = format!("conformance-{}-{name}", random_id()?);
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).map_err(|error| Stop::inconclusive(error.to_string()))?;
        Ok(Self(folder.to_string_lossy().into_owned()))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // The agent may have left something there.
        let _removed = std::fs::remove_dir(&self.0);
    }
}

/// Begins a session in a folder. Agents may store a session with its first prompt only, so one is sent if there is one.
async fn begin_in(agent: &Agent, at: &mut Conversation, folder: &str) -> Outcome<String> {
    let created = at.ok("session/new", json!({"cwd": folder, "mcpServers": []})).await;
    let session =
        created.map_err(Stop::while_preparing)?["sessionId"].as_str().unwrap_or_default().to_owned();
    if let Ok(text) = agent.setting.text("say") {
        agent.turn(at, &session, text).await.map_err(Stop::while_preparing)?;
    }
    Ok(session)
}

/// All pages of a list.
async fn list(at: &mut Conversation, params: Value) -> Outcome<Vec<Value>> {
    let (mut params, mut sessions) = (params, Vec::new());
    for _ in 0..1000 {
        let result = at.ok("session/list", params.clone()).await?;
        sessions.extend(result["sessions"].as_array().cloned().unwrap_or_default());
        match &result["nextCursor"] {
            Value::String(cursor) => params["cursor"] = json!(cursor),
            _ => return Ok(sessions),
        }
    }
    Err(Stop::inconclusive("session/list has over 1000 pages"))
}

/// Whether a listed session is one of a folder. An agent may resolve links in paths.
fn is_at(session: &Value, folder: &str) -> bool {
    let resolved = |path: &str| std::fs::canonicalize(path).unwrap_or_else(|_| path.into());
    session["cwd"].as_str().is_some_and(|cwd| resolved(cwd) == resolved(folder))
}

fn has(sessions: &[Value], id: &str) -> bool {
    sessions.iter().any(|session| session["sessionId"] == *id)
}

async fn sessions_are_a_list(agent: Agent) -> Outcome {
    let (mut conversation, _) = lister(&agent).await?;
    let result = conversation.ok("session/list", json!({})).await?;
    ensure!(result["sessions"].is_array(), "an array `sessions`", "`{result}`");
    let cursor = &result["nextCursor"];
    ensure!(cursor.is_null() || cursor.is_string(), "a string as `nextCursor`", "`{result}`");
    Ok(())
}

/// An agent that has listed its sessions, so that the next list is about its params alone.
async fn listed(agent: &Agent) -> Outcome<Conversation> {
    let (mut conversation, _) = lister(agent).await?;
    let listed = conversation.ok("session/list", json!({})).await;
    listed.map_err(Stop::while_preparing)?;
    Ok(conversation)
}

async fn no_session_is_an_empty_list(agent: Agent) -> Outcome {
    let mut conversation = listed(&agent).await?;
    let result = conversation.ok("session/list", json!({"cwd": "/conformance/no/session/was/here"})).await?;
    ensure!(result["sessions"].is_array(), "an empty array `sessions`", "`{result}`");
    if result["sessions"] != json!([]) {
        return Err(Stop::inconclusive(format!("the agent lists sessions of other directories: `{result}`")));
    }
    Ok(())
}

async fn the_filter_holds(agent: Agent) -> Outcome {
    agent.setting.text("say")?;
    let (mut conversation, _) = lister(&agent).await?;
    let (in_here, in_there) = (Folder::new("here")?, Folder::new("there")?);
    let (here, there) = (&in_here.0, &in_there.0);
    let session = begin_in(&agent, &mut conversation, here).await?;
    begin_in(&agent, &mut conversation, there).await?;
    // A session may be listed some time after its turn: what the filter leaves out was there before.
    let all = list(&mut conversation, json!({})).await.map_err(Stop::while_preparing)?;
    let sessions = list(&mut conversation, json!({"cwd": here})).await.map_err(Stop::while_preparing)?;
    let other = sessions.iter().find(|session| !is_at(session, here));
    ensure!(other.is_none(), format!("only sessions of {here}"), "`{}`", json!(other));
    ensure!(
        !has(&all, &session) || has(&sessions, &session),
        format!("the session {session} of {here}, which is listed without a filter"),
        "`{}`",
        json!(sessions)
    );
    Ok(())
}

async fn listed_directories_are_absolute(agent: Agent) -> Outcome {
    let (mut conversation, _) = lister(&agent).await?;
    let folder = Folder::new("absolute")?;
    begin_in(&agent, &mut conversation, &folder.0).await?;
    let sessions = list(&mut conversation, json!({})).await.map_err(Stop::while_preparing)?;
    if sessions.is_empty() {
        return Err(Stop::not_applicable("the agent lists no session without a prompt"));
    }
    let is_sound = |session: &&Value| session["cwd"].as_str().is_some_and(is_absolute);
    let other = sessions.iter().find(|session| !is_sound(session));
    ensure!(other.is_none(), "an absolute `cwd` of each session", "`{}`", json!(other));
    Ok(())
}

async fn an_invalid_cursor_fails(agent: Agent) -> Outcome {
    let mut conversation = listed(&agent).await?;
    conversation.error("session/list", json!({"cursor": "conformance-invalid-\u{2028}"})).await?;
    Ok(())
}

async fn pages_are_bounded(agent: Agent) -> Outcome {
    let size = agent.setting.role("page_size")?.as_u64().and_then(|size| usize::try_from(size).ok());
    let size = size.ok_or_else(|| Stop::inconclusive("`page_size` of the profile is not a number"))?;
    let (mut conversation, _) = lister(&agent).await?;
    let folder = Folder::new("pages")?;
    for _ in 0..=size {
        begin_in(&agent, &mut conversation, &folder.0).await?;
    }
    let result = conversation.ok("session/list", json!({"cwd": folder.0})).await;
    let result = result.map_err(Stop::while_preparing)?;
    let count = result["sessions"].as_array().map_or(0, Vec::len);
    ensure!(count <= size, format!("at most {size} sessions on a page"), "{count}");
    match &result["nextCursor"] {
        Value::String(_) => Ok(()),
        _ => Err(Stop::inconclusive(format!("the agent lists {count} of {} sessions", size + 1))),
    }
}

async fn listing_changes_nothing(agent: Agent) -> Outcome {
    let (mut conversation, _) = lister(&agent).await?;
    let folder = Folder::new("twice")?;
    begin_in(&agent, &mut conversation, &folder.0).await?;
    let mut ids = Vec::new();
    for _ in 0..2 {
        let sessions =
            list(&mut conversation, json!({"cwd": folder.0})).await.map_err(Stop::while_preparing)?;
        // An agent may give a session its title in the meantime, so only the ids count.
        let here = sessions.iter().filter(|session| is_at(session, &folder.0));
        let mut listed: Vec<String> = here.map(|session| session["sessionId"].to_string()).collect();
        listed.sort();
        ids.push(listed);
    }
    let (first, second) = (&ids[0], &ids[1]);
    ensure!(first == second, format!("the same sessions again: {first:?}"), "{second:?}");
    Ok(())
}

/// A session that is stored and not open, of an agent that can delete it.
async fn deletable(agent: &Agent) -> Outcome<(Conversation, String, Folder)> {
    let (mut conversation, initialized) = lister(agent).await?;
    let place = "/agentCapabilities/sessionCapabilities";
    agent.needs(&initialized, &format!("{place}/delete"), "/capabilities/session/delete")?;
    let folder = Folder::new("delete")?;
    let session = begin_in(agent, &mut conversation, &folder.0).await?;
    // What an agent does when an active session is deleted is its own decision.
    agent.needs(&initialized, &format!("{place}/close"), "/capabilities/session")?;
    let closed = conversation.request("session/close", json!({"sessionId": session})).await;
    closed.map_err(Stop::while_preparing)?;
    Ok((conversation, session, folder))
}

async fn a_deleted_session_is_not_listed(agent: Agent) -> Outcome {
    let (mut conversation, session, folder) = deletable(&agent).await?;
    let before = list(&mut conversation, json!({"cwd": folder.0})).await.map_err(Stop::while_preparing)?;
    if !has(&before, &session) {
        return Err(Stop::not_applicable("the agent does not list a session without a prompt"));
    }
    let deleted = conversation.ok("session/delete", json!({"sessionId": session})).await;
    deleted.map_err(Stop::while_preparing)?;
    let after = list(&mut conversation, json!({"cwd": folder.0})).await.map_err(Stop::while_preparing)?;
    ensure!(
        !has(&after, &session),
        format!("no deleted session {session} in the list"),
        "`{}`",
        json!(after)
    );
    Ok(())
}

async fn deleting_again_succeeds(agent: Agent) -> Outcome {
    let (mut conversation, session, _) = deletable(&agent).await?;
    let first = conversation.ok("session/delete", json!({"sessionId": session})).await;
    first.map_err(Stop::while_preparing)?;
    conversation.ok("session/delete", json!({"sessionId": session})).await?;
    conversation.ok("session/delete", json!({"sessionId": "conformance-unknown"})).await?;
    Ok(())
}

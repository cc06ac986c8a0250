//! Checks of sessions: their ids, their end, and what they share.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::{QUIET, Session, message_of, messages_within, read_to_response, unique};
use crate::check::{Check, HTTP, check};
use crate::mcp_server::Server;
use crate::verdict::{Outcome, Stop, ensure};

/// How many sessions are opened to compare their ids.
const SAMPLE: usize = 20;
/// In how many characters any two of them have to differ.
const DIFFERENCE: usize = 8;

pub(in crate::mcp_server) const CHECKS: &[Check<Server>] = &[
    check!(session_ids_are_visible_ascii, HTTP),
    check!(session_ids_are_unique_and_random, HTTP),
    check!(a_request_without_session_id_gets_400, HTTP),
    check!(a_terminated_session_gets_404, HTTP),
    check!(an_unknown_session_is_refused, HTTP),
    check!(delete_ends_the_session_or_gets_405, HTTP),
    check!(delete_ends_streams, HTTP),
    check!(two_sessions_share_nothing, HTTP),
];

/// Sends `initialize` and nothing else.
async fn begun(server: &Server) -> Outcome<Session> {
    let mut session = Session::unopened(server).await?;
    session.initialize(server, session.revision).await.map_err(Stop::while_preparing)?;
    Ok(session)
}

async fn session_ids_are_visible_ascii(server: Server) -> Outcome {
    let session = begun(&server).await?;
    let id = session.named()?;
    let is_visible = id.bytes().all(|byte| (0x21..=0x7e).contains(&byte));
    ensure!(is_visible, "a session id of the characters 0x21 to 0x7E", "`{}`", id.escape_debug());
    session.end().await
}

async fn session_ids_are_unique_and_random(server: Server) -> Outcome {
    let mut ids = Vec::new();
    for _ in 0..SAMPLE {
        let session = begun(&server).await?;
        ids.push(session.named()?.to_owned());
        session.end().await?;
    }
    for (at, id) in ids.iter().enumerate() {
        for other in &ids[..at] {
            let pairs = id.bytes().zip(other.bytes());
            let differences = pairs.filter(|(a, b)| a != b).count() + id.len().abs_diff(other.len());
            let expected = "session ids that cannot be guessed from each other";
            ensure!(differences >= DIFFERENCE, expected, "`{other}` and `{id}`");
        }
    }
    Ok(())
}

async fn a_request_without_session_id_gets_400(server: Server) -> Outcome {
    let session = Session::open(&server).await?;
    session.named()?;
    let requests = [
        ("POST", session.post(&session.simple("sessionless"))),
        ("GET", session.get()),
        ("DELETE", session.request("DELETE")),
    ];
    for (method, request) in requests {
        let response = request.without("mcp-session-id").send().await.map_err(Stop::while_preparing)?;
        let status = response.status();
        if method == "POST" && (200..300).contains(&status) {
            return Err(Stop::not_applicable("the server requires no session id"));
        }
        let is_refused = status == 400 || (status == 405 && method != "POST");
        ensure!(is_refused, format!("status 400 for a {method} without a session id"), "status {status}");
    }
    session.end().await
}

/// Ends a session; the check does not apply where a client cannot.
async fn terminate(session: &Session) -> Outcome {
    session.named()?;
    let status = session.request("DELETE").send().await.map_err(Stop::while_preparing)?.status();
    match status {
        200..300 => Ok(()),
        405 => Err(Stop::not_applicable("the server does not let clients end sessions")),
        _ => Err(Stop::inconclusive(format!("DELETE got status {status}"))),
    }
}

async fn a_terminated_session_gets_404(server: Server) -> Outcome {
    let session = Session::open(&server).await?;
    terminate(&session).await?;
    let until = Instant::now() + session.target.wait();
    let mut posted = 0;
    // A server that has accepted DELETE may need a moment.
    while posted != 404 && Instant::now() < until {
        posted =
            session.post(&session.simple("terminated")).send().await.map_err(Stop::while_preparing)?.status();
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    ensure!(posted == 404, "status 404 for a POST after DELETE", "status {posted}");
    let got = session.get().send().await.map_err(Stop::while_preparing)?.status();
    ensure!(got == 404 || got == 405, "status 404 for a GET after DELETE", "status {got}");
    Ok(())
}

async fn an_unknown_session_is_refused(server: Server) -> Outcome {
    let mut session = Session::open(&server).await?;
    session.named()?;
    let known = session.id.replace(unique("conformance")?);
    let request = session.post(&session.simple("unknown"));
    let status = request.send().await.map_err(Stop::while_preparing)?.status();
    let expected = "status 404, or another of 4xx, for a POST with an unknown session id";
    ensure!((400..500).contains(&status), expected, "status {status}");
    session.id = known;
    session.end().await
}

async fn delete_ends_the_session_or_gets_405(server: Server) -> Outcome {
    let session = Session::open(&server).await?;
    session.named()?;
    let status = session.request("DELETE").send().await.map_err(Stop::while_preparing)?.status();
    // A server without DELETE may say so by another status than 405, such as 404 or 501.
    let expected = "the end of the session, or a refusal such as status 405, for DELETE with a session id";
    ensure!((200..500).contains(&status) || status == 501, expected, "status {status}");
    Ok(())
}

async fn delete_ends_streams(server: Server) -> Outcome {
    let session = Session::open(&server).await?;
    let mut get = session.listen().await?;
    terminate(&session).await?;
    let until = Instant::now() + session.target.wait();
    loop {
        match get.event_or_silence(until.saturating_duration_since(Instant::now())).await? {
            Some(Some(_)) => {}
            Some(None) => return Ok(()),
            None => return Err(Stop::failed("the end of the GET stream after DELETE", "it is still open")),
        }
    }
}

async fn two_sessions_share_nothing(server: Server) -> Outcome {
    server.tool("updates").or_else(|_| server.tool("logs"))?;
    let (first, second) = (begun(&server).await?, begun(&server).await?);
    let [a, b] = [first.named()?, second.named()?];
    if a == b {
        return Err(Stop::inconclusive("both sessions have one id, which another requirement judges"));
    }
    for session in [&first, &second] {
        session.post(&super::initialized()).send().await.map_err(Stop::while_preparing)?;
    }
    subscriptions_are_apart(&server, &first, &second).await?;
    log_levels_are_apart(&server, &first, &second).await?;
    first.end().await?;
    second.end().await
}

async fn subscriptions_are_apart(server: &Server, first: &Session, second: &Session) -> Outcome {
    let (Ok(tool), Ok(role)) = (server.tool("updates"), server.setting.role("updates")) else {
        return Ok(());
    };
    let subscribe = first.message("subscribe", "resources/subscribe", json!({"uri": role["uri"]}));
    first.ask(&subscribe).await.map_err(Stop::while_preparing)?;
    let Ok(mut get) = second.listen().await else {
        return Ok(());
    };
    first.ask(&first.call("update", tool, None)).await.map_err(Stop::while_preparing)?;
    let messages = messages_within(&mut get, QUIET).await?;
    let update = messages.iter().find(|message| message["method"] == "notifications/resources/updated");
    let seen = update.unwrap_or(&Value::Null);
    ensure!(update.is_none(), "updates in the session that subscribed, and no other", "`{seen}`");
    Ok(())
}

async fn log_levels_are_apart(server: &Server, first: &Session, second: &Session) -> Outcome {
    let Ok(tool) = server.tool("logs") else {
        return Ok(());
    };
    let level = |level: &str| json!({"level": level});
    let set = second.message("level", "logging/setLevel", level("debug"));
    second.ask(&set).await.map_err(Stop::while_preparing)?;
    let before = logged(second, "logs", &tool).await.map_err(Stop::while_preparing)?;
    let set = first.message("level", "logging/setLevel", level("emergency"));
    first.ask(&set).await.map_err(Stop::while_preparing)?;
    let after = logged(second, "logs-again", &tool).await.map_err(Stop::while_preparing)?;
    let expected = format!("{before} log messages, as before another session set its level");
    ensure!(after == before, expected, "{after}");
    Ok(())
}

/// How many log messages the call of a tool brings on its stream.
async fn logged(session: &Session, id: &str, tool: &Value) -> Outcome<usize> {
    let mut stream = session.post(&session.call(id, tool.clone(), None)).send().await?;
    let (events, _) = read_to_response(&mut stream, session.target.wait(), id).await?;
    let is_log = |message: &Value| message["method"] == "notifications/message";
    Ok(events.iter().filter_map(message_of).filter(is_log).count())
}

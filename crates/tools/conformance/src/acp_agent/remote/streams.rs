//! Checks of agents: event streams over HTTP, of the connection and of its sessions.

use serde_json::{Value, json};

use super::{UNKNOWN, is_response_to, new_session, post, read_until, stream, unknown_method};
use crate::acp_agent::Agent;
use crate::acp_agent::answers::answers;
use crate::acp_agent::turn::update_in;
use crate::check::{Check, HTTP, check};
use crate::link::acp_http::AcpConnection;
use crate::link::http::HttpResponse;
use crate::link::websocket::handshake;
use crate::requirements::revision::Revision;
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::acp_agent) const CHECKS: &[Check<Agent>] = &[
    check!(one_endpoint_serves_all, HTTP),
    check!(streams_need_an_accept_header, HTTP),
    check!(the_session_id_is_checked, HTTP),
    check!(messages_go_to_their_stream, HTTP),
    check!(a_delete_closes_all_streams, HTTP),
];

/// The id of a prompt.
pub(crate) const PROMPT: &str = "conformance-prompt";

async fn one_endpoint_serves_all(agent: Agent) -> Outcome {
    let target = agent.endpoint().await?;
    let connection = AcpConnection::new(target.clone());
    let opened = connection.initialize(&agent.initialize_message()).await;
    let (response, _) = opened.map_err(Stop::while_preparing)?;
    let status = response.status();
    // HT-04 is about other answers.
    ensure!(!is_unserved(status), "an answer to a POST of initialize", "status {status}");
    if status != 200 {
        return Err(Stop::inconclusive(format!("initialize: status {status}")));
    }
    let _stream = stream(&connection, None).await?;
    let upgraded = handshake(&target)?.0.send().await?;
    // An agent may support HTTP alone, and then refuses.
    let is_sound = matches!(upgraded.status(), 101 | 426 | 501);
    let what = "status 101 for a GET with an upgrade to WebSocket, or 426 or 501 where there is none";
    ensure!(is_sound, what, "status {}", upgraded.status());
    let deleted = connection.request("DELETE").send().await?;
    ensure!(
        !is_unserved(deleted.status()),
        "a connection that ends by DELETE",
        "status {}",
        deleted.status()
    );
    Ok(())
}

/// Whether a status means that the endpoint does not have a method.
fn is_unserved(status: u16) -> bool {
    matches!(status, 404 | 405 | 501)
}

async fn streams_need_an_accept_header(agent: Agent) -> Outcome {
    let connection = agent.connected().await?;
    let response = connection.get(None).header("accept", "application/json").send().await?;
    let what = "status 406 for a GET that does not accept text/event-stream";
    ensure!(response.status() == 406, what, "status {}", response.status());
    Ok(())
}

async fn the_session_id_is_checked(agent: Agent) -> Outcome {
    let connection = agent.connected().await?;
    let mut events = stream(&connection, None).await.map_err(Stop::while_preparing)?;
    let response = connection.get(Some(UNKNOWN)).send().await?;
    let what = "status 404 for a GET with an `Acp-Session-Id` that the connection does not know";
    ensure!(response.status() == 404, what, "status {}", response.status());
    let session = new_session(&agent, &connection, &mut events).await.map_err(Stop::while_preparing)?;
    let prompt = agent.prompt(&session, "Hello");
    for message in [
        json!({"jsonrpc": "2.0", "id": PROMPT, "method": "session/prompt", "params": prompt}),
        json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}}),
    ] {
        let response = connection.post(&message).without("acp-session-id").send().await?;
        let what = format!("status 400 for a POST of {} without `Acp-Session-Id`", message["method"]);
        ensure!(response.status() == 400, what, "status {}", response.status());
    }
    Ok(())
}

/// Sends a prompt and answers what the agent asks, up to the end of its work.
async fn prompted(
    agent: &Agent,
    connection: &AcpConnection,
    session: &str,
    events: &mut HttpResponse,
) -> Outcome {
    let text = agent.setting.text("permission").or_else(|_| agent.setting.text("say")).unwrap_or("Hello");
    let params = agent.prompt(session, text);
    let prompt = json!({"jsonrpc": "2.0", "id": PROMPT, "method": "session/prompt", "params": params});
    post(connection, &prompt).await?;
    let mut answers = answers();
    let (mut is_answered, mut is_idle) = (false, false);
    while !is_answered || !is_idle {
        let what = "the response to a prompt on the stream of its session";
        let (message, _) = read_until(events, what, agent.setting.wait, Value::is_object).await?;
        if is_response_to(&message, &json!(PROMPT)) {
            is_answered = true;
            // In version 2 the work goes on.
            is_idle |= agent.revision() == Revision::Acp1 || message.get("error").is_some();
        } else if let Some(update) = update_in(&message) {
            is_idle |= update["state"] == "idle" && update["stopReason"].is_string();
        } else if message.get("method").is_some() && message.get("id").is_some() {
            answer(connection, session, answers(&message), &message).await?;
        }
    }
    Ok(())
}

/// Posts an answer to a request of the agent.
async fn answer(
    connection: &AcpConnection,
    session: &str,
    outcome: Option<Result<Value, Value>>,
    request: &Value,
) -> Outcome {
    let message = match outcome {
        Some(Ok(result)) => json!({"jsonrpc": "2.0", "id": request["id"], "result": result}),
        Some(Err(error)) => json!({"jsonrpc": "2.0", "id": request["id"], "error": error}),
        None => return Ok(()),
    };
    let response = connection.post(&message).header("acp-session-id", session).send().await?;
    let status = response.status();
    ensure!(status == 202, "status 202 for an answer to a request of the agent", "status {status}");
    Ok(())
}

/// The messages on the connection's stream up to the response to a request without a session.
async fn until_marker(
    agent: &Agent,
    connection: &AcpConnection,
    events: &mut HttpResponse,
    id: &str,
) -> Outcome<Vec<Value>> {
    post(connection, &unknown_method(&json!(id))).await?;
    let what = "the response to a request without a session on the stream of the connection";
    let is_last = |message: &Value| is_response_to(message, &json!(id));
    Ok(read_until(events, what, agent.setting.wait, is_last).await?.1)
}

async fn messages_go_to_their_stream(agent: Agent) -> Outcome {
    let connection = agent.connected().await?;
    let mut events = stream(&connection, None).await.map_err(Stop::while_preparing)?;
    let session = new_session(&agent, &connection, &mut events).await.map_err(Stop::while_preparing)?;
    let mut of_session = stream(&connection, Some(&session)).await.map_err(Stop::while_preparing)?;
    // Messages from before the session had a stream of its own do not count.
    let before = until_marker(&agent, &connection, &mut events, "conformance-before").await;
    before.map_err(Stop::while_preparing)?;
    let ended = prompted(&agent, &connection, &session, &mut of_session).await;
    let others = until_marker(&agent, &connection, &mut events, "conformance-after").await;
    let others = others.map_err(Stop::while_preparing)?;
    let is_stray = |message: &&Value| {
        message["params"]["sessionId"] == *session || is_response_to(message, &json!(PROMPT))
    };
    let stray = others.iter().find(is_stray);
    let what = "no message of a session on the stream of the connection while the session has its own";
    ensure!(stray.is_none(), what, "`{}`", json!(stray));
    ended.map_err(Stop::while_preparing)
}

async fn a_delete_closes_all_streams(agent: Agent) -> Outcome {
    let connection = agent.connected().await?;
    let mut events = stream(&connection, None).await.map_err(Stop::while_preparing)?;
    let mut streams = Vec::new();
    // An agent that needs a login has no session here, and its connection has a stream nevertheless.
    if let Ok(session) = new_session(&agent, &connection, &mut events).await {
        streams
            .push(("the session", stream(&connection, Some(&session)).await.map_err(Stop::while_preparing)?));
    }
    streams.push(("the connection", events));
    let response = connection.request("DELETE").send().await?;
    if is_unserved(response.status()) {
        // HT-03 is about this.
        return Err(Stop::inconclusive(format!("DELETE: status {}", response.status())));
    }
    ensure!(response.status() == 202, "status 202 for a DELETE", "status {}", response.status());
    for (owner, mut stream) in streams {
        let until = tokio::time::Instant::now() + agent.setting.wait;
        loop {
            let left = until.saturating_duration_since(tokio::time::Instant::now());
            match stream.event_or_silence(left).await? {
                Some(Some(_)) => {}
                Some(None) => break,
                None => {
                    let what = format!("the end of the stream of {owner} after a DELETE");
                    return Err(Stop::failed(what, "it is open"));
                }
            }
        }
    }
    Ok(())
}

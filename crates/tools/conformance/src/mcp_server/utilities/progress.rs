//! Checks of servers: progress.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::check::{ANY, Check, audit, check};
use crate::conversation::Conversation;
use crate::link::Link;
use crate::mcp_server::Server;
use crate::mcp_server::raw::{SILENCE, is_response};
use crate::trace::{Sender, Trace};
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::mcp_server) const CHECKS: &[Check<Server>] = &[
    audit!(own_tokens, ANY),
    check!(tokens_keep_their_type, ANY),
    check!(progress_grows, ANY),
    check!(nothing_after_the_response, ANY),
    check!(only_with_a_token, ANY),
    check!(no_flood, ANY),
    check!(tokens_of_tasks, ANY),
];

pub(crate) const PROGRESS: &str = "notifications/progress";
/// How long a message may be under way on a stream beside that of a response.
const UNDER_WAY: Duration = Duration::from_millis(500);
/// How many notifications in each second are no flood.
const FLOOD: u64 = 1000;

fn own_tokens(_: &Server, trace: &Trace) -> Outcome {
    let mut active: Vec<(Value, Value)> = Vec::new();
    for (from, message) in crate::mcp_server::exchanges::messages(trace) {
        let id = message.get("id").cloned().unwrap_or_default();
        if from == Sender::Suite {
            active.retain(|(open, _)| *open != id || message.get("method").is_some());
            continue;
        }
        let Some(token) = message.pointer("/params/_meta/progressToken").filter(|_| !id.is_null()) else {
            continue;
        };
        let is_token = token.is_string() || token.is_i64() || token.is_u64();
        ensure!(is_token, "a text or an integer as the progress token", "`{message}`");
        let is_new = active.iter().all(|(open, known)| known != token || *open == id);
        ensure!(is_new, "a progress token that no other active request has", "`{message}`");
        active.push((id, token.clone()));
    }
    Ok(())
}

/// A call with a token, and the progress that the server reports up to its response.
async fn reported(server: &Server, conversation: &mut Conversation, token: &Value) -> Outcome<Vec<Value>> {
    let mut tool = server.tool("progress")?;
    tool["_meta"] = json!({"progressToken": token});
    let id = conversation.start("tools/call", tool).await?;
    let response = conversation.response(&id).await.map_err(Stop::while_preparing)?;
    if response.get("result").is_none() {
        return Err(Stop::inconclusive(format!("the tool of the role `progress` failed: `{response}`")));
    }
    // What is in the queue arrived before the response.
    let arrived = conversation.listen(Duration::ZERO).await?.into_iter().map(|arrived| arrived.message);
    Ok(arrived.filter(|message| message["method"] == PROGRESS).collect())
}

async fn tokens_keep_their_type(server: Server) -> Outcome {
    server.tool("progress")?;
    let mut conversation = server.open().await?;
    let mut given: Vec<Value> = Vec::new();
    for token in [json!(5), json!("6"), json!("a token"), json!(0)] {
        given.push(token.clone());
        let messages = reported(&server, &mut conversation, &token).await?;
        if messages.is_empty() {
            return Err(Stop::inconclusive("the tool of the role `progress` reported nothing"));
        }
        for message in messages {
            // Late progress of an earlier call is the matter of PRG-04.
            let is_given = given.contains(&message["params"]["progressToken"]);
            ensure!(is_given, format!("the token {token}, with its type, in {PROGRESS}"), "`{message}`");
        }
    }
    Ok(())
}

async fn progress_grows(server: Server) -> Outcome {
    server.tool("progress")?;
    let mut conversation = server.open().await?;
    let mut messages = reported(&server, &mut conversation, &json!("growing")).await?;
    // Another token breaks another requirement, as does a value that is not a number.
    messages.retain(|message| message["params"]["progressToken"] == "growing");
    if messages.len() < 2 {
        return Err(Stop::inconclusive("the tool of the role `progress` reported fewer than two steps"));
    }
    let mut last = f64::NEG_INFINITY;
    for message in messages {
        let Some(progress) = message["params"]["progress"].as_f64() else {
            return Err(Stop::inconclusive(format!("the progress is not a number: `{message}`")));
        };
        ensure!(progress > last, format!("a number greater than {last} as the progress"), "`{message}`");
        last = progress;
    }
    Ok(())
}

async fn nothing_after_the_response(server: Server) -> Outcome {
    let mut tool = server.tool("progress")?;
    tool["_meta"] = json!({"progressToken": "last"});
    let mut conversation = server.open().await?;
    let id = conversation.start("tools/call", tool).await?;
    let is_it = |message: &Value| is_response(message) && message["id"] == id;
    let response = conversation.arrived("the response to the call", is_it).await;
    let response = response.map_err(Stop::while_preparing)?;
    let is_progress = |message: &Value| message["method"] == PROGRESS;
    let early = conversation.queued().filter(|message| is_progress(message)).count();
    let arrived = conversation.listen(UNDER_WAY).await?.into_iter();
    // What was sent before the response may be under way on another stream.
    let late = arrived
        .filter(|arrived| is_progress(&arrived.message))
        .skip(early)
        .find(|late| late.stream == response.stream || late.stream == 0);
    let last = late.as_ref().map_or(&Value::Null, |late| &late.message);
    ensure!(late.is_none(), "no progress after the response", "`{last}`");
    conversation.silence(SILENCE, "no progress after the response", |message| !is_progress(message)).await
}

async fn only_with_a_token(server: Server) -> Outcome {
    let tool = server.tool("progress")?;
    let mut conversation = server.open().await?;
    conversation.ok("tools/call", tool).await.map_err(Stop::while_preparing)?;
    let is_allowed = |message: &Value| message["method"] != PROGRESS;
    conversation.silence(SILENCE, "no progress for a request without a token", is_allowed).await
}

async fn no_flood(server: Server) -> Outcome {
    let mut tool = server.tool("flood")?;
    tool["_meta"] = json!({"progressToken": "flood"});
    let mut conversation = server.open().await?;
    let id = conversation.start("tools/call", tool).await?;
    let (begun, mut count) = (Instant::now(), 0);
    loop {
        let message = conversation.wanted("the response to the call", |_| true).await;
        let message = message.map_err(Stop::while_preparing)?;
        if is_response(&message) && message["id"] == id {
            return Ok(());
        }
        count += u64::from(message["method"] == PROGRESS);
        let limit = FLOOD * (1 + begun.elapsed().as_secs());
        let expected = format!("at most {FLOOD} progress notifications a second");
        ensure!(count <= limit, expected, "{count} after {} ms", begun.elapsed().as_millis());
    }
}

async fn tokens_of_tasks(server: Server) -> Outcome {
    let mut tool = server.tool("progress_task")?;
    server.needs("/tasks").await?;
    tool["_meta"] = json!({"progressToken": "task"});
    tool["task"] = json!({});
    let mut conversation = server.open().await?;
    if let Link::Streamable(link) = &mut conversation.link {
        // Over HTTP the messages of a task have no other stream.
        let _status = link.listen().await.map_err(Stop::while_preparing)?;
    }
    let created = conversation.ok("tools/call", tool).await.map_err(Stop::while_preparing)?;
    // A server need not report progress at all.
    let progress = conversation.call(PROGRESS).await.map_err(Stop::while_preparing)?;
    ensure!(
        progress["params"]["progressToken"] == "task",
        "the token of the request that started the task in its progress notifications",
        "`{progress}`"
    );
    let id = created.pointer("/task/taskId").cloned().unwrap_or_default();
    conversation.ok("tasks/result", json!({"taskId": id})).await.map_err(Stop::while_preparing)?;
    // What was under way on another stream is not counted.
    let _before = conversation.listen(UNDER_WAY).await?;
    conversation.ok("ping", json!({})).await.map_err(Stop::while_preparing)?;
    let is_allowed = |message: &Value| message["method"] != PROGRESS;
    conversation.silence(SILENCE, "no progress after the end of the task", is_allowed).await
}

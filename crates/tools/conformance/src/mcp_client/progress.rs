//! Checks of clients: progress.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::McpClient;
use super::opened::QUIET;
use crate::check::{ANY, Check, check};
use crate::verdict::{Outcome, Stop, ensure};

pub(super) const CHECKS: &[Check<McpClient>] = &[
    check!(tokens_differ, ANY),
    check!(unknown_tokens_are_ignored, ANY),
    check!(progress_names_the_token_of_its_request, ANY),
    check!(progress_grows, ANY),
];

const CALL: &str = "tools/call";

fn call() -> Value {
    json!({"tool": "echo", "arguments": {"text": "one"}, "progress": true})
}

async fn tokens_differ(client: McpClient) -> Outcome {
    let mut opened = client.connected(client.script().leaves(CALL)).await?;
    let mut tokens: Vec<Value> = Vec::new();
    for _ in 0..5 {
        opened.then("call_tool", call()).await?;
        let request = opened.server.call(CALL).await.map_err(Stop::while_preparing)?;
        let Some(token) = request.pointer("/params/_meta/progressToken").cloned() else {
            return Err(Stop::not_applicable("the client asks for no progress"));
        };
        ensure!(
            token.is_string() || token.is_i64() || token.is_u64(),
            "a string or an integer as the progress token",
            "`{request}`"
        );
        ensure!(
            !tokens.contains(&token),
            "a token that no other active request has",
            "`{request}` after {tokens:?}"
        );
        tokens.push(token);
    }
    Ok(())
}

async fn unknown_tokens_are_ignored(client: McpClient) -> Outcome {
    let (mut opened, request) = client.held().await?;
    let report = |token: &Value| json!({"progressToken": token, "progress": 1});
    for token in [json!("nobody's"), json!(123_456)] {
        opened.server.notify("notifications/progress", report(&token)).await?;
    }
    opened.release(&request).await?;
    if opened.takes_steps().is_err() {
        return Ok(());
    }
    opened.server.answer_with(client.script().leaves(CALL).answers());
    for _ in 0..2 {
        let step = opened.then("call_tool", call()).await?;
        let request = opened.server.call(CALL).await.map_err(Stop::while_preparing)?;
        opened.server.reply(&request, client.script().result(CALL)).await?;
        opened.ok_of(step).await?;
        if let Some(token) = request.pointer("/params/_meta/progressToken") {
            opened.server.notify("notifications/progress", report(token)).await?;
        }
    }
    Ok(())
}

/// A client need not report progress at all.
async fn progress_grows(client: McpClient) -> Outcome {
    client.needs_sessions()?;
    let (mut opened, _) = client.held().await?;
    let given = ["the ping", "the roots"];
    for (method, token) in ["ping", "roots/list"].into_iter().zip(given) {
        let params = json!({"_meta": {"progressToken": token}});
        opened.server.request(method, params).await.map_err(Stop::while_preparing)?;
    }
    let mut last: HashMap<String, f64> = HashMap::new();
    for arrived in opened.server.listen(QUIET).await? {
        let params = &arrived.message["params"];
        // Another token, and a value that is not a number, break other requirements.
        let token = params["progressToken"].as_str().filter(|token| given.contains(token));
        let (Some(token), Some(progress)) = (token, params["progress"].as_f64()) else { continue };
        let before = last.insert(token.to_owned(), progress).unwrap_or(f64::NEG_INFINITY);
        let expected = format!("a number greater than {before} as the progress");
        ensure!(progress > before, expected, "`{}`", arrived.message);
    }
    Ok(())
}

/// A client need not report progress at all.
async fn progress_names_the_token_of_its_request(client: McpClient) -> Outcome {
    let (mut opened, _) = client.held().await?;
    let given = ["the ping", "the roots"];
    let meta = |token: &str| json!({"_meta": {"progressToken": token}});
    opened.server.ok("ping", meta(given[0])).await.map_err(Stop::while_preparing)?;
    if opened.needs("roots").is_ok() {
        opened.server.ok("roots/list", meta(given[1])).await.map_err(Stop::while_preparing)?;
    }
    for arrived in opened.server.listen(QUIET).await? {
        let message = &arrived.message;
        let token = &message["params"]["progressToken"];
        ensure!(
            message["method"] != "notifications/progress" || given.iter().any(|given| token == given),
            "the token of a request of the server in notifications/progress",
            "`{message}`"
        );
    }
    Ok(())
}

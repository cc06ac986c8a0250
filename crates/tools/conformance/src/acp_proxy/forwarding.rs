//! Checks of proxies: messages that they do not know.

use serde_json::{Value, json};

use super::Proxy;
use crate::acp_messages::{SUCCESSOR, is_response, wraps};
use crate::check::{Check, STDIO, check};
use crate::conversation::Conversation;
use crate::verdict::{Outcome, ensure};

pub(super) const CHECKS: &[Check<Proxy>] = &[check!(passes_on_what_it_does_not_know, STDIO)];

fn params() -> Value {
    json!({"any": [1, "two", null], "_meta": {"example.com/any": {"deep": [1.5]}}})
}

async fn passes_on_what_it_does_not_know(proxy: Proxy) -> Outcome {
    let mut at = proxy.open().await?;
    for method in ["_conformance/ask", "conformance/unknown"] {
        passes_to_successor(&mut at, method).await?;
    }
    at.notify("_conformance/note", params()).await?;
    let note = at.wanted("an unknown notification in `proxy/successor`", |message| {
        wraps(message, "_conformance/note")
    });
    let note = note.await?;
    ensure!(note.get("id").is_none(), "the notification without an id", "`{note}`");
    is_unchanged(&note["params"], "the notification")?;
    passes_to_client(&mut at).await?;
    keeps_meta_of_known_requests(&mut at).await
}

/// Sends a request as the client, and answers it as the successor.
async fn passes_to_successor(at: &mut Conversation, method: &str) -> Outcome {
    let id = at.start(method, params()).await?;
    let what = format!("`{method}` in `proxy/successor`");
    let passed = at.wanted(&what, |message| is_response(message, &id) || wraps(message, method)).await?;
    ensure!(passed.get("method").is_some() && passed.get("id").is_some(), what, "`{passed}`");
    is_unchanged(&passed["params"], "the request")?;
    let result = json!({"done": [true, null], "_meta": {"example.com/any": 1}});
    at.reply(&passed, result.clone()).await?;
    let response = at.response(&id).await?;
    ensure!(response["result"] == result, format!("the successor's result, `{result}`"), "`{response}`");
    Ok(())
}

/// Sends a notification and a request as the successor, and answers as the client.
async fn passes_to_client(at: &mut Conversation) -> Outcome {
    at.notify(SUCCESSOR, json!({"method": "_conformance/note", "params": params()})).await?;
    let note = at.wanted("an unknown notification of the successor", |message| {
        message["method"] == "_conformance/note"
    });
    is_unchanged(&note.await?, "the notification")?;
    let id = at.start(SUCCESSOR, json!({"method": "_conformance/ask", "params": params()})).await?;
    let what = "an unknown request of the successor";
    let accept = |message: &Value| is_response(message, &id) || message["method"] == "_conformance/ask";
    let passed = at.wanted(what, accept).await?;
    ensure!(passed.get("method").is_some() && passed.get("id").is_some(), what, "`{passed}`");
    is_unchanged(&passed, "the request")?;
    // PX-04 is about the answer.
    at.reply(&passed, json!({})).await
}

fn is_unchanged(message: &Value, what: &str) -> Outcome {
    let (sent, expected) = (params(), format!("the params of {what} as they were, with `_meta`"));
    ensure!(message["params"] == sent, expected, "`{message}` in place of `{sent}`");
    Ok(())
}

/// A proxy may change what it knows, or answer it, but not what is in `_meta`.
async fn keeps_meta_of_known_requests(at: &mut Conversation) -> Outcome {
    let meta = json!({"example.com/any": {"deep": [1.5]}});
    let request = json!({"cwd": std::env::temp_dir(), "mcpServers": [], "_meta": meta});
    let id = at.start("session/new", request).await?;
    let what = "`session/new` in `proxy/successor`, or a response";
    let accept = |message: &Value| is_response(message, &id) || wraps(message, "session/new");
    let passed = at.wanted(what, accept).await?;
    if passed.get("method").is_some() {
        let kept = &passed["params"]["params"]["_meta"]["example.com/any"];
        ensure!(*kept == meta["example.com/any"], "what the client sent in `_meta`", "`{passed}`");
    }
    Ok(())
}

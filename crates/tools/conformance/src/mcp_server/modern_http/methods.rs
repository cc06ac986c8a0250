//! Checks of servers: responses to messages and methods that they do not serve.

use serde_json::{Value, json};

use super::{DISCOVER, MISSING_CAPABILITY, posted, request, serves_sessions, tell};
use crate::check::{ANY, Check, HTTP, check};
use crate::mcp_server::Server;
use crate::mcp_server::features::METHOD_NOT_FOUND;
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::mcp_server) const CHECKS: &[Check<Server>] = &[
    check!(undeclared_capability_is_named, ANY),
    check!(unknown_method_is_not_found, HTTP),
    check!(notification_has_an_empty_answer, HTTP),
    check!(neither_get_nor_delete, HTTP),
    check!(sessions_and_events_are_ignored, HTTP),
];

async fn undeclared_capability_is_named(server: Server) -> Outcome {
    let tool = server.tool("asks")?;
    let mut message = request(&server, "tools/call", tool);
    message["params"]["_meta"] = server.meta(json!({}));
    let answer = tell(&server, &message).await?;
    let result = &answer.body["result"];
    if result["resultType"] == "input_required" {
        return Err(Stop::inconclusive(
            "the server asks for what the client did not declare, which MRT-03 covers",
        ));
    }
    if result.is_object() && result["isError"] != true {
        return Err(Stop::not_applicable("the tool needs no capability of the client"));
    }
    let to = "a call that needs a capability which the client did not declare";
    answer.expect_error(400, MISSING_CAPABILITY, to)?;
    let required = answer.body.pointer("/error/data/requiredCapabilities").and_then(Value::as_object);
    ensure!(
        required.is_some_and(|all| !all.is_empty()),
        "the capabilities as `requiredCapabilities` of the error's data",
        "`{}`",
        answer.body
    );
    Ok(())
}

async fn unknown_method_is_not_found(server: Server) -> Outcome {
    let answer = tell(&server, &request(&server, "conformance/unknown", json!({}))).await?;
    answer.expect_error(404, METHOD_NOT_FOUND, "an unknown method")
}

async fn notification_has_an_empty_answer(server: Server) -> Outcome {
    let mut message = request(&server, "notifications/cancelled", json!({"requestId": "conformance"}));
    message.as_object_mut().map(|message| message.remove("id"));
    let mut response = posted(&server, &message).await?.send().await?;
    let status = response.status();
    if status >= 400 {
        // A server need not accept it.
        return Err(Stop::not_applicable(format!(
            "the server answers a notification with the status {status}"
        )));
    }
    ensure!(status == 202, "the status 202 for a notification that is accepted", "the status {status}");
    let body = response.bytes().await?;
    ensure!(body.is_empty(), "an empty body for a notification", "`{}`", String::from_utf8_lossy(&body));
    Ok(())
}

async fn neither_get_nor_delete(server: Server) -> Outcome {
    let target = server.http().await?;
    for method in ["GET", "DELETE"] {
        let request = target.request(method).header("accept", "text/event-stream");
        let response = request.header("mcp-protocol-version", server.revision().as_str()).send().await?;
        let status = response.status();
        if status != 405 && serves_sessions(&server).await? {
            return Err(Stop::not_applicable("the server also serves revisions with GET and DELETE"));
        }
        ensure!(status == 405, format!("the status 405 for {method}"), "the status {status}");
    }
    Ok(())
}

async fn sessions_and_events_are_ignored(server: Server) -> Outcome {
    let post = posted(&server, &request(&server, DISCOVER, json!({}))).await?;
    for (name, value) in [("mcp-session-id", "conformance"), ("last-event-id", "1")] {
        let response = post.clone().header(name, value).send().await?;
        let (status, session) = (response.status(), response.header("mcp-session-id"));
        let is_ignored = status == 200 && session.is_none();
        if !is_ignored && serves_sessions(&server).await? {
            return Err(Stop::not_applicable("the server also serves revisions with sessions"));
        }
        ensure!(
            is_ignored,
            format!("the status 200 and no Mcp-Session-Id for a request with the header {name}"),
            "the status {status} and the session id {session:?}"
        );
    }
    Ok(())
}

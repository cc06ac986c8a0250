//! How a session begins.

use serde_json::{Value, json};

use crate::check::{ANY, Check, check};
use crate::mcp_client::McpClient;
use crate::mcp_client::opened::{Opened, QUIET};
use crate::trace::Sender;
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::mcp_client) const CHECKS: &[Check<McpClient>] = &[
    check!(initialize_comes_first, ANY),
    check!(initialize_has_its_members, ANY),
    check!(client_info_has_its_members, ANY),
    check!(initialized_comes_before_requests, ANY),
    check!(nothing_comes_before_the_answer, ANY),
    check!(details_of_the_server_are_accepted, ANY),
];

/// The requests allowed before a session: pings, and the question of a client that also does without sessions.
fn is_free(message: &Value) -> bool {
    message["method"] == "ping" || message["method"] == "server/discover"
}

async fn initialize_comes_first(client: McpClient) -> Outcome {
    let mut opened = client
        .open("list_tools", json!({}), client.script().leaves("initialize").leaves("tools/list"))
        .await?;
    let any = opened.server.wanted("a message", |message| !is_free(message)).await;
    any.map_err(Stop::while_preparing)?;
    // Over HTTP the suite refuses a request without a session, and only the trace has it.
    let messages = client.setting.trace.messages(Sender::Subject);
    let first = messages.iter().find(|message| !is_free(message)).cloned().unwrap_or_default();
    ensure!(first["method"] == "initialize", "initialize as the first message", "`{first}`");
    Ok(())
}

/// A client in its first step, and its initialize request, which waits for an answer.
async fn initializing(client: &McpClient) -> Outcome<(Opened, Value)> {
    let script = client.script().leaves("initialize").leaves("tools/list");
    let mut opened = client.open("list_tools", json!({}), script).await?;
    let request = opened.server.call("initialize").await.map_err(Stop::while_preparing)?;
    Ok((opened, request))
}

async fn initialize_has_its_members(client: McpClient) -> Outcome {
    let (_opened, request) = initializing(&client).await?;
    let params = &request["params"];
    ensure!(params["protocolVersion"].is_string(), "a protocol version in initialize", "`{request}`");
    ensure!(params["capabilities"].is_object(), "the client's capabilities in initialize", "`{request}`");
    ensure!(params["clientInfo"].is_object(), "a clientInfo in initialize", "`{request}`");
    Ok(())
}

async fn client_info_has_its_members(client: McpClient) -> Outcome {
    let (_opened, request) = initializing(&client).await?;
    let info = &request["params"]["clientInfo"];
    if !info.is_object() {
        return Err(Stop::inconclusive("initialize has no clientInfo"));
    }
    for member in ["name", "version"] {
        ensure!(
            info[member].is_string(),
            format!("a {member} in the clientInfo of initialize"),
            "`{request}`"
        );
    }
    Ok(())
}

async fn initialized_comes_before_requests(client: McpClient) -> Outcome {
    let mut opened = client.open("list_tools", json!({}), client.script().leaves("tools/list")).await?;
    let what = "notifications/initialized before any request other than ping";
    let initialized = "notifications/initialized";
    let is_first = |message: &Value| {
        message["method"] == initialized || message.get("id").is_some() && !is_free(message)
    };
    let first = opened.server.wanted(what, is_first).await?;
    ensure!(first["method"] == initialized, what, "`{first}`");
    Ok(())
}

async fn nothing_comes_before_the_answer(client: McpClient) -> Outcome {
    let (mut opened, _) = initializing(&client).await?;
    if opened.takes_steps().is_ok() {
        opened.then("list_prompts", json!({})).await?;
    }
    opened.server.serve(QUIET).await?;
    // Another requirement is about requests before initialize.
    let asked = opened.server.asked.iter().skip_while(|request| request["method"] != "initialize");
    for request in asked {
        let what = "no request but pings before the response to initialize";
        ensure!(is_free(request) || request["method"] == "initialize", what, "`{request}`");
    }
    Ok(())
}

async fn details_of_the_server_are_accepted(client: McpClient) -> Outcome {
    let mut result = client.script().result("initialize");
    result["serverInfo"] = json!({
        "name": "conformance",
        "title": "A server",
        "version": "1.0.0",
        "description": "A server that is played",
        "websiteUrl": "https://example.com",
        "icons": [{"src": "https://example.com/icon.png", "mimeType": "image/png", "sizes": ["48x48"], "theme": "light"}],
    });
    let mut opened =
        client.open("list_tools", json!({}), client.script().on_exactly("initialize", result)).await?;
    opened.ok().await.map(drop)
}

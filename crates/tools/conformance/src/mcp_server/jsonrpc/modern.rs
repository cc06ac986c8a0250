//! Checks of servers: what revisions without sessions demand of each message, and the schemas of tools.

use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::super::Server;
use super::super::exchanges::is_in_revision;
use super::super::features::{List, entries};
use super::super::raw::SILENCE;
use super::ready;
use crate::check::{ANY, Check, audit, check};
use crate::mcp_messages::sent;
use crate::trace::Trace;
use crate::verdict::{Outcome, Stop, ensure};

pub(in super::super) const CHECKS: &[Check<Server>] = &[
    audit!(results_have_a_type, ANY),
    check!(no_reference_is_followed, ANY),
    check!(schemas_are_of_2020_12, ANY),
    check!(unknown_dialects_are_refused, ANY),
];

fn results_have_a_type(server: &Server, trace: &Trace) -> Outcome {
    if !is_in_revision(server, trace) {
        return Ok(());
    }
    for message in sent(trace) {
        if let Some(result) = message.get("result") {
            ensure!(
                result["resultType"].is_string(),
                "a text as the `resultType` of each result",
                "`{message}`"
            );
        }
    }
    Ok(())
}

/// The host and port of the first reference over HTTP in a schema.
pub(crate) fn address_in(schema: &Value) -> Option<String> {
    let text = schema.to_string();
    let (_, url) = text.split_once(r#""$ref":"http://"#)?;
    Some(url.split(['/', '"']).next()?.to_owned())
}

async fn no_reference_is_followed(server: Server) -> Outcome {
    let tool = server.tool("remote_ref")?;
    let mut conversation = ready(&server).await?;
    let listed = conversation.ok("tools/list", json!({})).await.map_err(Stop::while_preparing)?;
    let mut tools = listed["tools"].as_array().into_iter().flatten();
    let address = tools.find(|listed| listed["name"] == tool["name"]).and_then(address_in);
    let address = address.ok_or_else(|| Stop::inconclusive("no `$ref` over HTTP is in the tool's schema"))?;
    let listener = TcpListener::bind(&address).await;
    let listener = listener
        .map_err(|error| Stop::inconclusive(format!("`{address}` cannot be listened at: {error}")))?;
    // The call may fail, since the schema cannot be known in full. A server that fetches the schema may not answer at all.
    let called = conversation.request("tools/call", tool).await;
    // A server may look at its schemas when it starts.
    let opened = server.open().await;
    if let Ok(accepted) = tokio::time::timeout(SILENCE, listener.accept()).await {
        let from = accepted.map(|(_, from)| from.to_string()).unwrap_or_default();
        let expected = "no connection to the address of a reference in a tool's schema";
        return Err(Stop::failed(expected, format!("a connection from {from}")));
    }
    called.and(opened).map(drop).map_err(Stop::while_preparing)
}

async fn schemas_are_of_2020_12(server: Server) -> Outcome {
    let tool = server.tool("pair")?;
    let expected = format!("an error for `{tool}`, which dialect 2020-12 forbids");
    fails(&server, tool, expected).await
}

async fn unknown_dialects_are_refused(server: Server) -> Outcome {
    let tool = server.tool("foreign_dialect")?;
    let mut conversation = ready(&server).await?;
    let tools = entries(&mut conversation, List::TOOLS).await?;
    let listed = tools.into_iter().find(|listed| listed["name"] == tool["name"]).unwrap_or_default();
    let dialect = listed["inputSchema"]["$schema"].as_str();
    if dialect.is_none_or(|dialect| dialect.contains("json-schema.org")) {
        return Err(Stop::inconclusive(format!(
            "the server lists no schema in a foreign dialect: `{listed}`"
        )));
    }
    fails(&server, tool, "an error for a schema in an unknown dialect".to_owned()).await
}

/// Fails unless the call of a tool fails.
async fn fails(server: &Server, tool: Value, expected: String) -> Outcome {
    let mut conversation = ready(server).await?;
    let response = conversation.request("tools/call", tool).await.map_err(Stop::while_preparing)?;
    ensure!(is_error(&response), expected, "`{response}`");
    Ok(())
}

/// Whether a call failed, as a request or as a tool.
fn is_error(response: &Value) -> bool {
    response.get("error").is_some() || response.pointer("/result/isError") == Some(&json!(true))
}

//! Checks of servers: ping.

use serde_json::json;

use crate::check::{ANY, Check, check, shared};
use crate::link::Link;
use crate::mcp_server::raw;
use crate::mcp_server::{Server, capabilities};
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::mcp_server) const CHECKS: &[Check<Server>] =
    &[check!(ping_is_answered, ANY), check!(lost_connection, ANY), shared!(ping_is_gone, ANY)];

async fn ping_is_answered(server: Server) -> Outcome {
    let mut conversation = server.connect().await?;
    let params = server.initialize(capabilities(server.revision()));
    conversation.ok("initialize", params).await.map_err(Stop::while_preparing)?;
    for is_initialized in [false, true] {
        if is_initialized {
            conversation.notify("notifications/initialized", json!({})).await?;
        }
        let result = conversation.ok("ping", json!({})).await?;
        let members = result.as_object().map(|result| result.keys().filter(|name| *name != "_meta").count());
        ensure!(members == Some(0), "an empty result of ping", "`{result}`");
    }
    Ok(())
}

/// Other requirements are about the error for an unknown method.
async fn ping_is_gone(server: Server) -> Outcome {
    let mut conversation = server.open().await?;
    conversation.ok("server/discover", json!({})).await.map_err(Stop::while_preparing)?;
    let message = raw::message(&server, &json!("ping"), "ping", json!({}));
    let reaction = raw::react_to(&mut conversation, &message, 1).await.map_err(Stop::while_preparing)?;
    let has_result = reaction.messages.iter().any(|message| message.get("result").is_some());
    ensure!(!has_result, "no result of ping, which this revision does not have", "{reaction}");
    Ok(())
}

/// A server that notices fails the call, or ends the conversation.
async fn lost_connection(server: Server) -> Outcome {
    let tool = server.tool("pings")?;
    let mut conversation = server.open().await?;
    conversation.answer_with(|_| None);
    if let Link::Streamable(link) = &mut conversation.link {
        // The ping may come on the stream that belongs to no request.
        let _status = link.listen().await.map_err(Stop::while_preparing)?;
    }
    let id = conversation.start("tools/call", tool).await?;
    conversation.call("ping").await.map_err(Stop::while_preparing)?;
    let response = conversation.response(&id).await;
    if conversation.is_closed() {
        return Ok(());
    }
    let response = response?;
    let is_error =
        response.get("error").is_some() || response.pointer("/result/isError") == Some(&json!(true));
    ensure!(is_error, "the failure of a call whose ping stays unanswered", "`{response}`");
    Ok(())
}

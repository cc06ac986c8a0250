//! Kinds of results, and errors of older servers.

use serde_json::json;

use crate::check::{ANY, Check, check};
use crate::mcp_client::McpClient;
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::mcp_client) const CHECKS: &[Check<McpClient>] =
    &[check!(unknown_result_types_are_errors, ANY), check!(the_old_code_is_understood, ANY)];

async fn unknown_result_types_are_errors(client: McpClient) -> Outcome {
    let mut result = client.script().result("tools/list");
    result["resultType"] = json!("conformance/unknown");
    let script = client.script().on_exactly("tools/list", result);
    let mut opened = client.open("list_tools", json!({}), script).await?;
    let outcome = opened.outcome(opened.step).await.map_err(Stop::while_preparing)?;
    ensure!(outcome.get("error").is_some(), "an error about a result whose type is unknown", "`{outcome}`");
    Ok(())
}

async fn the_old_code_is_understood(client: McpClient) -> Outcome {
    let script = client.script().fails("resources/read", -32002, "Resource not found");
    let mut opened = client.open("read_resource", json!({"uri": "test://none"}), script).await?;
    let outcome = opened.outcome(opened.step).await.map_err(Stop::while_preparing)?;
    ensure!(outcome.get("error").is_some(), "an error about a resource that was not found", "`{outcome}`");
    Ok(())
}

//! Schemas that pass through the client.

use agentwire_mcp_client::BoxError;
use serde_json::json;

use crate::Case;

/// Gives a tool's schema back as it came.
pub(crate) async fn preservation(case: Case) -> Result<(), BoxError> {
    let client = case.client();
    case.run(client, async |server| {
        let tools = server.tools().collect().await?;
        let tool = tools.into_iter().find(|tool| tool.name == "json_schema_2020_12_tool");
        let schema = tool.ok_or("the tool is missing")?.input_schema;
        server.call_tool("json_schema_echo", json!({ "schema": schema })).await?;
        Ok(())
    })
    .await?;
    Ok(())
}

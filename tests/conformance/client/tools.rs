//! Tools listed and called.

use agentwire_mcp_client::BoxError;
use serde_json::json;

use crate::Case;

/// Lists the tools. For all scenarios that watch how a client opens and how it describes itself.
pub(crate) async fn list(case: Case) -> Result<(), BoxError> {
    let client = case.client();
    case.run(client, async |server| {
        if server.capabilities().tools.is_some() {
            server.tools().collect().await?;
        }
        Ok(())
    })
    .await?;
    Ok(())
}

/// Adds two numbers.
pub(crate) async fn add(case: Case) -> Result<(), BoxError> {
    let client = case.client();
    case.run(client, async |server| {
        server.tools().collect().await?;
        server.call_tool("add_numbers", json!({ "a": 5, "b": 3 })).await?;
        Ok(())
    })
    .await?;
    Ok(())
}

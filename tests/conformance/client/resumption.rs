//! Streams that end before their answer.

use agentwire_mcp_client::BoxError;
use serde_json::json;

use crate::Case;

/// Calls a tool whose answer comes on another stream than it began on.
pub(crate) async fn retry(case: Case) -> Result<(), BoxError> {
    let client = case.client();
    case.run(client, async |server| {
        server.tools().collect().await?;
        server.call_tool("test_reconnection", json!({})).await?;
        Ok(())
    })
    .await?;
    Ok(())
}

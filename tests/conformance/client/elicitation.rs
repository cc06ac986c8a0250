//! The questions of a form to the user.

use agentwire_mcp_client::BoxError;
use agentwire_mcp_client::schema::{ElicitResult, JsonObject};
use serde_json::json;

use crate::Case;

/// Accepts a form without touching it, so that its defaults are the answer.
pub(crate) async fn defaults(case: Case) -> Result<(), BoxError> {
    let client = case.client().elicitation(|_| async { Ok(ElicitResult::accept(JsonObject::new())) });
    case.run(client, async |server| {
        server.tools().collect().await?;
        server.call_tool("test_client_elicitation_defaults", json!({})).await?;
        Ok(())
    })
    .await?;
    Ok(())
}

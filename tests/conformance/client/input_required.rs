//! Calls that a server answers by asking for something first.

use std::sync::{Arc, OnceLock};

use agentwire_mcp_client::schema::{ElicitResult, JsonObject};
use agentwire_mcp_client::{BoxError, ErrorObject, RemoteServer};
use serde_json::json;

use crate::Case;

/// Answers what tools ask for. In the middle of that, another tool is called, which must not be mixed up with the first.
pub(crate) async fn request_state(case: Case) -> Result<(), BoxError> {
    let known: Arc<OnceLock<RemoteServer>> = Arc::default();
    let shared = known.clone();
    let client = case.client().elicitation(move |_| {
        let server = shared.get().cloned();
        async move {
            if let Some(server) = server {
                let unrelated = server.call_tool("test_mrtr_unrelated", json!({})).await;
                unrelated.map_err(ErrorObject::internal_error)?;
            }
            let content = JsonObject::from_iter([("confirmed".to_owned(), json!(true))]);
            Ok(ElicitResult::accept(content))
        }
    });
    case.run(client, async |server| {
        server.tools().collect().await?;
        known.get_or_init(|| server.clone());
        for tool in ["test_mrtr_echo_state", "test_mrtr_no_state", "test_mrtr_no_result_type"] {
            server.call_tool(tool, json!({})).await?;
        }
        Ok(())
    })
    .await?;
    Ok(())
}

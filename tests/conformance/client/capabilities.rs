//! A client's description of itself.

use agentwire_mcp_client::BoxError;
use agentwire_mcp_client::schema::{CreateMessageResult, ElicitResult, Root};

use crate::Case;

/// Answers everything that a server may ask, and so advertises that it can.
pub(crate) async fn declare(case: Case) -> Result<(), BoxError> {
    let client = case
        .client()
        .roots(vec![Root::new("file:///project")])
        .sampling(|_| async { Ok(CreateMessageResult::new("no-model", "Nothing comes to mind.")) })
        .elicitation(|_| async { Ok(ElicitResult::decline()) });
    case.run(client, async |server| {
        server.tools().collect().await?;
        Ok(())
    })
    .await?;
    Ok(())
}

//! The parts that both set-ups of the rmcp server share: the tools' arguments, the burst, and the extra tools that `TOOLS` asks for.

use std::sync::Arc;

use rmcp::handler::server::router::tool::{ToolRoute, ToolRouter};
use rmcp::model::{
    CallToolResult, ContentBlock, JsonObject, ProgressNotificationParam, RequestMetaObject, Tool,
};
use rmcp::{ErrorData, Peer, RoleServer};
use schemars::JsonSchema;
use serde::Deserialize;

/// The arguments of `echo`.
#[derive(Deserialize, JsonSchema)]
pub struct Echo {
    pub text: String,
}

/// The arguments of `burst`.
#[derive(Deserialize, JsonSchema)]
pub struct Burst {
    pub n: u64,
}

/// Sends `n` progress notifications on the request's token.
pub async fn burst(n: u64, meta: RequestMetaObject, client: Peer<RoleServer>) -> Result<String, ErrorData> {
    if let Some(token) = meta.get_progress_token() {
        for progress in 1..=n {
            let note = ProgressNotificationParam::new(token.clone(), progress as f64).with_total(n as f64);
            client
                .notify_progress(note)
                .await
                .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        }
    }
    Ok("done".into())
}

/// Adds as many tools as the environment's `TOOLS`, each with a schema as the macro would make it.
pub fn with_more_tools<S: Send + Sync + 'static>(mut router: ToolRouter<S>) -> ToolRouter<S> {
    let more: usize = std::env::var("TOOLS").ok().and_then(|tools| tools.parse().ok()).unwrap_or(0);
    for n in 0..more {
        let tool = Tool::new(format!("more-{n}"), "One more tool", Arc::new(JsonObject::new()))
            .with_input_schema::<Echo>();
        router.add_route(ToolRoute::new_dyn(tool, |_call| {
            Box::pin(async { Ok(CallToolResult::success(vec![ContentBlock::text("more")]).into()) })
        }));
    }
    router
}

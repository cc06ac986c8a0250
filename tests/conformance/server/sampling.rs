//! A tool that asks the client's language model.

use agentwire_mcp_server::schema::{CreateMessageRequest, SamplingContent, SamplingMessage};
use agentwire_mcp_server::{Context, Server, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

pub(crate) fn offer(server: Server) -> Server {
    server.tool("test_sampling", "Asks the client's model", ask)
}

#[derive(Deserialize, JsonSchema)]
struct Ask {
    /// The question.
    prompt: String,
}

async fn ask(Ask { prompt }: Ask, cx: Context) -> Result<String, ToolError> {
    let request = CreateMessageRequest::new(vec![SamplingMessage::user(prompt)], 100);
    let answer = cx.sample("answer", request).await?;
    let text: String = answer.content.iter().filter_map(SamplingContent::as_text).collect();
    Ok(format!("LLM response: {text}"))
}

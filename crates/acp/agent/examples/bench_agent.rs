//! An agent for benchmarks: a prompt `burst N` sends N updates, any other text ends the turn at once.

use agentwire_acp_agent::{Agent, Context, Error, serve};
use agentwire_acp_schema::v1::{
    ContentBlock, InitializeRequest, InitializeResponse, NewSessionRequest, NewSessionResponse,
    PromptRequest, PromptResponse, SessionNotification, StopReason,
};
use agentwire_transport_stdio::stdio;

struct Bench;

impl Agent for Bench {
    async fn initialize(&self, request: InitializeRequest, _: Context) -> Result<InitializeResponse, Error> {
        Ok(InitializeResponse::new(request.protocol_version))
    }

    async fn new_session(&self, _: NewSessionRequest, _: Context) -> Result<NewSessionResponse, Error> {
        Ok(NewSessionResponse::new("bench"))
    }

    async fn prompt(&self, request: PromptRequest, context: Context) -> Result<PromptResponse, Error> {
        for number in 0..burst(&request.prompt) {
            let update = SessionNotification::message(&request.session_id, format!("chunk {number}"));
            context.client().session_update(update).await?;
        }
        Ok(PromptResponse::new(StopReason::EndTurn))
    }
}

/// Returns the number in `burst N`, or zero for any other prompt.
fn burst(prompt: &[ContentBlock]) -> u64 {
    match prompt {
        [ContentBlock::Text(text)] => {
            text.text.strip_prefix("burst ").and_then(|number| number.parse().ok()).unwrap_or(0)
        }
        _ => 0,
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    serve(Bench, stdio()?).await?;
    Ok(())
}

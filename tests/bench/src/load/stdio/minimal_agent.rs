//! The smallest ACP agent: it sends the prompt back.

use agentwire_acp_agent::{Agent, Context, Error};
use agentwire_acp_schema::v1::{
    InitializeRequest, InitializeResponse, NewSessionRequest, NewSessionResponse, PromptRequest, PromptResponse,
    SessionNotification, StopReason,
};
use agentwire_transport_stdio::stdio;

struct Echo;

impl Agent for Echo {
    async fn initialize(&self, request: InitializeRequest, _cx: Context) -> Result<InitializeResponse, Error> {
        Ok(InitializeResponse::new(request.protocol_version))
    }

    async fn new_session(&self, _request: NewSessionRequest, _cx: Context) -> Result<NewSessionResponse, Error> {
        Ok(NewSessionResponse::new("session-1"))
    }

    async fn prompt(&self, request: PromptRequest, cx: Context) -> Result<PromptResponse, Error> {
        for block in request.prompt {
            cx.client().session_update(SessionNotification::message(&request.session_id, block)).await?;
        }
        Ok(PromptResponse::new(StopReason::EndTurn))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    Ok(agentwire_acp_agent::serve(Echo, stdio()?).await?)
}

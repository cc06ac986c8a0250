//! An agent for clients of either version, which repeats its prompt.
//!
//! Its work is written once, in `answer`; the messages to the client differ in each version.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use agentwire_acp_agent::{Agent, Context, Error, Router, v2};
use agentwire_acp_schema::v1::{
    ContentBlock, Implementation, InitializeRequest, InitializeResponse, NewSessionRequest,
    NewSessionResponse, PromptRequest, PromptResponse, SessionNotification, StopReason,
};
use agentwire_acp_schema::v2 as schema;
use agentwire_transport_stdio::stdio;

/// The state that both versions of the agent share.
#[derive(Clone, Default)]
struct Echo {
    numbers: Arc<AtomicU32>,
}

impl Echo {
    fn id(&self, what: &str) -> String {
        format!("{what}-{}", self.numbers.fetch_add(1, Ordering::Relaxed))
    }
}

fn info() -> Implementation {
    Implementation::new("echo", env!("CARGO_PKG_VERSION"))
}

fn answer<'a>(prompt: impl Iterator<Item = Option<&'a str>>) -> String {
    prompt.flatten().collect::<Vec<_>>().join(" ")
}

impl Agent for Echo {
    async fn initialize(&self, request: InitializeRequest, _: Context) -> Result<InitializeResponse, Error> {
        Ok(InitializeResponse::new(request.protocol_version).agent_info(info()))
    }

    async fn new_session(&self, _: NewSessionRequest, _: Context) -> Result<NewSessionResponse, Error> {
        Ok(NewSessionResponse::new(self.id("session")))
    }

    async fn prompt(&self, request: PromptRequest, context: Context) -> Result<PromptResponse, Error> {
        let text = answer(request.prompt.iter().map(ContentBlock::as_text));
        context.client().session_update(SessionNotification::message(&request.session_id, text)).await?;
        Ok(PromptResponse::new(StopReason::EndTurn))
    }
}

impl v2::Agent for Echo {
    async fn initialize(
        &self,
        request: schema::InitializeRequest,
        _: v2::Context,
    ) -> Result<schema::InitializeResponse, Error> {
        let can = schema::AgentCapabilities::new().session(schema::SessionCapabilities::new());
        Ok(schema::InitializeResponse::new(request.protocol_version, info()).capabilities(can))
    }

    async fn new_session(
        &self,
        _: schema::NewSessionRequest,
        _: v2::Context,
    ) -> Result<schema::NewSessionResponse, Error> {
        Ok(schema::NewSessionResponse::new(self.id("session")))
    }

    async fn prompt(
        &self,
        request: schema::PromptRequest,
        turn: v2::Turn,
    ) -> Result<schema::IdleStopReason, Error> {
        turn.accept(self.id("message"), &request.prompt).await?;
        let text = answer(request.prompt.iter().map(schema::ContentBlock::as_text));
        let said = schema::UpdateSessionNotification::message(turn.session_id(), self.id("message"), text);
        turn.client().session_update(said).await?;
        Ok(schema::IdleStopReason::EndTurn)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let echo = Echo::default();
    Router::both(echo.clone(), echo).serve(stdio()?).await?;
    Ok(())
}

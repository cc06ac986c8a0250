//! Two agents of the type `Arc<dyn Agent>`; an argument of the program selects one.
//!
//! To try it by hand, with the example of `acp-client`:
//!
//! ```text
//! cargo build -p agentwire-acp-agent --example chosen_agent
//! cargo run -p agentwire-acp-client --example prompt -- "Hello" target/debug/examples/chosen_agent backwards
//! ```

use std::sync::Arc;

use agentwire_acp_agent::{Agent, Context, Error, serve};
use agentwire_acp_schema::v1::{
    InitializeRequest, InitializeResponse, NewSessionRequest, NewSessionResponse, PromptRequest,
    PromptResponse, SessionNotification, StopReason,
};
use agentwire_transport_stdio::stdio;

/// Returns each text as it is.
struct Echo;

/// Returns each text backwards.
struct Backwards;

impl Agent for Echo {
    async fn initialize(&self, request: InitializeRequest, _: Context) -> Result<InitializeResponse, Error> {
        Ok(InitializeResponse::new(request.protocol_version))
    }

    async fn new_session(&self, _: NewSessionRequest, _: Context) -> Result<NewSessionResponse, Error> {
        Ok(NewSessionResponse::new("session-1"))
    }

    async fn prompt(&self, request: PromptRequest, context: Context) -> Result<PromptResponse, Error> {
        for block in request.prompt {
            context.client().session_update(SessionNotification::message(&request.session_id, block)).await?;
        }
        Ok(PromptResponse::new(StopReason::EndTurn))
    }
}

impl Agent for Backwards {
    async fn initialize(&self, request: InitializeRequest, _: Context) -> Result<InitializeResponse, Error> {
        Ok(InitializeResponse::new(request.protocol_version))
    }

    async fn new_session(&self, _: NewSessionRequest, _: Context) -> Result<NewSessionResponse, Error> {
        Ok(NewSessionResponse::new("session-1"))
    }

    async fn prompt(&self, request: PromptRequest, context: Context) -> Result<PromptResponse, Error> {
        for text in request.prompt.iter().filter_map(|block| block.as_text()) {
            let text: String = text.chars().rev().collect();
            context.client().session_update(SessionNotification::message(&request.session_id, text)).await?;
        }
        Ok(PromptResponse::new(StopReason::EndTurn))
    }
}

/// Returns the agent with the name.
fn choose(name: Option<&str>) -> Option<Arc<dyn Agent>> {
    match name {
        None | Some("echo") => Some(Arc::new(Echo)),
        Some("backwards") => Some(Arc::new(Backwards)),
        Some(_) => None,
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let name = std::env::args().nth(1);
    let agent = choose(name.as_deref()).ok_or("usage: chosen_agent [echo|backwards]")?;
    // The agent's futures are `Send`, so a spawned task can serve it.
    tokio::spawn(serve(agent, stdio()?)).await??;
    Ok(())
}

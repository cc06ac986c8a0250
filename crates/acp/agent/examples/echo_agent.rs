//! An agent that repeats its prompt, and asks before it shouts.
//!
//! An editor starts it and speaks to it over stdio. To try it by hand, with the example of `acp-client`:
//!
//! ```text
//! cargo build -p agentwire-acp-agent --example echo_agent
//! cargo run -p agentwire-acp-client --example prompt -- "Hello! Anybody there?" target/debug/examples/echo_agent
//! ```

use std::sync::atomic::{AtomicU32, Ordering};

use agentwire_acp_agent::{Agent, Context, Error, serve};
use agentwire_acp_schema::v1::{
    Implementation, InitializeRequest, InitializeResponse, NewSessionRequest, NewSessionResponse,
    PermissionOption, PermissionOptionKind, PromptRequest, PromptResponse, RequestPermissionOutcome,
    RequestPermissionRequest, SessionId, SessionNotification, StopReason, ToolCallUpdate,
};
use agentwire_transport_stdio::stdio;

#[derive(Default)]
pub(crate) struct Echo {
    sessions: AtomicU32,
}

impl Agent for Echo {
    async fn initialize(&self, request: InitializeRequest, _: Context) -> Result<InitializeResponse, Error> {
        let echo = Implementation::new("echo", env!("CARGO_PKG_VERSION")).title("Echo");
        Ok(InitializeResponse::new(request.protocol_version).agent_info(echo))
    }

    async fn new_session(&self, _: NewSessionRequest, _: Context) -> Result<NewSessionResponse, Error> {
        let number = self.sessions.fetch_add(1, Ordering::Relaxed);
        Ok(NewSessionResponse::new(format!("session-{number}")))
    }

    async fn prompt(&self, request: PromptRequest, context: Context) -> Result<PromptResponse, Error> {
        let session = &request.session_id;
        for text in request.prompt.iter().filter_map(|block| block.as_text()) {
            for word in text.split_inclusive(' ') {
                if context.is_cancelled() {
                    return Ok(PromptResponse::new(StopReason::Cancelled));
                }
                let word = match word.trim_end().ends_with('!') && may_shout(session, &context).await? {
                    true => word.to_uppercase(),
                    false => word.to_owned(),
                };
                context.client().session_update(SessionNotification::message(session, word)).await?;
            }
        }
        Ok(PromptResponse::new(StopReason::EndTurn))
    }
}

async fn may_shout(session: &SessionId, context: &Context) -> Result<bool, Error> {
    let options = [
        PermissionOption::new("yes", "Shout", PermissionOptionKind::AllowOnce),
        PermissionOption::new("no", "Keep it down", PermissionOptionKind::RejectOnce),
    ];
    let call = ToolCallUpdate::new("shout").title("Shout");
    let answer =
        context.client().request_permission(RequestPermissionRequest::new(session, call, options)).await?;
    Ok(matches!(answer.outcome, RequestPermissionOutcome::Selected(option) if option.option_id == "yes"))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    serve(Echo::default(), stdio()?).await?;
    Ok(())
}

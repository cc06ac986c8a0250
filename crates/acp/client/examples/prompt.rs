//! Starts an agent, gives it one prompt and prints its messages.
//!
//! ```text
//! cargo run -p agentwire-acp-client --example prompt -- "What is in this folder?" my-agent --acp
//! ```
#![allow(clippy::print_stdout, reason = "a program that prints")]

use std::io::Write;

use agentwire_acp_client::{BoxError, Client, Context, Error, connect};
use agentwire_acp_schema::v1::{
    ContentBlock, Implementation, InitializeRequest, NewSessionRequest, PromptRequest, ProtocolVersion,
    RequestPermissionRequest, RequestPermissionResponse, SessionNotification, SessionUpdate,
};
use agentwire_transport_stdio::{Child, Command};

struct Printer;

impl Client for Printer {
    fn session_update(&self, notification: SessionNotification) {
        match notification.update {
            SessionUpdate::AgentMessageChunk(chunk) => {
                if let ContentBlock::Text(text) = chunk.content {
                    print!("{}", text.text);
                    // A failure here has no reader.
                    let _flushed = std::io::stdout().flush();
                }
            }
            SessionUpdate::ToolCall(call) => eprintln!("[{}]", call.title),
            _ => {}
        }
    }

    /// Allows everything: this is an example.
    async fn request_permission(
        &self,
        request: RequestPermissionRequest,
        _: Context,
    ) -> Result<RequestPermissionResponse, Error> {
        eprintln!("[allowed: {}]", request.tool_call.title.as_deref().unwrap_or("a tool call"));
        Ok(request.allow())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), BoxError> {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(text), Some(program)) = (arguments.next(), arguments.next()) else {
        return Err("say what to ask, and the command of an agent".into());
    };
    let text = text.into_string().map_err(|_| "a prompt is text")?;
    let agent = Child::spawn(Command::new(program).args(arguments))?;
    connect(Printer, agent, async |agent| {
        let editor = Implementation::new("prompt", env!("CARGO_PKG_VERSION"));
        agent.initialize(InitializeRequest::new(ProtocolVersion::V1).client_info(editor)).await?;
        let session = agent.new_session(NewSessionRequest::new(std::env::current_dir()?)).await?;
        let turn = agent.prompt(PromptRequest::new(session.session_id, text)).await?;
        println!();
        eprintln!("[{}]", turn.stop_reason);
        Ok(())
    })
    .await?;
    Ok(())
}

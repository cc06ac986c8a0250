//! A full ACP client on a terminal. `full_client COMMAND PROMPT` runs an agent for one turn.
#![allow(clippy::print_stdout, reason = "a program that prints")]

use agentwire_acp_client::{BoxError, Error, connect};
use agentwire_acp_schema::v1::{
    CreateElicitationResponse, InitializeRequest, NewSessionRequest, PromptRequest, ProtocolVersion,
    RequestPermissionRequest, RequestPermissionResponse, SessionId, StopReason,
};
use agentwire_acp_toolkit::{Applied, Conversation, Entry, Form, PermissionPrompt, Toolkit, UserInterface};
use agentwire_transport::Transport;
use agentwire_transport_stdio::{Child, Command};
use tokio::io::{BufReader, Stdin, Stdout, stdin, stdout};

struct Terminal(PermissionPrompt<BufReader<Stdin>, Stdout>);

impl UserInterface for Terminal {
    async fn choose_permission(
        &self,
        request: &RequestPermissionRequest,
    ) -> Result<RequestPermissionResponse, Error> {
        self.0.ask(request).await
    }

    fn show(&self, _: &SessionId, conversation: &Conversation, applied: &Applied) {
        match applied.change.index().and_then(|index| conversation.entry(index)) {
            Some(Entry::ToolCall(call)) => println!("{:?}: {:?}", call.call.title, call.call.status),
            Some(Entry::Message(message)) => println!("{:?}: {:?}", message.kind, message.text()),
            _ => {}
        }
    }

    async fn fill_form(&self, _: &str, form: Form) -> Result<CreateElicitationResponse, Error> {
        Ok(form.accept().unwrap_or_else(|_| CreateElicitationResponse::decline()))
    }
}

/// Runs one turn.
pub async fn run(agent: impl Transport, prompt: &str) -> Result<StopReason, BoxError> {
    let toolkit =
        Toolkit::new(Terminal(PermissionPrompt::new(BufReader::new(stdin()), stdout()))).without_urls();
    Ok(connect(toolkit.clone(), agent, async |agent| {
        let hello = InitializeRequest::new(ProtocolVersion::V1);
        agent.initialize(hello.client_capabilities(toolkit.capabilities())).await?;
        let cwd = std::env::current_dir()?;
        let session = toolkit.new_session(&agent, NewSessionRequest::new(cwd)).await?.session_id;
        let answer = toolkit.prompt(&agent, PromptRequest::new(&session, prompt)).await?;
        toolkit.close(&session).await;
        Ok(answer.stop_reason)
    })
    .await?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), BoxError> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [command, prompt] = &*arguments else { return Err("usage: full_client COMMAND PROMPT".into()) };
    run(Child::spawn(Command::parse(command)?)?, prompt).await.map(drop)
}

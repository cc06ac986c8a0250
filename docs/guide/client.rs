//! The whole program of `client.md`: `my-client PROMPT AGENT [ARGUMENT]...`.
#![allow(clippy::print_stdout, reason = "a program that prints")]

use std::path::Path;

use agentwire::acp::client::{AgentHandle, BoxError, Error, connect};
use agentwire::acp::schema::v1::*;
use agentwire::acp::toolkit::{
    Applied, Change, Conversation, Entry, MessageKind, PermissionPolicy, PermissionPrompt, PermissionRule,
    Permissions, Toolkit, UserInterface,
};
use agentwire::stdio::{Child, Command};
use tokio::io::{BufReader, Stderr, Stdin, stderr, stdin};

struct Terminal {
    prompt: PermissionPrompt<BufReader<Stdin>, Stderr>,
}

impl UserInterface for Terminal {
    async fn choose_permission(
        &self,
        req: &RequestPermissionRequest,
    ) -> Result<RequestPermissionResponse, Error> {
        self.prompt.ask(req).await
    }

    /// Prints the changed part.
    fn show(&self, _session: &SessionId, conversation: &Conversation, applied: &Applied) {
        match &applied.change {
            Change::Added(index) | Change::Updated { index, .. } => match conversation.entry(*index) {
                Some(Entry::Message(message)) if message.kind == MessageKind::User => {
                    println!("\n> {}", message.text())
                }
                Some(Entry::Message(message)) => print!("{}", message.text()),
                Some(Entry::ToolCall(entry)) => println!("\n[{}: {}]", entry.call.title, entry.call.status),
                _ => {}
            },
            Change::Extended { index, block, byte } => {
                if let Some(Entry::Message(message)) = conversation.entry(*index) {
                    print!("{}", &message.content[*block].as_text().unwrap_or_default()[*byte..]);
                }
            }
            _ => {}
        }
    }
}

/// Loads the last session of this directory, or begins one.
async fn open(agent: &AgentHandle, toolkit: &Toolkit<Terminal>, cwd: &Path) -> Result<SessionId, BoxError> {
    let able =
        agent.capabilities().is_some_and(|can| can.load_session && can.session_capabilities.list.is_some());
    if able && let Some(last) = agent.sessions(ListSessionsRequest::new().cwd(cwd)).try_next().await? {
        toolkit.load_session(agent, LoadSessionRequest::new(&last.session_id, cwd)).await?;
        return Ok(last.session_id);
    }
    Ok(toolkit.new_session(agent, NewSessionRequest::new(cwd)).await?.session_id)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), BoxError> {
    let mut arguments = std::env::args().skip(1);
    let (Some(text), Some(agent)) = (arguments.next(), arguments.next()) else {
        return Err("usage: my-client PROMPT AGENT [ARGUMENT]...".into());
    };
    let reading = PermissionRule::allow().kind(ToolKind::Read);
    let terminal = Terminal { prompt: PermissionPrompt::new(BufReader::new(stdin()), stderr()) };
    let toolkit = Toolkit::new(terminal)
        .with_permissions(Permissions::new(PermissionPolicy::Ask).rule(reading))
        .without_forms()
        .without_urls();
    let child = Child::spawn(Command::new(agent).args(arguments))?;
    connect(toolkit.clone(), child, async |agent| {
        let hello = InitializeRequest::new(ProtocolVersion::V1)
            .client_info(Implementation::new("my-client", "0.1.0"))
            .client_capabilities(toolkit.capabilities());
        agent.initialize(hello).await?;
        let session_id = open(&agent, &toolkit, &std::env::current_dir()?).await?;
        let answer = toolkit.prompt(&agent, PromptRequest::new(&session_id, text)).await?;
        println!("\n[{}]", answer.stop_reason);
        toolkit.close(&session_id).await; // ends the commands that still run
        Ok(())
    })
    .await?;
    Ok(())
}

//! The whole program of `client.md`: `my-client PROMPT AGENT [ARGUMENT]...`.
#![allow(clippy::print_stdout, reason = "a program that prints")]

use std::path::Path;
use std::sync::{Arc, Mutex};

use agentwire_acp_client::{Agent, BoxError, Client, Context, Error, connect};
use agentwire_acp_schema::v1::*;
use agentwire_acp_toolkit::{
    Change, Conversation, Entry, MessageKind, PermissionPolicy, PermissionPrompt, PermissionRule,
    Permissions, Workspaces,
};
use agentwire_transport_stdio::{Child, Command};
use tokio::io::{BufReader, Stderr, Stdin, stderr, stdin};

struct Editor {
    workspaces: Workspaces,
    permissions: Permissions,
    person: PermissionPrompt<BufReader<Stdin>, Stderr>,
    conversation: Arc<Mutex<Conversation>>,
}

impl Client for Editor {
    fn session_update(&self, note: SessionNotification) {
        let mut conversation = self.conversation.lock().unwrap();
        let change = conversation.apply(note.update).change;
        draw(&conversation, change);
    }
    async fn request_permission(
        &self,
        req: RequestPermissionRequest,
        _cx: Context,
    ) -> Result<RequestPermissionResponse, Error> {
        self.permissions.answer(&req, async |req| self.person.ask(req).await).await
    }
    async fn read_text_file(
        &self,
        req: ReadTextFileRequest,
        _cx: Context,
    ) -> Result<ReadTextFileResponse, Error> {
        self.workspaces.read_text_file(req).await
    }
    async fn write_text_file(
        &self,
        req: WriteTextFileRequest,
        _cx: Context,
    ) -> Result<WriteTextFileResponse, Error> {
        self.workspaces.write_text_file(req).await
    }
    async fn create_terminal(
        &self,
        req: CreateTerminalRequest,
        _cx: Context,
    ) -> Result<CreateTerminalResponse, Error> {
        self.workspaces.create_terminal(req).await
    }
    async fn terminal_output(
        &self,
        req: TerminalOutputRequest,
        _cx: Context,
    ) -> Result<TerminalOutputResponse, Error> {
        self.workspaces.terminal_output(req).await
    }
    async fn wait_for_terminal_exit(
        &self,
        req: WaitForTerminalExitRequest,
        _cx: Context,
    ) -> Result<WaitForTerminalExitResponse, Error> {
        self.workspaces.wait_for_terminal_exit(req).await
    }
    async fn kill_terminal(
        &self,
        req: KillTerminalRequest,
        _cx: Context,
    ) -> Result<KillTerminalResponse, Error> {
        self.workspaces.kill_terminal(req).await
    }
    async fn release_terminal(
        &self,
        req: ReleaseTerminalRequest,
        _cx: Context,
    ) -> Result<ReleaseTerminalResponse, Error> {
        self.workspaces.release_terminal(req).await
    }
}

/// Prints what is new.
fn draw(conversation: &Conversation, change: Change) {
    match change {
        Change::Added(index) | Change::Updated { index, .. } => match conversation.entry(index) {
            Some(Entry::Message(message)) if message.kind == MessageKind::User => {
                println!("\n> {}", message.text())
            }
            Some(Entry::Message(message)) => print!("{}", message.text()),
            Some(Entry::ToolCall(entry)) => println!("\n[{}: {}]", entry.call.title, entry.call.status),
            _ => {}
        },
        Change::Extended { index, block, byte } => {
            if let Some(Entry::Message(message)) = conversation.entry(index) {
                print!("{}", &message.content[block].as_text().unwrap_or_default()[byte..]);
            }
        }
        _ => {}
    }
}

/// Takes up the last session of this directory, or begins one.
async fn open(agent: &Agent, workspaces: &Workspaces, cwd: &Path) -> Result<SessionId, BoxError> {
    let able =
        agent.capabilities().is_some_and(|can| can.load_session && can.session_capabilities.list.is_some());
    if able && let Some(last) = agent.sessions(ListSessionsRequest::new().cwd(cwd)).try_next().await? {
        let load = LoadSessionRequest::new(&last.session_id, cwd);
        workspaces.open(&last.session_id, &load);
        agent.load_session(load).await?;
        return Ok(last.session_id);
    }
    let new = NewSessionRequest::new(cwd);
    let session = agent.new_session(new.clone()).await?;
    workspaces.open(&session.session_id, &new);
    Ok(session.session_id)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), BoxError> {
    let mut words = std::env::args().skip(1);
    let (Some(text), Some(agent)) = (words.next(), words.next()) else {
        return Err("usage: my-client PROMPT AGENT [ARGUMENT]...".into());
    };
    let workspaces = Workspaces::new();
    let conversation = Arc::new(Mutex::new(Conversation::new()));
    let editor = Editor {
        workspaces: workspaces.clone(),
        permissions: Permissions::new(PermissionPolicy::Ask)
            .rule(PermissionRule::kind(ToolKind::Read, PermissionPolicy::AllowAll)),
        person: PermissionPrompt::new(BufReader::new(stdin()), stderr()),
        conversation: conversation.clone(),
    };
    let child = Child::spawn(Command::new(agent).args(words))?;
    connect(editor, child, async |agent| {
        let hello = InitializeRequest::new(ProtocolVersion::V1)
            .client_info(Implementation::new("my-client", "0.1.0"))
            .client_capabilities(workspaces.capabilities());
        agent.initialize(hello).await?;
        let session_id = open(&agent, &workspaces, &std::env::current_dir()?).await?;

        let prompt = PromptRequest::new(&session_id, text);
        let said = conversation.lock().unwrap().prompt(prompt.prompt.clone());
        draw(&conversation.lock().unwrap(), said.change);
        let answer = agent.prompt(prompt).await?;
        println!("\n[{}]", answer.stop_reason);

        workspaces.close(&session_id).await; // ends the commands that still run
        Ok(())
    })
    .await
}

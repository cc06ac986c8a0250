//! What an ACP client does with its hands, and what it keeps in mind.
//!
//! An agent asks its client to read and write files, to run commands, for permission and for input, and tells what
//! it does. This crate answers, and puts together what was told, for any client and any runtime of the protocol: it
//! knows the words, and nothing of connections.
//!
//! ```text
//! session/update              ─▶ Conversation ─ Change ─▶ a view
//! fs/*                        ─▶ Files ─ Buffers ─┐
//!                                                 ├─ Workspace, one per session ─ Workspaces
//! terminal/*                  ─▶ Terminals ───────┘
//! session/request_permission  ─▶ Permissions: PermissionRule ─▶ what was decided ─▶ PermissionPolicy ─▶ PermissionPrompt
//! elicitation/create          ─▶ Form, or UrlConsent
//! ```
//!
//! A client that can do all of it, with one line a method:
//!
//! ```no_run
//! use agentwire_acp_client::{Client, Context, Error};
//! use agentwire_acp_schema::v1::*;
//! use agentwire_acp_toolkit::{PermissionPolicy, Permissions, Workspaces};
//! use agentwire_transport_stdio::{Child, Command};
//!
//! struct Editor {
//!     workspaces: Workspaces,
//!     permissions: Permissions,
//! }
//!
//! impl Client for Editor {
//!     fn session_update(&self, note: SessionNotification) {
//!         println!("{:?}", note.update)
//!     }
//!     async fn request_permission(
//!         &self,
//!         req: RequestPermissionRequest,
//!         _cx: Context,
//!     ) -> Result<RequestPermissionResponse, Error> {
//!         self.permissions.answer(&req, async |_| Ok(RequestPermissionResponse::cancelled())).await
//!     }
//!     async fn read_text_file(&self, req: ReadTextFileRequest, _cx: Context) -> Result<ReadTextFileResponse, Error> {
//!         self.workspaces.read_text_file(req).await
//!     }
//!     async fn write_text_file(&self, req: WriteTextFileRequest, _cx: Context) -> Result<WriteTextFileResponse, Error> {
//!         self.workspaces.write_text_file(req).await
//!     }
//!     async fn create_terminal(&self, req: CreateTerminalRequest, _cx: Context) -> Result<CreateTerminalResponse, Error> {
//!         self.workspaces.create_terminal(req).await
//!     }
//!     async fn terminal_output(&self, req: TerminalOutputRequest, _cx: Context) -> Result<TerminalOutputResponse, Error> {
//!         self.workspaces.terminal_output(req).await
//!     }
//!     async fn wait_for_terminal_exit(
//!         &self,
//!         req: WaitForTerminalExitRequest,
//!         _cx: Context,
//!     ) -> Result<WaitForTerminalExitResponse, Error> {
//!         self.workspaces.wait_for_terminal_exit(req).await
//!     }
//!     async fn kill_terminal(&self, req: KillTerminalRequest, _cx: Context) -> Result<KillTerminalResponse, Error> {
//!         self.workspaces.kill_terminal(req).await
//!     }
//!     async fn release_terminal(
//!         &self,
//!         req: ReleaseTerminalRequest,
//!         _cx: Context,
//!     ) -> Result<ReleaseTerminalResponse, Error> {
//!         self.workspaces.release_terminal(req).await
//!     }
//! }
//!
//! # async fn run() -> Result<(), agentwire_acp_client::BoxError> {
//! let workspaces = Workspaces::new();
//! let editor = Editor {
//!     workspaces: workspaces.clone(),
//!     permissions: Permissions::new(PermissionPolicy::RejectAll),
//! };
//! agentwire_acp_client::connect(editor, Child::spawn(Command::new("my-agent"))?, async |agent| {
//!     let hello = InitializeRequest::new(ProtocolVersion::V1);
//!     agent.initialize(hello.client_capabilities(workspaces.capabilities())).await?;
//!     let request = NewSessionRequest::new("/repo");
//!     let session = agent.new_session(request.clone()).await?;
//!     workspaces.open(&session.session_id, &request);
//!     agent.prompt(PromptRequest::new(session.session_id, "Fix the bug")).await?;
//!     Ok(())
//! })
//! .await?;
//! # Ok(())
//! # }
//! ```
//!
//! # Invariants
//!
//! - No path opens a file outside the session's directories, whatever links are in it and whoever exchanges them.
//! - No command outlives its terminal, and no terminal its session, its runtime or its [`Terminals`].
//! - Nothing that an agent can make large is kept without a limit that says its name.
//! - Nothing is allowed that neither the user nor a policy of the program allowed.
//! - Whatever an agent tells, and for however long, a conversation takes no more memory than its limit, and says what
//!   it has forgotten or left out.
//! - No URL of an agent is ever fetched or opened here.
//! - What the agent wrote is shown in menus without anything that a terminal would obey.
//!
//! # What it will not do
//!
//! It confines files, not commands: who may run a shell may read everything that the user may. It does not
//! draw, beyond a menu as text; whoever draws a conversation on a terminal has to take out what the terminal would
//! obey.
//!
//! # Tasks and threads
//!
//! File calls run on tokio's threads for blocking work. Each terminal has one task, which reads its output and
//! ends with it. Nothing else is spawned.

mod conversation;
mod elicitation;
mod files;
mod permissions;
mod roots;
mod terminals;
mod workspace;

pub use conversation::{
    Applied, Change, ChangedFields, Compaction, Conversation, ConversationLimits, Entry, Message,
    MessageKind, ToolCallEntry, memory_estimate,
};
pub use elicitation::{FieldError, FieldFault, Form, FormError, UrlConsent, UrlError, UrlWarning};
pub use files::{BufferFuture, Buffers, Files};
pub use permissions::{
    Cancelling, Choices, PermissionPolicy, PermissionPrompt, PermissionRule, Permissions, Remember,
};
pub use terminals::Terminals;
pub use workspace::{Workspace, Workspaces};

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

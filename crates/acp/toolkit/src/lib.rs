//! The parts of an ACP client, and a full client made of them.
//!
//! `agentwire_acp_toolkit` here is `agentwire::acp::toolkit` in the crate `agentwire`, with its feature `acp-toolkit`.
//!
//! An agent asks its client to read and write files, to run commands, for permission and for input, and reports its
//! progress. Each part of this crate serves some of these methods, or builds the conversation from the updates. The
//! parts do not depend on connections, so they work with any runtime of the protocol.
//!
//! ```text
//! session/update              ─▶ Conversation ─ Change ─▶ a view
//! fs/*                        ─▶ Files ─ Buffers ─┐
//!                                                 ├─ Workspace, one per session ─ Workspaces
//! terminal/*                  ─▶ Terminals ───────┘
//! session/request_permission  ─▶ Permissions: PermissionRule ─▶ earlier decisions ─▶ PermissionPolicy ─▶ PermissionPrompt
//! elicitation/create          ─▶ Form, or UrlConsent
//! ```
//!
//! [`Toolkit`] puts them together: it is a client, of both versions of the protocol, and asks a [`UserInterface`] for what
//! only a person can decide.
//!
//! ```no_run
//! use agentwire_acp_client::Error;
//! use agentwire_acp_schema::v1::*;
//! use agentwire_acp_toolkit::{Applied, Conversation, Toolkit, UserInterface};
//! use agentwire_transport_stdio::{Child, Command};
//!
//! struct Editor;
//!
//! impl UserInterface for Editor {
//!     async fn choose_permission(
//!         &self,
//!         request: &RequestPermissionRequest,
//!     ) -> Result<RequestPermissionResponse, Error> {
//!         Ok(request.allow())
//!     }
//!     fn show(&self, _: &SessionId, conversation: &Conversation, applied: &Applied) {
//!         println!("{:?}", applied.change.index().and_then(|index| conversation.entry(index)))
//!     }
//! }
//!
//! # async fn run() -> Result<(), agentwire_acp_client::BoxError> {
//! let toolkit = Toolkit::new(Editor);
//! let child = Child::spawn(Command::new("my-agent"))?;
//! agentwire_acp_client::connect(toolkit.clone(), child, async |agent| {
//!     let hello = InitializeRequest::new(ProtocolVersion::V1);
//!     agent.initialize(hello.client_capabilities(toolkit.capabilities())).await?;
//!     let session = toolkit.new_session(&agent, NewSessionRequest::new("/repo")).await?;
//!     toolkit.prompt(&agent, PromptRequest::new(session.session_id, "Fix the bug")).await?;
//!     Ok(())
//! })
//! .await?;
//! # Ok(())
//! # }
//! ```
//!
//! # Invariants
//!
//! - No path opens a file outside the session's directories, whatever links are in it, even if they change in between.
//! - No command outlives its terminal, and no terminal its session, its runtime or its [`Terminals`].
//! - Everything that an agent can make large has a limit, and errors name it.
//! - A permission is granted only by the user, or by a policy or rule of the program.
//! - A conversation takes no more memory than its limit, and reports what it has forgotten or left out.
//! - No URL of an agent is ever fetched or opened here.
//! - Menus show an agent's text without control characters.
//!
//! # What it will not do
//!
//! It confines files, not commands: a command may read everything that the user may. Permissions decide on what an agent asks
//! for, and it may act without asking. It does not draw, beyond a menu as text. A program that draws a conversation on a terminal has to remove control characters.
//!
//! # Features
//!
//! `v2`: the draft of version 2. [`Toolkit`] becomes a client of it too, and [`Update`] is made from its updates.
//!
//! # Tasks and threads
//!
//! File calls run on tokio's threads for blocking work. Each terminal has one task, which reads its output and
//! ends with it. Nothing else is spawned.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod conversation;
mod elicitation;
mod files;
mod host;
mod path_pattern;
mod permissions;
mod roots;
mod terminals;
mod toolkit;
mod workspace;

pub use conversation::{
    AgentTerminal, Applied, Change, ChangedFields, CommandExit, Compaction, Conversation, ConversationLimits,
    Entry, Message, MessageKind, TerminalChange, TerminalPatch, ToolCallEntry, ToolCallPatch, Update,
    memory_estimate,
};
pub use elicitation::{FieldError, FieldFault, Form, FormError, UrlConsent, UrlError, UrlWarning};
pub use files::{BufferFuture, Buffers, Files};
pub use host::{
    Host, HostAgent, HostError, HostEvent, HostSession, HostTurn, OpenSession, Restored, RestoredSession,
    Unattended,
};
pub use path_pattern::InvalidPattern;
pub use permissions::{
    CancelGuard, Choices, DecisionScope, PermissionPolicy, PermissionPrompt, PermissionRule, Permissions,
    names_path,
};
pub use terminals::{ShownOutput, Terminals, last_bytes};
#[cfg(feature = "v2")]
pub use toolkit::permission_question;
pub use toolkit::{Toolkit, UserInterface, complete_call, known_call};
pub use workspace::{Workspace, Workspaces};

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

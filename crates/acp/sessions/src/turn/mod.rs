//! A turn: a prompt, and everything an agent can do while it answers.

mod announced;
mod context;
mod error;
mod files;
mod handler;
mod history;
mod messages;
mod permission;
mod run;
mod say;
mod terminal;
mod terminals;
mod tool;
mod tool_content;
mod tool_lifecycle;
mod tool_run;

use std::fmt;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;

use agentwire_acp_schema::v1::{
    ContentBlock, SessionConfigOptionValue, SessionId, SessionModeId, UsageUpdate,
};
use agentwire_mcp_hub::Hub;
use agentwire_sync::Mutex;
use futures_util::future::{Either, select};

pub(crate) use self::context::PromptContext;
pub use self::error::TurnError;
pub(crate) use self::handler::BoxTurnHandler;
pub use self::handler::TurnHandler;
pub use self::messages::{AssistantMessage, Message, PendingMessages, ToolResult, ToolUse, UserMessage};
pub(crate) use self::run::run_turn;
pub use self::terminal::Terminal;
pub use self::tool::PendingToolCall;
pub use self::tool_content::ToolContent;
pub use self::tool_lifecycle::RunningToolCall;
pub use self::tool_run::{IntoToolCall, ToolRun};

use self::announced::AnnouncedCalls;
use self::terminals::Terminals;
use crate::client::RemoteClient;
use crate::connection::background::Background;
use crate::connection::signal::Signal;
use crate::session::{Session, TurnGuard};
use crate::settings::Settings;
use crate::update::message::MessageIds;
use crate::workspace::Workspace;

/// A turn: the prompt, and everything the agent can do to answer it. Cloning is cheap.
///
/// An update is written to the store before it is sent. When the turn is cancelled, everything that waits for the client,
/// a tool or the user fails with [`TurnError::Cancelled`]: tool calls are cancelled at their server, questions are
/// withdrawn, terminals are killed and released. After the turn everything fails with [`TurnError::Ended`].
///
/// ```
/// use agentwire_acp_sessions::schema::StopReason;
/// use agentwire_acp_sessions::{BoxError, Turn};
/// # async fn next_chunk() -> std::io::Result<Option<String>> { Ok(None) }
///
/// async fn answer(turn: Turn) -> Result<StopReason, BoxError> {
///     turn.think("The user wants an answer.").await?;
///     // A cancellation drops the future and ends the turn.
///     while let Some(chunk) = turn.unless_cancelled(next_chunk()).await?? {
///         turn.say(chunk).await?; // the chunks form one message
///     }
///     Ok(StopReason::EndTurn)
/// }
///
/// let agent = agentwire_acp_sessions::agent(answer);
/// ```
#[derive(Clone)]
pub struct Turn(Arc<TurnInner>);

struct TurnInner {
    session: Arc<Session>,
    number: u64,
    prompt: Vec<ContentBlock>,
    context: PromptContext,
    client: RemoteClient,
    workspace: Workspace,
    cancel: Signal,
    ended: Signal,
    messages: Mutex<MessageIds>,
    calls: Mutex<AnnouncedCalls>,
    terminals: Arc<Terminals>,
    settings: Arc<Settings>,
}

impl Turn {
    /// Returns the turn that `guard` has begun. [`run_turn`] runs it.
    pub(crate) fn new(
        guard: &TurnGuard,
        prompt: Vec<ContentBlock>,
        context: PromptContext,
        background: Background,
        settings: Arc<Settings>,
    ) -> Self {
        let session = guard.session.clone();
        let client = context.client();
        let workspace = context.workspace(&session);
        let id = session.id.clone();
        let terminals = Terminals::new(id, guard.number, workspace.clone(), background);
        Self(Arc::new(TurnInner {
            session,
            number: guard.number,
            prompt,
            context,
            client,
            workspace,
            cancel: guard.cancel.clone(),
            ended: Signal::default(),
            messages: Mutex::default(),
            calls: Mutex::default(),
            terminals: Arc::new(terminals),
            settings,
        }))
    }

    /// Returns the blocks of the prompt.
    pub fn prompt(&self) -> &[ContentBlock] {
        &self.0.prompt
    }

    /// Returns the text of the prompt: its text blocks, joined. A slash command is at the beginning.
    pub fn text(&self) -> String {
        self.prompt().iter().filter_map(ContentBlock::as_text).collect()
    }

    /// Returns the id of the session.
    pub fn session_id(&self) -> &SessionId {
        &self.0.session.id
    }

    /// Returns the working directory of the session, an absolute path.
    pub fn cwd(&self) -> &Path {
        &self.0.session.roots[0]
    }

    /// Returns [`cwd`](Self::cwd) and the `additionalDirectories` of the request that opened the session.
    pub fn roots(&self) -> &[PathBuf] {
        &self.0.session.roots
    }

    /// Returns the client. Updates that are sent through its [`v1`](RemoteClient::v1) or `v2` handle are not written to the store
    /// and belong to no turn, so prefer the methods of this type.
    pub fn client(&self) -> &RemoteClient {
        &self.0.client
    }

    /// Returns the MCP servers of the session. They are connected to in the background; [`Hub::tools`] waits for them.
    pub fn mcp(&self) -> &Hub {
        &self.0.session.hub
    }

    /// Returns the current mode of the session, or `None` if the agent has no modes. The client may change it while the
    /// turn runs.
    pub fn mode(&self) -> Option<SessionModeId> {
        self.0.session.log.state(|state| state.mode().cloned())
    }

    /// Returns the current value of an option, or `None` if there is no such option. The client may change it while the
    /// turn runs.
    pub fn option(&self, id: &str) -> Option<SessionConfigOptionValue> {
        self.0.session.log.state(|state| state.option(id))
    }

    /// Returns the title of the session, if it has one.
    pub fn current_title(&self) -> Option<String> {
        self.0.session.log.state(|state| state.title.clone())
    }

    /// Returns the last usage update of the session.
    pub fn current_usage(&self) -> Option<UsageUpdate> {
        self.0.session.log.state(|state| state.usage().cloned())
    }

    /// Completes when the turn is cancelled: the client cancels it, or closes or deletes the session.
    ///
    /// The turn should then end soon. The client receives the stop reason `cancelled`, whatever the turn returns.
    pub fn cancelled(&self) -> impl Future<Output = ()> + Send + Sync + use<> {
        self.0.cancel.wait()
    }

    /// Returns whether the turn is cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancel.is_set()
    }

    /// Runs a future until it completes, or until the turn is cancelled or over. Then the future is dropped.
    ///
    /// # Errors
    ///
    /// [`TurnError::Cancelled`], [`TurnError::Ended`].
    ///
    /// # Examples
    ///
    /// ```
    /// use agentwire_acp_sessions::{Turn, TurnError};
    /// use futures_util::{Stream, StreamExt};
    ///
    /// /// Passes the tokens of a model on. A cancel drops the stream, and so the request to the model.
    /// async fn pass_on(turn: &Turn, tokens: impl Stream<Item = String>) -> Result<(), TurnError> {
    ///     let mut tokens = std::pin::pin!(tokens);
    ///     while let Some(token) = turn.unless_cancelled(tokens.next()).await? {
    ///         turn.say(token).await?;
    ///     }
    ///     Ok(())
    /// }
    /// ```
    pub async fn unless_cancelled<T>(&self, work: impl Future<Output = T>) -> Result<T, TurnError> {
        let stopped = select(self.0.cancel.wait(), self.0.ended.wait());
        match select(stopped, pin!(work)).await {
            Either::Left((Either::Left(_), _)) => Err(TurnError::Cancelled),
            Either::Left((Either::Right(_), _)) => Err(TurnError::Ended),
            Either::Right((output, _)) => Ok(output),
        }
    }
}

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turn")
            .field("session_id", self.session_id())
            .field("prompt", &self.0.prompt)
            .field("cancelled", &self.is_cancelled())
            .finish_non_exhaustive()
    }
}

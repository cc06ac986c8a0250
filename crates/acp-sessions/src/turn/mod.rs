//! One turn: what the author of an agent holds of a prompt while answering it.

mod error;
mod files;
mod history;
mod permission;
mod run;
mod say;
mod terminal;
mod tool;

use std::fmt;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;

use agentwire_acp_agent::{Client, Context, Error};
use agentwire_acp_schema::v1::{
    ContentBlock, MessageId, SessionConfigOptionValue, SessionId, SessionModeId, UsageUpdate,
};
use agentwire_mcp_hub::Hub;
use agentwire_sync::Mutex;
use futures::future::{Either, select};

pub use self::error::TurnError;
pub use self::permission::Ask;
pub(crate) use self::run::{failed, run, sleep};
pub use self::terminal::Terminal;
pub use self::tool::ToolCalling;

use self::say::Speaker;
use self::terminal::Terminals;
use crate::background::Background;
use crate::builder::Settings;
use crate::session::{Session, TurnGuard};
use crate::signal::Signal;

/// One turn: the prompt, and all that can be done to answer it. Cloning is cheap.
///
/// What is said is kept in the store before it is sent. Whatever waits for the client, for a tool or for the person
/// fails with [`TurnError::Cancelled`] as soon as the turn is cancelled: a tool's call is cancelled at its server, a
/// question to the person is withdrawn, a terminal is killed and given back. A handle that outlives its turn says
/// nothing any more: everything fails with [`TurnError::Over`].
#[derive(Clone)]
pub struct Turn(Arc<Inner>);

struct Inner {
    session: Arc<Session>,
    number: u64,
    prompt: Vec<ContentBlock>,
    context: Context,
    cancel: Signal,
    over: Signal,
    speaking: Mutex<Option<(Speaker, MessageId)>>,
    terminals: Arc<Terminals>,
    settings: Arc<Settings>,
}

/// A turn that is to be [run].
pub(crate) struct Begun {
    turn: Turn,
    guard: TurnGuard,
}

/// Takes the session for a turn.
///
/// # Errors
///
/// When another one runs.
pub(crate) fn begin(
    session: Arc<Session>,
    prompt: Vec<ContentBlock>,
    context: Context,
    settings: &Arc<Settings>,
    background: &Background,
) -> Result<Begun, Error> {
    let guard = session.begin_turn()?;
    let terminals = Terminals::new(session.id.clone(), context.client().clone(), background.clone());
    let turn = Turn(Arc::new(Inner {
        session,
        number: guard.number,
        prompt,
        context,
        cancel: guard.cancel.clone(),
        over: Signal::default(),
        speaking: Mutex::default(),
        terminals: Arc::new(terminals),
        settings: settings.clone(),
    }));
    Ok(Begun { turn, guard })
}

impl Turn {
    /// The prompt.
    pub fn prompt(&self) -> &[ContentBlock] {
        &self.0.prompt
    }

    /// The text of the prompt: that of its text blocks, one after the other. A slash command is its beginning.
    pub fn text(&self) -> String {
        self.prompt().iter().filter_map(ContentBlock::as_text).collect()
    }

    /// The session.
    pub fn session_id(&self) -> &SessionId {
        &self.0.session.id
    }

    /// The directory that the session works in, an absolute path: where relative paths begin.
    pub fn cwd(&self) -> &Path {
        &self.0.session.roots[0]
    }

    /// The directories that may be touched: [`cwd`](Self::cwd), and the further ones that the client gave when it last
    /// opened the session.
    pub fn roots(&self) -> &[PathBuf] {
        &self.0.session.roots
    }

    /// The client. What is said through it directly is not kept and belongs to no turn, so prefer the methods of this
    /// type where there is one.
    pub fn client(&self) -> &Client {
        self.0.context.client()
    }

    /// All MCP servers of the session. They are connected to in the background: [`Hub::tools`] waits for them.
    pub fn mcp(&self) -> &Hub {
        &self.0.session.hub
    }

    /// The mode that the session is in now; the client may change it while the turn runs. None where the agent has no
    /// modes.
    pub fn mode(&self) -> Option<SessionModeId> {
        self.0.session.outbox.facts(|facts| facts.mode().cloned())
    }

    /// What an option is set to now; the client may change it while the turn runs. None where there is no such option.
    pub fn option(&self, id: &str) -> Option<SessionConfigOptionValue> {
        self.0.session.outbox.facts(|facts| facts.option(id))
    }

    /// What the session is called, if it has been called anything.
    pub fn current_title(&self) -> Option<String> {
        self.0.session.outbox.title()
    }

    /// What was last said of the session's usage.
    pub fn current_usage(&self) -> Option<UsageUpdate> {
        self.0.session.outbox.facts(|facts| facts.usage().cloned())
    }

    /// Completes when the turn is cancelled: the client said so, or it closes or deletes the session.
    ///
    /// The turn should then end soon. What it gives does not matter any more: the client is told that it was cancelled.
    pub fn cancelled(&self) -> impl Future<Output = ()> + Send + Sync + use<> {
        self.0.cancel.wait()
    }

    /// Whether the turn is cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancel.is_set()
    }

    /// Does something until it is done or the turn is cancelled; then it is dropped.
    ///
    /// # Errors
    ///
    /// [`TurnError::Cancelled`], [`TurnError::Over`]; none of its own.
    pub async fn unless_cancelled<T>(&self, work: impl Future<Output = T>) -> Result<T, TurnError> {
        let stopped = select(self.0.cancel.wait(), self.0.over.wait());
        match select(stopped, pin!(work)).await {
            Either::Left((Either::Left(_), _)) => Err(TurnError::Cancelled),
            Either::Left((Either::Right(_), _)) => Err(TurnError::Over),
            Either::Right((done, _)) => Ok(done),
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

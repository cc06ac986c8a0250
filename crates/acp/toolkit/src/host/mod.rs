//! A host: runs an agent with a toolkit, once or with restarts.

mod agent;
mod error;
mod event;
mod link;
mod open_session;
mod session;
mod settings;
mod supervise;
mod turn;
mod unattended;

use std::fmt;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use agentwire_acp_client::{Backoff, BoxError, Closed, Config, ConnectionError};
use agentwire_acp_schema::v1::{AuthMethod, AuthMethodId, Implementation, McpServer};
use agentwire_transport::Transport;

use crate::{Permissions, Toolkit, UserInterface};

pub use agent::HostAgent;
pub use error::HostError;
pub use event::{HostEvent, Restored, RestoredSession};
pub use open_session::OpenSession;
pub use session::HostSession;
pub use turn::HostTurn;
pub use unattended::Unattended;

use link::Link;
use settings::Settings;

/// Runs an agent: initializes it, opens sessions, sends prompts and reads the answers.
///
/// ```no_run
/// use agentwire_acp_client::BoxError;
/// use agentwire_acp_toolkit::Host;
/// use agentwire_transport_stdio::{Child, Command};
///
/// # async fn run() -> Result<(), BoxError> {
/// let stop_reason = Host::new()
///     .run(Child::spawn(Command::parse("my-agent --fast")?)?, async |agent| {
///         let session = agent.session(".").await?;
///         let mut turn = session.prompt("Fix the bug");
///         while let Some(text) = turn.next_text().await? {
///             print!("{text}");
///         }
///         Ok(turn.stop_reason())
///     })
///     .await?;
/// # let _ = stop_reason;
/// # Ok(())
/// # }
/// ```
///
/// A host is a [`Toolkit`] on a connection of version 1, with the calls that every client makes. The agent reads and writes
/// the files of the session's directories and runs commands there without asking.
/// [`without_terminals`](Self::without_terminals) and [`without_file_writes`](Self::without_file_writes) switch that off.
/// Permission requests are rejected unless [`permissions`](Self::permissions) or a user interface decides otherwise.
///
/// An editor has a user interface, and restarts its agent:
///
/// ```no_run
/// # use agentwire_acp_client::{Backoff, BoxError};
/// # use agentwire_jsonrpc::WithCauses;
/// # use agentwire_acp_toolkit::{Host, HostEvent, Toolkit, UserInterface};
/// # use agentwire_transport_stdio::{Child, Command};
/// # async fn run(window: impl UserInterface + 'static) -> Result<(), BoxError> {
/// let command = Command::parse("my-agent")?;
/// Host::with_toolkit(Toolkit::new(window))
///     .backoff(Backoff::new(3))
///     .on_event(|event| match event {
///         HostEvent::Ended { reason, .. } => eprintln!("{}", WithCauses::new(&*reason)),
///         _ => {}
///     })
///     .run_supervised(|| Child::spawn(command.clone()), async |agent| {
///         let session = agent.session("/repo").await?;
///         session.prompt("Fix the bug").text().await?;
///         Ok(())
///     })
///     .await?;
/// #     Ok(())
/// # }
/// ```
///
/// # Restarts
///
/// [`run_supervised`](Self::run_supervised) starts an agent again that ends while the main function runs. It pauses first, as
/// [`backoff`](Self::backoff) defines, and sends `initialize`. Then it opens each open session again: by `session/resume` if the
/// agent has it, or else by `session/load`, whose replay is left out of the conversation.
///
/// [`HostEvent::Restarted`] has the outcome for each session. A session that was not opened serves no files and no terminals
/// until the program opens it.
///
/// A prompt that is unanswered when the agent ends fails with [`HostError::Call`]; [`HostError::exited`] returns how the process
/// ended. It is not sent again, since the agent may have done part of it. A new prompt waits for the restarted agent.
pub struct Host<U = Unattended> {
    toolkit: Toolkit<U>,
    settings: Settings,
}

impl Host {
    /// Makes a host for a program without a user. It rejects permission requests, and shows no forms and no URLs.
    #[allow(
        clippy::new_without_default,
        reason = "`Host::default()` would hide that files and terminals are served"
    )]
    pub fn new() -> Self {
        Self::with_toolkit(Toolkit::new(Unattended).without_forms().without_urls())
    }
}

impl<U: UserInterface + 'static> Host<U> {
    /// Makes a host with this toolkit and its user interface.
    pub fn with_toolkit(toolkit: Toolkit<U>) -> Self {
        Self { toolkit, settings: Settings::default() }
    }

    /// Sets how permissions are decided (default: by the user interface; a host from [`new`](Host::new) rejects them).
    #[must_use]
    pub fn permissions(mut self, permissions: Permissions) -> Self {
        self.toolkit = self.toolkit.with_permissions(permissions);
        self
    }

    /// Refuses to write files. The agent can still read them.
    #[must_use]
    pub fn without_file_writes(mut self) -> Self {
        self.toolkit = self.toolkit.without_file_writes();
        self
    }

    /// Serves no terminals.
    #[must_use]
    pub fn without_terminals(mut self) -> Self {
        self.toolkit = self.toolkit.without_terminals();
        self
    }

    /// Sets the name and version of the client in `initialize` (default: none).
    #[must_use]
    pub fn info(mut self, info: Implementation) -> Self {
        self.settings.info = Some(info);
        self
    }

    /// Adds MCP servers to every session. [`OpenSession::mcp_servers`] adds them to one.
    #[must_use]
    pub fn mcp_servers(mut self, servers: impl IntoIterator<Item = impl Into<McpServer>>) -> Self {
        self.settings.mcp_servers.extend(servers.into_iter().map(Into::into));
        self
    }

    /// Sets a function that selects one of the agent's methods of authentication. It is called if the agent refuses to open
    /// a session with `AUTH_REQUIRED`. The host then authenticates, and opens the session once more. If the function returns
    /// `None`, or none is set, opening the session fails with the refusal.
    ///
    /// Only methods of type `agent` can be selected.
    #[must_use]
    pub fn authenticate<F>(mut self, select: impl Fn(Vec<AuthMethod>) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Option<AuthMethodId>> + Send + 'static,
    {
        self.settings.authenticate = Some(Arc::new(move |methods| Box::pin(select(methods))));
        self
    }

    /// Sets the time limit of `authenticate` (default 10 min).
    #[must_use]
    pub fn authenticate_timeout(mut self, timeout: Duration) -> Self {
        self.settings.authenticate_timeout = timeout;
        self
    }

    /// Sets the time limit of `initialize` and of each call that opens or closes a session (default 1 min).
    /// [`HostTurn::timeout`] limits a turn.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.settings.timeout = timeout;
        self
    }

    /// Sets the configuration of the connection: limits, times and an observer.
    #[must_use]
    pub fn config(mut self, config: Config) -> Self {
        self.settings.config = config;
        self
    }

    /// Sets how often [`run_supervised`](Self::run_supervised) starts the agent again, and the pauses before each start (default 5
    /// times in a row, after 0.5 s, 1 s, 2 s and so on). A connection of 1 min resets the count.
    #[must_use]
    pub fn backoff(mut self, backoff: Backoff) -> Self {
        self.settings.backoff = backoff;
        self
    }

    /// Calls a function when the agent has ended, and when it has been started again. It must not block.
    #[must_use]
    pub fn on_event(mut self, function: impl Fn(HostEvent) + Send + Sync + 'static) -> Self {
        self.settings.on_event = Some(Arc::new(function));
        self
    }

    /// Runs `main` with the agent at the other end of a transport. The agent is initialized before `main` starts, and the
    /// transport is closed when `main` completes.
    ///
    /// The future is `Send` if the transport and the future of `main` are, also in generic code.
    ///
    /// # Errors
    ///
    /// A [`ConnectionError`] with the error of `main`, or with [`HostError::Ended`] if the agent could not be initialized.
    /// If the agent ends before `main`, the calls of `main` fail.
    pub fn run<T, F, R>(
        mut self,
        transport: T,
        main: impl FnOnce(HostAgent<U>) -> F,
    ) -> impl Future<Output = Result<R, ConnectionError>>
    where
        T: Transport,
        F: Future<Output = Result<R, BoxError>>,
    {
        self.settings.backoff = Backoff::new(0);
        let mut transport = Some(transport);
        let start = move || transport.take().ok_or(io::ErrorKind::NotConnected).map_err(io::Error::from);
        self.run_supervised(start, main)
    }

    /// Runs `main` with an agent that is started again when it ends; see [Restarts](Self#restarts). `start` makes a transport
    /// to a new agent, for example by spawning a process.
    ///
    /// A transport that is connected by a future is `future.try_flatten_stream()` of the crate `futures`.
    ///
    /// # Errors
    ///
    /// A [`ConnectionError`] with the error of `main`, or with [`HostError::Ended`] if the first agent could not be started and
    /// initialized. The first start is not repeated.
    pub async fn run_supervised<T, E, F, R>(
        self,
        start: impl FnMut() -> Result<T, E>,
        main: impl FnOnce(HostAgent<U>) -> F,
    ) -> Result<R, ConnectionError>
    where
        T: Transport,
        E: Into<BoxError>,
        F: Future<Output = Result<R, BoxError>>,
    {
        let link = Arc::new(Link::new());
        let agent =
            HostAgent { toolkit: self.toolkit, settings: Arc::new(self.settings), link: link.clone() };
        let _end = EndOnDrop(agent.clone());
        let supervised = supervise::supervise(agent.clone(), start);
        let main = async {
            let outcome = match link.connected().await {
                Ok(_) => main(agent).await,
                Err(error) => Err(error.into()),
            };
            link.close();
            outcome
        };
        let (outcome, ()) = tokio::join!(main, supervised);
        outcome.map_err(ConnectionError::new)
    }
}

impl<U> fmt::Debug for Host<U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// Ends the connection, the turns and the terminals when the host's future has completed or is dropped.
struct EndOnDrop<U: UserInterface + 'static>(HostAgent<U>);

impl<U: UserInterface + 'static> Drop for EndOnDrop<U> {
    fn drop(&mut self) {
        self.0.link.set_ended(Arc::new(Closed::default()));
        self.0.end_turns_and_terminals();
    }
}

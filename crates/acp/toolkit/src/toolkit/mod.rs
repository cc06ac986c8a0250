//! The toolkit: a full client made of the parts of this crate.

mod client;
mod early;
mod known_call;
mod question_memory;
mod replay;
mod sessions;
mod turn;
mod user_interface;
#[cfg(feature = "v2")]
mod v2;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use agentwire_acp_client::{AgentHandle, Call, CallError};
use agentwire_acp_schema::v1::{
    BooleanConfigOptionCapabilities, ClientCapabilities, ClientSessionCapabilities, CompactionCapabilities,
    ElicitationCapabilities, ElicitationFormCapabilities, ElicitationUrlCapabilities, LoadSessionRequest,
    LoadSessionResponse, NewSessionRequest, NewSessionResponse, NoticeCapabilities, PromptRequest,
    PromptResponse, ResumeSessionRequest, ResumeSessionResponse, SessionConfigOptionsCapabilities, SessionId,
};

use crate::{Applied, Conversation, ConversationLimits, Permissions, Update, Workspace, Workspaces};

use agentwire_wire_derive::Build;
pub use known_call::{complete_call, known_call};
use question_memory::QuestionMemory;
pub(crate) use replay::Replay;
use sessions::{OpenConversation, Sessions};
pub(crate) use turn::ConversationTurn;
pub use user_interface::UserInterface;
#[cfg(feature = "v2")]
pub use v2::permission_question;

/// A full ACP client. It serves files, terminals, permissions and elicitations, keeps the conversations, and asks a
/// [`UserInterface`] for the user's decisions.
///
/// It is a [`Client`](agentwire_acp_client::Client) of version 1 and, with the feature `v2`, of version 2. Clones are
/// handles on the same sessions: give one to [`connect`](agentwire_acp_client::connect), and keep one to begin sessions.
///
/// Each part can be replaced by a setter or switched off. A part that is off is neither advertised by
/// [`capabilities`](Self::capabilities) nor served.
///
/// | part | setter | off |
/// |---|---|---|
/// | files and terminals | [`with_workspaces`](Self::with_workspaces) | [`without_files`](Self::without_files), [`without_file_writes`](Self::without_file_writes), [`without_terminals`](Self::without_terminals) |
/// | permissions | [`with_permissions`](Self::with_permissions) | – |
/// | elicitations | the methods of [`UserInterface`] | [`without_forms`](Self::without_forms), [`without_urls`](Self::without_urls) |
/// | conversations | [`with_limits`](Self::with_limits) | [`UserInterface::intercept_update`] |
///
/// ```no_run
/// use agentwire_acp_client::{BoxError, connect};
/// use agentwire_acp_schema::v1::{InitializeRequest, NewSessionRequest, PromptRequest, ProtocolVersion};
/// use agentwire_acp_toolkit::{Toolkit, Unattended};
/// use agentwire_transport::Transport;
///
/// async fn run(agent: impl Transport) -> Result<(), BoxError> {
///     let toolkit = Toolkit::new(Unattended).without_terminals().without_forms().without_urls();
///     connect(toolkit.clone(), agent, async |agent| {
///         let hello = InitializeRequest::new(ProtocolVersion::V1).client_capabilities(toolkit.capabilities());
///         agent.initialize(hello).await?;
///         let session = toolkit.new_session(&agent, NewSessionRequest::new("/repo")).await?.session_id;
///         toolkit.prompt(&agent, PromptRequest::new(&session, "Fix the bug")).await?;
///         println!("{:?}", toolkit.conversation(&session, |conversation| conversation.entries().count()));
///         Ok(())
///     })
///     .await?;
///     Ok(())
/// }
/// ```
///
/// [`Host`](crate::Host) makes these calls. The example `full_client` is a whole program.
#[derive(Build)]
pub struct Toolkit<U> {
    user_interface: Arc<U>,
    /// Sets the files and terminals (default [`Workspaces::new`]), for example to serve text that is not saved.
    #[build(name = with_workspaces)]
    workspaces: Workspaces,
    permissions: Arc<Permissions>,
    services: Services,
    sessions: Sessions,
    question_memory: QuestionMemory,
}

/// The parts that are served and advertised.
#[derive(Clone, Copy, Debug)]
struct Services {
    reads: bool,
    writes: bool,
    terminals: bool,
    forms: bool,
    urls: bool,
}

impl<U: UserInterface> Toolkit<U> {
    /// Serves everything. The user decides about permissions, and conversations have their default limits.
    pub fn new(user_interface: U) -> Self {
        Self {
            user_interface: Arc::new(user_interface),
            workspaces: Workspaces::new(),
            permissions: Arc::default(),
            services: Services { reads: true, writes: true, terminals: true, forms: true, urls: true },
            sessions: Sessions::default(),
            question_memory: QuestionMemory::default(),
        }
    }

    /// Sets how permissions are decided (default: by the user).
    #[must_use]
    pub fn with_permissions(mut self, permissions: Permissions) -> Self {
        self.permissions = Arc::new(permissions);
        self
    }

    /// Sets the limits of each conversation (default: 128 MiB and its shares).
    #[must_use]
    pub fn with_limits(mut self, limits: ConversationLimits) -> Self {
        self.sessions.limits = Some(limits);
        self
    }

    /// Sets the limit of the calls in pending permission requests, in bytes of estimated memory (default 64 MiB). A request over
    /// the limit is refused, unless it is the only one.
    #[must_use]
    pub fn with_question_limit(mut self, bytes: usize) -> Self {
        self.question_memory.limit = bytes;
        self
    }

    /// Serves no files.
    #[must_use]
    pub fn without_files(mut self) -> Self {
        (self.services.reads, self.services.writes) = (false, false);
        self
    }

    /// Refuses to write files. The agent can still read them.
    #[must_use]
    pub fn without_file_writes(mut self) -> Self {
        self.services.writes = false;
        self
    }

    /// Serves no terminals.
    #[must_use]
    pub fn without_terminals(mut self) -> Self {
        self.services.terminals = false;
        self
    }

    /// Shows no forms.
    #[must_use]
    pub fn without_forms(mut self) -> Self {
        self.services.forms = false;
        self
    }

    /// Opens no URLs.
    #[must_use]
    pub fn without_urls(mut self) -> Self {
        self.services.urls = false;
        self
    }

    /// Returns the capabilities for `initialize`: the parts that are on, and the updates that a [`Conversation`]
    /// applies.
    pub fn capabilities(&self) -> ClientCapabilities {
        let boolean = BooleanConfigOptionCapabilities::new();
        let session = ClientSessionCapabilities::new()
            .config_options(SessionConfigOptionsCapabilities::new().boolean(boolean))
            .notices(NoticeCapabilities::new())
            .compaction(CompactionCapabilities::new());
        let mut capabilities = ClientCapabilities::new().session(session).terminal(self.services.terminals);
        capabilities.fs.read_text_file = self.services.reads;
        capabilities.fs.write_text_file = self.services.writes;
        capabilities.elicitation = self.elicitation_capabilities();
        capabilities
    }

    fn elicitation_capabilities(&self) -> Option<ElicitationCapabilities> {
        let Services { forms, urls, .. } = self.services;
        let mut elicitation = ElicitationCapabilities::new();
        elicitation.form = forms.then(ElicitationFormCapabilities::new);
        elicitation.url = urls.then(ElicitationUrlCapabilities::new);
        (forms || urls).then_some(elicitation)
    }

    /// Returns the user interface.
    pub fn user_interface(&self) -> &U {
        &self.user_interface
    }

    /// Returns the files and terminals of the sessions.
    pub fn workspaces(&self) -> &Workspaces {
        &self.workspaces
    }

    /// Returns the permissions.
    pub fn permissions(&self) -> &Permissions {
        &self.permissions
    }

    /// Calls `look` with a conversation. Returns `None` if the session is not open. `look` must not call the toolkit.
    pub fn conversation<R>(
        &self,
        session: &SessionId,
        look: impl FnOnce(&mut Conversation) -> R,
    ) -> Option<R> {
        self.sessions.conversations.lock().get_mut(session).map(|open| look(&mut open.conversation))
    }

    /// Applies an update to a conversation and shows it: for example the answer to `session/set_mode`, as a
    /// `CurrentModeUpdate`.
    ///
    /// An agent may send updates of a new session before the answer to `session/new`. While a session is being opened, updates
    /// of unknown sessions are kept, up to 1 MiB each, and not shown. Otherwise they are ignored.
    pub fn apply(&self, session: &SessionId, update: impl Into<Update>) {
        let mut conversations = self.sessions.conversations.lock();
        if let Some(OpenConversation { conversation, .. }) = conversations.get_mut(session) {
            let applied = conversation.apply(update);
            self.show(session, conversation, &applied);
        } else {
            self.sessions.early.apply(session, update.into());
        }
    }

    /// Shows a change. A panic of the user interface ends neither a call of the program nor its turn.
    fn show(&self, session: &SessionId, conversation: &Conversation, applied: &Applied) {
        let show = || self.user_interface.show(session, conversation, applied);
        let _panicked = catch_unwind(AssertUnwindSafe(show));
    }

    /// Opens a session: its conversation, and its files and terminals. The methods that begin a session call it.
    pub fn open(&self, session: &SessionId, workspace: impl Into<Workspace>) {
        self.workspaces.open(session, workspace);
        self.sessions.open(session);
    }

    /// Closes a session: forgets its conversation and decisions, ends its terminals and waits for their end. Dropping the
    /// future only ends the wait.
    pub async fn close(&self, session: &SessionId) {
        self.permissions.forget(session);
        self.sessions.conversations.lock().remove(session);
        self.workspaces.close(session).await;
    }

    /// `session/new`. The session is open when the answer arrives, so nothing that follows is missed.
    pub fn new_session(&self, agent: &AgentHandle, request: NewSessionRequest) -> Call<NewSessionResponse> {
        let (workspaces, sessions) = (self.workspaces.clone(), self.sessions.clone());
        let early = self.sessions.early.begin_opening();
        agent.new_session(request.clone()).on_result(move |opened| {
            workspaces.open(&opened.session_id, &request);
            sessions.open(&opened.session_id);
            drop(early);
            sessions.set(&opened.session_id, opened.modes.clone(), opened.config_options.clone());
        })
    }

    /// `session/load`. The session is opened before the call is sent, because the replay comes before the answer.
    pub fn load_session(
        &self,
        agent: &AgentHandle,
        request: LoadSessionRequest,
    ) -> Call<LoadSessionResponse> {
        let (sessions, session) = (self.sessions.clone(), request.session_id.clone());
        self.open(&session, &request);
        agent.load_session(request).on_result(move |loaded| {
            sessions.set(&session, loaded.modes.clone(), loaded.config_options.clone());
        })
    }

    /// `session/load` of a session that is open here, on a new connection to its agent. The conversation stays as it is:
    /// messages, tool calls and plans of the replay are left out of it, and [`UserInterface::intercept_update`] does not get
    /// them. The state of the session, such as its mode, options, commands and title, is taken from the replay.
    ///
    /// The conversation stays open if the call fails.
    pub fn reload_session(
        &self,
        agent: &AgentHandle,
        request: LoadSessionRequest,
    ) -> Call<LoadSessionResponse> {
        let (sessions, session) = (self.sessions.clone(), request.session_id.clone());
        let replay = self.begin_replay(&session);
        self.workspaces.open(&session, &request);
        agent.load_session(request).on_result(move |loaded| {
            // What follows the answer is not a replay.
            drop(replay);
            sessions.set(&session, loaded.modes.clone(), loaded.config_options.clone());
        })
    }

    /// Leaves out the replay of a session until the result is dropped.
    pub(crate) fn begin_replay(&self, session: &SessionId) -> Replay {
        self.sessions.replays.begin(session)
    }

    /// `session/resume`. The session is open before the call is sent. Nothing is replayed, so a conversation of the session
    /// that is open stays as it is.
    pub fn resume_session(
        &self,
        agent: &AgentHandle,
        request: ResumeSessionRequest,
    ) -> Call<ResumeSessionResponse> {
        let (sessions, session) = (self.sessions.clone(), request.session_id.clone());
        self.workspaces.open(&session, &request);
        self.sessions.open_if_closed(&session);
        agent.resume_session(request).on_result(move |resumed| {
            sessions.set(&session, resumed.modes.clone(), resumed.config_options.clone());
        })
    }

    /// `session/prompt`: shows the prompt in the conversation, and ends the turn there. Dropping the future cancels the turn.
    ///
    /// # Errors
    ///
    /// Those of the call.
    pub async fn prompt(
        &self,
        agent: &AgentHandle,
        request: PromptRequest,
    ) -> Result<PromptResponse, CallError> {
        let mut turn = self.begin_turn(&request.session_id, || request.prompt.clone());
        let answer = agent.prompt(request).await;
        if let Ok(answer) = &answer {
            turn.stop_reason = answer.stop_reason.clone();
        }
        answer
    }
}

impl<U> Clone for Toolkit<U> {
    fn clone(&self) -> Self {
        Self {
            user_interface: self.user_interface.clone(),
            workspaces: self.workspaces.clone(),
            permissions: self.permissions.clone(),
            services: self.services,
            sessions: self.sessions.clone(),
            question_memory: self.question_memory.clone(),
        }
    }
}

impl<U> fmt::Debug for Toolkit<U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Toolkit").field("services", &self.services).finish_non_exhaustive()
    }
}

use std::fmt;
use std::future::Future;
use std::time::Duration;

use agentwire_jsonrpc::{ErrorObject, Notification};
use agentwire_mcp_schema::task_extension;
use agentwire_mcp_schema::{
    ClientCapabilities, CreateMessageRequest, CreateMessageResult, ElicitFormRequest, ElicitResult,
    ElicitUrlRequest, Implementation, ListRootsRequest, ListRootsResult, LoggingLevel,
    LoggingMessageNotification, Revision, Root,
};
use agentwire_peer::{Config, Dialect};

use crate::call::Waits;
use crate::era::Era;
use crate::front::{Front, set};
use crate::handshake::Handshake;
use crate::result::DEFAULT_VALUE_LIMIT;
use crate::{Cache, TaskState, Tasks, Warning};

/// An MCP client before it is connected: who it is, how long it waits, what it hears and what it answers.
///
/// What it was given something to answer with is what it advertises. Functions are `Send`, so that the future of a
/// connection can be spawned.
///
/// # Questions
///
/// In a session a server asks by requests of its own, while a call waits for it. Since 2026-07-28 it answers a call by
/// what it must know first, and the call is made once more with the answers: by the same functions, side by side where
/// it wants several, and up to [so often](Self::input_rounds). Each of these requests has the whole
/// [time](Self::timeout) of the call, and the time in which we answer does not count. A function that fails, fails the
/// call: a server cannot be told. A call that is dropped drops the functions too.
///
/// # Tasks
///
/// A client with [`Tasks`] says so to servers since 2026-07-28, and these may then work on a call of a tool as a task. The
/// call asks after it as often as the server wants, answers what it asks by the functions above, each question once,
/// and gives what a plain call would give. It waits as long as a plain call does, where each change of the task counts as
/// a report of progress and the time in which we answer does not count; then, or when it is dropped, the task is
/// cancelled. So calls that may take hours need a [time](crate::Call::timeout) to match, or are
/// [started](crate::Call::start) and come back to.
///
/// In 2025-11-25 it is the client that wants a task. Only those calls are run as one that are started as one, that have
/// the member `task`, or whose tool says that it runs no other way. There questions are requests of the server's, and
/// the time in which we answer them counts, as it does for plain calls.
///
/// # Changes
///
/// In a session a server tells of changes unasked. Since 2026-07-28 it does so only on a subscription, so a
/// client that was given something for changes of lists opens one for what the server offers to tell of, and
/// another when the server ends that, after 1 s, then 2 s, and so on up to a minute. After such a gap it hears of
/// a change that there may have been. A server that never says what it agrees to is asked five times. This runs within
/// the future of the connection.
///
/// # Clones
///
/// A clone connects by itself, with the same functions: what one hears, it hears from the connections of all.
#[derive(Clone)]
pub struct Client {
    pub(crate) handshake: Handshake,
    pub(crate) connection: Config,
    pub(crate) front: Front,
}

impl Client {
    /// The default of [`value_limit`](Self::value_limit): 32 MiB.
    pub const DEFAULT_VALUE_LIMIT: usize = DEFAULT_VALUE_LIMIT;

    /// A client of that name and version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self::from_info(Implementation::new(name, version))
    }

    /// A client that says more of itself, such as a title.
    pub fn from_info(info: Implementation) -> Self {
        let handshake = Handshake {
            era: Era::Session,
            revisions: Revision::ALL.to_vec(),
            info,
            capabilities: ClientCapabilities::default(),
            log_level: None,
            discover_timeout: Duration::from_secs(5),
            handshake_timeout: Some(Duration::from_secs(60)),
            waits: Waits {
                timeout: Some(Duration::from_secs(60)),
                progress_maximum: Some(Duration::from_secs(600)),
            },
        };
        Self { handshake, connection: Config::new(Dialect::MCP), front: Front::default() }
    }

    /// Sets which revisions are spoken (default [`Era::Session`]).
    #[must_use]
    pub fn era(mut self, era: Era) -> Self {
        self.handshake.era = era;
        self
    }

    /// Sets which revisions may be agreed on (default all that the library has), within the [era](Self::era): the newest
    /// of them is offered, and a server that wants another is refused.
    ///
    /// For those who depend on what one revision has, or must not meet another: by itself a client speaks the newest
    /// that both have. Where there are none of the era, connecting fails with
    /// [`HandshakeError::NoRevision`](crate::HandshakeError::NoRevision), and nothing is sent.
    #[must_use]
    pub fn revisions(mut self, revisions: impl IntoIterator<Item = Revision>) -> Self {
        self.handshake.revisions = revisions.into_iter().collect();
        self
    }

    /// Sets how long [`Era::Either`] waits for the answer to `server/discover` before it sends `initialize`
    /// (default 5 s).
    #[must_use]
    pub fn discover_timeout(mut self, timeout: Duration) -> Self {
        self.handshake.discover_timeout = timeout;
        self
    }

    /// Sets how long a call waits for its answer (default 60 s); `None` for ever.
    #[must_use]
    pub fn timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.handshake.waits.timeout = timeout.into();
        self
    }

    /// Sets how long a call waits at most when progress reports start its wait anew (default 10 min). With
    /// `None` they do not.
    #[must_use]
    pub fn progress_maximum(mut self, maximum: impl Into<Option<Duration>>) -> Self {
        self.handshake.waits.progress_maximum = maximum.into();
        self
    }

    /// Sets how long the answer to `initialize` may take, or with [`Era::Stateless`] that to `server/discover`
    /// (default 60 s); `None` for ever.
    #[must_use]
    pub fn handshake_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.handshake.handshake_timeout = timeout.into();
        self
    }

    /// Changes limits and times of the connection.
    #[must_use]
    pub fn connection(mut self, change: impl FnOnce(Config) -> Config) -> Self {
        self.connection = change(self.connection);
        self
    }

    /// Changes what is advertised beyond what follows from what is answered, such as experimental things.
    #[must_use]
    pub fn advertise(mut self, change: impl FnOnce(&mut ClientCapabilities)) -> Self {
        change(&mut self.handshake.capabilities);
        self
    }

    /// Tells the server, when it asks, the folders that we work in.
    #[must_use]
    pub fn roots(mut self, roots: Vec<Root>) -> Self {
        self.handshake.capabilities.roots.get_or_insert_default();
        self.front.answers.set(move |_: ListRootsRequest| {
            let result = ListRootsResult::new(roots.clone());
            async { Ok(result) }
        });
        self
    }

    /// Lets the server ask our language model. Ask the user first.
    #[must_use]
    pub fn sampling<F, O>(mut self, function: F) -> Self
    where
        F: Fn(CreateMessageRequest) -> O + Send + Sync + 'static,
        O: Future<Output = Result<CreateMessageResult, ErrorObject>> + Send + 'static,
    {
        self.handshake.capabilities.sampling.get_or_insert_default();
        self.front.answers.set(function);
        self
    }

    /// Lets the server ask our user, by forms.
    ///
    /// What an accepted form leaves out is filled in from the defaults of the form's fields, where they have one: the
    /// function need only say what the user changed.
    #[must_use]
    pub fn elicitation<F, O>(mut self, function: F) -> Self
    where
        F: Fn(ElicitFormRequest) -> O + Send + Sync + 'static,
        O: Future<Output = Result<ElicitResult, ErrorObject>> + Send + 'static,
    {
        let modes = self.handshake.capabilities.elicitation.get_or_insert_default();
        // Servers older than the modes know the capability without them only.
        if modes.url.is_some() {
            modes.form.get_or_insert_default();
        }
        self.front.answers.set_form(function);
        self
    }

    /// Lets the server send our user to a web page, for what must not pass through us. Show the whole URL and ask before
    /// it is opened; accepting says that the user agreed to go there. In revisions since 2025-11-25.
    #[must_use]
    pub fn elicitation_url<F, O>(mut self, function: F) -> Self
    where
        F: Fn(ElicitUrlRequest) -> O + Send + Sync + 'static,
        O: Future<Output = Result<ElicitResult, ErrorObject>> + Send + 'static,
    {
        let had = self.handshake.capabilities.elicitation.is_some();
        let modes = self.handshake.capabilities.elicitation.get_or_insert_default();
        if had && modes.has_form() {
            modes.form.get_or_insert_default();
        }
        modes.url.get_or_insert_default();
        self.front.answers.set_url(function);
        self
    }

    /// Sets how often a call is made again with answers, since 2026-07-28, when the server asks back each time
    /// (default 10).
    #[must_use]
    pub fn input_rounds(mut self, rounds: usize) -> Self {
        self.front.answers.round_limit = rounds;
        self
    }

    /// Sets how many answers a server may want at once, since 2026-07-28 (default 100). They are found out side by side.
    #[must_use]
    pub fn input_requests(mut self, requests: usize) -> Self {
        self.front.answers.request_limit = requests;
        self
    }

    /// Sets how much memory what one message of the server's says may take when it is decoded, in bytes (default
    /// [`DEFAULT_VALUE_LIMIT`](Self::DEFAULT_VALUE_LIMIT)). It is estimated from the text, before anything is decoded; the
    /// text of strings and structured content, which stays text, do not count.
    ///
    /// A result over the limit is a [`CallError::Decode`](crate::CallError::Decode) that names it, a request is refused, and
    /// a notification is not heard. [`Pages`](crate::Pages) hold all items of a list to it.
    #[must_use]
    pub fn value_limit(mut self, bytes: usize) -> Self {
        self.front.answers.value_limit = bytes;
        self
    }

    /// Keeps lists and resources for as long as the server says that they are fresh, since 2026-07-28 (default: not).
    ///
    /// Such a client also listens for changes of lists, as one does that was given something for them. Of a resource it
    /// hears only while there is a [subscription](crate::Server::listen) to it.
    #[must_use]
    pub fn cache(mut self, cache: Cache) -> Self {
        self.front.cache = Some(cache);
        self
    }

    /// Follows the tasks that servers make of calls of tools (default: not); see [above](Self#tasks).
    #[must_use]
    pub fn tasks(mut self, tasks: Tasks) -> Self {
        let extensions = self.handshake.capabilities.extensions.get_or_insert_default();
        extensions.extend(task_extension::extensions());
        self.front.tasks = Some(tasks);
        self
    }

    /// Checks what tools give by their output schemas (default: not). A call whose result is not as its tool promises
    /// fails with [`CallError::Unusable`](crate::CallError::Unusable), which names the place and does not repeat what is
    /// there.
    ///
    /// That goes for tools that [`Server::tools`](crate::Server::tools) has listed before the call, and not for results with `is_error`.
    /// Nothing is fetched for a schema: where it refers to another place, [`on_warning`](Self::on_warning) hears that
    /// the tool's results are not checked.
    #[cfg(feature = "validate")]
    #[must_use]
    pub fn validate_output(mut self, validate: bool) -> Self {
        self.front.checks_output = validate;
        self
    }

    /// Asks for the server's log from that level upwards; see [`on_log`](Self::on_log).
    ///
    /// In a session this is `logging/setLevel` before anything else, where the server has a log, and which it may
    /// refuse without further effect. Since 2026-07-28 every request says it, and a server logs nothing without.
    #[must_use]
    pub fn log_level(mut self, level: LoggingLevel) -> Self {
        self.handshake.log_level = Some(level);
        self
    }

    /// Hears the server's log. Since 2026-07-28 there is none without a [level](Self::log_level).
    #[must_use]
    pub fn on_log(mut self, hook: impl FnMut(LoggingMessageNotification) + Send + 'static) -> Self {
        self.front.on_log = set(hook);
        self
    }

    /// Hears that the server's tools are others now, or may be. See [above](Self#changes).
    #[must_use]
    pub fn on_tools_changed(mut self, mut hook: impl FnMut() + Send + 'static) -> Self {
        self.front.on_tools_changed = set(move |()| hook());
        self
    }

    /// Hears that the server's resources are others now, or may be. See [above](Self#changes).
    #[must_use]
    pub fn on_resources_changed(mut self, mut hook: impl FnMut() + Send + 'static) -> Self {
        self.front.on_resources_changed = set(move |()| hook());
        self
    }

    /// Hears that the server's prompts are others now, or may be. See [above](Self#changes).
    #[must_use]
    pub fn on_prompts_changed(mut self, mut hook: impl FnMut() + Send + 'static) -> Self {
        self.front.on_prompts_changed = set(move |()| hook());
        self
    }

    /// Hears the URI of a resource that changed, after [`Server::subscribe`](crate::Server::subscribe) or [`Server::listen`](crate::Server::listen).
    #[must_use]
    pub fn on_resource_updated(mut self, hook: impl FnMut(String) + Send + 'static) -> Self {
        self.front.on_resource_updated = set(hook);
        self
    }

    /// Hears every notification of the server's but progress, which the calls hear, before what else here is for it. It
    /// makes the client listen for nothing: since 2026-07-28 there is only what something else asked for.
    #[must_use]
    pub fn on_notification(mut self, hook: impl FnMut(Notification) + Send + 'static) -> Self {
        self.front.on_notification = set(hook);
        self
    }

    /// Hears how a task stands, where the server says so by itself: in 2025-11-25 unasked, since 2026-07-28 on a
    /// [subscription](crate::Server::listen) with a [`TaskSubscription`](task_extension::TaskSubscription). It need not say it,
    /// and nothing that follows a task waits for it.
    #[must_use]
    pub fn on_task_changed(mut self, hook: impl FnMut(TaskState) + Send + 'static) -> Self {
        self.front.on_task_changed = set(hook);
        self
    }

    /// Hears every notification that nothing else here is for.
    #[must_use]
    pub fn on_other(mut self, hook: impl FnMut(Notification) + Send + 'static) -> Self {
        self.front.on_other = set(hook);
        self
    }

    /// Hears what went wrong without being anybody's error. It must not take long, and not list tools.
    #[must_use]
    pub fn on_warning(mut self, hook: impl FnMut(Warning) + Send + 'static) -> Self {
        self.front.on_warning = set(hook);
        self
    }
}

/// A client that gives the name and version of this library as its own.
impl Default for Client {
    fn default() -> Self {
        Self::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("info", &self.handshake.info)
            .field("capabilities", &self.handshake.capabilities)
            .finish_non_exhaustive()
    }
}

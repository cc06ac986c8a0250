//! `Tasks`: the settings by which a server runs calls as tasks.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use agentwire_jsonrpc::ErrorObject;
use agentwire_wire_derive::Build;
use futures::future::BoxFuture;

use super::handle::Outcome;
use super::registry::TaskRegistry;
use crate::quota::{Limits, QuotaExceeded};
use crate::{MemoryTasks, TaskStore};

/// The settings by which a server runs calls as tasks, whose results clients fetch later. Pass it to
/// [`Server::tasks`](crate::Server::tasks), and declare for each [tool](crate::ServerTool::task) whether it can run as one.
///
/// ```
/// use std::time::Duration;
///
/// use agentwire_mcp_server::schema::TaskSupport;
/// use agentwire_mcp_server::{Context, NoArguments, Server, ServerTool, Tasks};
///
/// async fn report(_: NoArguments, cx: Context) -> &'static str {
///     cx.status("Reading the books");
///     "All is well."
/// }
///
/// let tasks = Tasks::new(|work| drop(tokio::spawn(work))).ttl(Duration::from_secs(3600));
/// let tool = ServerTool::new("report", "A long report", report).task(TaskSupport::Optional);
/// let server = Server::new("books", "1.0.0").tasks(tasks).with_tool(tool);
/// ```
///
/// Cloning is cheap, and clones run the same tasks.
#[derive(Clone, Build)]
pub struct Tasks {
    spawn: Arc<Spawn>,
    /// Sets where records are kept (default: [`MemoryTasks`]).
    #[build(dynamic)]
    pub(crate) store: Arc<dyn TaskStore>,
    /// Sets for how long a task is kept from its creation on, where its client does not say (default: 1 hour; none:
    /// [`longest_ttl`](Self::longest_ttl)). One that still runs then is dropped.
    #[build(optional)]
    pub(crate) ttl: Option<Duration>,
    /// Sets the longest time that a client can ask for (default: 1 day; none: no bound). What is kept for ever counts
    /// against the [limit](Self::limit) for ever.
    #[build(optional)]
    pub(crate) longest_ttl: Option<Duration>,
    /// Sets how long clients shall wait between two requests for the state of a task (default 1 second).
    pub(crate) poll_interval: Duration,
    /// Sets for how long a call that may become a task runs as any other (default 100 ms), for clients of 2026-07-28: one
    /// that is done by then is answered at once. If it asks the client something by then, that is a round as without tasks.
    pub(crate) grace: Duration,
    /// Sets how many tasks that were made here are kept at once, be they done or not (default 1000), for all clients
    /// together. What would be one more is refused, or goes on as a plain call where it can.
    pub(crate) limit: usize,
    /// Sets how many of them one client may have (default 100): a [principal](crate::InputConfig::principal), or else a
    /// [sender](agentwire_transport::MessageSource::sender), or else a session. All requests without a session of which
    /// nothing is known are one client, and so are all clients behind a proxy, unless a layer names them. What would be
    /// one more is refused, or goes on as a plain call where it can.
    pub(crate) client_limit: usize,
    /// Sets how many bytes of memory the tasks of all clients may take (default
    /// [`DEFAULT_BYTE_LIMIT`](Self::DEFAULT_BYTE_LIMIT)). A task that runs counts with its arguments: their text, and what
    /// that takes as a tree of values. A task that has ended counts with its result or error.
    ///
    /// A task whose arguments leave no room for it is refused, or goes on as a plain call where it can. A task whose result
    /// does has failed, with an error that names the limit. For a [store](Self::store) that does not keep its records in
    /// memory, `usize::MAX` turns the limit off.
    pub(crate) byte_limit: usize,
    /// Sets how many of these bytes the tasks of one client may take (default
    /// [`DEFAULT_CLIENT_BYTE_LIMIT`](Self::DEFAULT_CLIENT_BYTE_LIMIT)). A client is the same as for
    /// [`client_limit`](Self::client_limit).
    pub(crate) client_byte_limit: usize,
    pub(crate) registry: Arc<TaskRegistry>,
}

type Spawn = dyn Fn(BoxFuture<'static, ()>) + Send + Sync;

impl Tasks {
    /// The default of [`limit`](Self::limit): 1,000.
    pub const DEFAULT_LIMIT: usize = 1000;
    /// The default of [`client_limit`](Self::client_limit): 100.
    pub const DEFAULT_CLIENT_LIMIT: usize = 100;
    /// The default of [`byte_limit`](Self::byte_limit): 64 MiB.
    pub const DEFAULT_BYTE_LIMIT: usize = 64 << 20;
    /// The default of [`client_byte_limit`](Self::client_byte_limit): 16 MiB.
    pub const DEFAULT_CLIENT_BYTE_LIMIT: usize = 16 << 20;

    /// Runs tasks by `spawn`, which must poll each future to its end, on a runtime with tokio's clock:
    /// `|work| drop(tokio::spawn(work))`. A task whose future is dropped has failed.
    pub fn new(spawn: impl Fn(BoxFuture<'static, ()>) + Send + Sync + 'static) -> Self {
        Self {
            spawn: Arc::new(spawn),
            store: Arc::new(MemoryTasks::new()),
            ttl: Some(Duration::from_secs(60 * 60)),
            longest_ttl: Some(Duration::from_secs(24 * 60 * 60)),
            poll_interval: Duration::from_secs(1),
            grace: Duration::from_millis(100),
            limit: Self::DEFAULT_LIMIT,
            client_limit: Self::DEFAULT_CLIENT_LIMIT,
            byte_limit: Self::DEFAULT_BYTE_LIMIT,
            client_byte_limit: Self::DEFAULT_CLIENT_BYTE_LIMIT,
            registry: Arc::default(),
        }
    }

    pub(crate) fn registry(&self) -> &TaskRegistry {
        &self.registry
    }

    /// How many tasks may be kept.
    pub(crate) fn limits(&self) -> Limits {
        Limits { total: self.limit, holder: self.client_limit }
    }

    /// How many bytes they may take.
    pub(crate) fn byte_limits(&self) -> Limits {
        Limits { total: self.byte_limit, holder: self.client_byte_limit }
    }

    /// Settles a task whose function has ended: its arguments are gone, and the outcome is kept if there is room.
    pub(crate) fn settle(&self, id: &str, outcome: Outcome) -> Outcome {
        match self.registry.resize(id, outcome.bytes(), self.byte_limits()) {
            Ok(()) => outcome,
            Err(exceeded) => Outcome::Error(no_room(exceeded, "the result of the task")),
        }
    }

    /// Releases the arguments of a task whose function has ended without an outcome.
    pub(crate) fn forget_arguments(&self, id: &str) {
        // Nothing has always room.
        let _fits = self.registry.resize(id, 0, self.byte_limits());
    }

    pub(crate) fn spawn(&self, work: BoxFuture<'static, ()>) {
        (self.spawn)(work);
    }

    /// For how long a task is kept whose client asks for so many milliseconds.
    pub(crate) fn effective_ttl(&self, asked: Option<u64>) -> Option<Duration> {
        let asked = asked.map(Duration::from_millis).or(self.ttl);
        match (asked, self.longest_ttl) {
            (Some(asked), Some(longest)) => Some(asked.min(longest)),
            (asked, longest) => asked.or(longest),
        }
    }
}

/// The error for a part that needs more bytes than there is room for.
#[cold]
pub(crate) fn no_room(exceeded: QuotaExceeded, what: &str) -> ErrorObject {
    let (limit, whose, name) = match exceeded {
        QuotaExceeded::Total(limit) => (limit, "all clients", "Tasks::byte_limit"),
        QuotaExceeded::Holder(limit) => (limit, "one client", "Tasks::client_byte_limit"),
    };
    let why = format_args!(
        "there is no room for {what}: the tasks of {whose} can have {limit} bytes together ({name})"
    );
    ErrorObject::internal_error(why).with_data(&BTreeMap::from([("limit", limit)]))
}

impl fmt::Debug for Tasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tasks")
            .field("ttl", &self.ttl)
            .field("longest_ttl", &self.longest_ttl)
            .field("poll_interval", &self.poll_interval)
            .field("grace", &self.grace)
            .field("limit", &self.limit)
            .field("client_limit", &self.client_limit)
            .field("byte_limit", &self.byte_limit)
            .field("client_byte_limit", &self.client_byte_limit)
            .finish_non_exhaustive()
    }
}

//! Warnings of a server: settings that its functions need, and unreadable parts of a client's description.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agentwire_jsonrpc::{Skipped, collect_skipped};

/// A call that has no effect without a setting of the server, or a malformed part of a client's description. Each kind is given
/// once; see [`Server::on_warning`](crate::Server::on_warning).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerWarning {
    /// A function [logs](crate::Context::log), but the server does not set [`logging`](crate::Server::logging).
    NoLogging,
    /// A resource [was updated](crate::Server::resource_updated), and the server has no
    /// [`resource_updates`](crate::Server::resource_updates).
    NoResourceUpdates,
    /// A tool may run as a [task](crate::ServerTool::task), but the server does not set [`tasks`](crate::Server::tasks).
    NoTasks,
    /// A client describes itself, in `initialize` or in `_meta`, with members that cannot be read. They are left out.
    ClientDescription(Skipped),
}

impl ServerWarning {
    const COUNT: usize = 4;

    fn kind(&self) -> usize {
        match self {
            Self::NoLogging => 0,
            Self::NoResourceUpdates => 1,
            Self::NoTasks => 2,
            Self::ClientDescription(_) => 3,
        }
    }
}

impl fmt::Display for ServerWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoLogging => "`Context::log` sends nothing: call `Server::logging` to send log messages",
            Self::NoResourceUpdates => {
                "`resource_updated` notifies no client: call `Server::resource_updates` to let clients subscribe"
            }
            Self::NoTasks => "`ServerTool::task` has no effect: call `Server::tasks` to run calls as tasks",
            Self::ClientDescription(skipped) => {
                return write!(f, "a client describes itself with members that cannot be read: {skipped}");
            }
        })
    }
}

/// The receiver of warnings, and the kinds that it has received.
#[derive(Clone)]
pub(crate) struct Warnings {
    receive: Arc<dyn Fn(ServerWarning) + Send + Sync>,
    given: Arc<[AtomicBool; ServerWarning::COUNT]>,
}

impl Warnings {
    pub(crate) fn new(receive: impl Fn(ServerWarning) + Send + Sync + 'static) -> Self {
        Self { receive: Arc::new(receive), given: Arc::default() }
    }

    /// Gives a warning, unless it was given. A panic of the receiver does not fail the request.
    #[cold]
    pub(crate) fn give(&self, warning: ServerWarning) {
        if !self.given[warning.kind()].swap(true, Ordering::Relaxed) {
            let _panicked = catch_unwind(AssertUnwindSafe(|| (self.receive)(warning)));
        }
    }

    /// Runs a decoding of a client's description of itself, and gives a warning if parts were left out.
    pub(crate) fn noting_client<R>(&self, decode: impl FnOnce() -> R) -> R {
        let (decoded, skipped) = collect_skipped(decode);
        if !skipped.is_empty() {
            self.give(ServerWarning::ClientDescription(skipped));
        }
        decoded
    }
}

/// Writes warnings to stderr, which is the log of a server on stdio.
impl Default for Warnings {
    fn default() -> Self {
        Self::new(|warning| eprintln!("agentwire: {warning}"))
    }
}

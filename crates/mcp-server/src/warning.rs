//! Warnings of a server: settings without which something that its functions do has no effect.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Something that has no effect for want of a setting of the server. Each is given once; see
/// [`Server::on_warning`](crate::Server::on_warning).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerWarning {
    /// A function [logs](crate::Context::log), and the server has no [`logging`](crate::Server::logging).
    NoLogging,
    /// A resource [was updated](crate::Server::resource_updated), and the server has no
    /// [`resource_updates`](crate::Server::resource_updates).
    NoResourceUpdates,
    /// A tool may run as a [task](crate::ServerTool::task), and the server has no [`tasks`](crate::Server::tasks).
    NoTasks,
}

impl ServerWarning {
    const COUNT: usize = 3;
}

impl fmt::Display for ServerWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoLogging => "`Context::log` sends nothing: call `Server::logging` to send log messages",
            Self::NoResourceUpdates => {
                "`resource_updated` notifies nobody: call `Server::resource_updates` to let clients subscribe"
            }
            Self::NoTasks => "`ServerTool::task` has no effect: call `Server::tasks` to run calls as tasks",
        })
    }
}

/// The receiver of warnings, and which it has got.
#[derive(Clone)]
pub(crate) struct Warnings {
    receive: Arc<dyn Fn(ServerWarning) + Send + Sync>,
    given: Arc<[AtomicBool; ServerWarning::COUNT]>,
}

impl Warnings {
    pub(crate) fn new(receive: impl Fn(ServerWarning) + Send + Sync + 'static) -> Self {
        Self { receive: Arc::new(receive), given: Arc::default() }
    }

    /// Gives a warning, unless it was given.
    #[cold]
    pub(crate) fn give(&self, warning: ServerWarning) {
        if !self.given[warning as usize].swap(true, Ordering::Relaxed) {
            (self.receive)(warning);
        }
    }
}

/// Writes warnings to stderr, which is the log of a server on stdio.
impl Default for Warnings {
    fn default() -> Self {
        Self::new(|warning| eprintln!("agentwire: {warning}"))
    }
}

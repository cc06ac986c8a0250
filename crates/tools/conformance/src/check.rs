//! A check: a function, the transports that it runs over, and how it is run.

use std::future::Future;
use std::pin::Pin;

use crate::subject::Transport;
use crate::trace::Trace;
use crate::verdict::Outcome;

/// A check's conversation as a future.
pub(crate) type Running = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// A check for subjects of one kind; `C` is how such a subject is reached. Requirements name it by its [path](Self::path).
pub(crate) struct Check<C: 'static> {
    /// The function, with the module that lists it: `CRATE::PARTY::MODULE::FUNCTION`.
    pub(crate) function: &'static str,
    /// Over which transports it runs.
    pub(crate) on: &'static [Transport],
    pub(crate) run: Run<C>,
}

impl<C> Check<C> {
    /// The function, with its module below that of its party.
    pub(crate) fn path(&self) -> &'static str {
        self.function.splitn(3, "::").nth(2).unwrap_or(self.function)
    }
}

pub(crate) enum Run<C: 'static> {
    /// Has a conversation of its own.
    Alone(fn(C) -> Running),
    /// The same, but where it passes or does not apply, it may do so in a conversation that other checks had before.
    Shared(fn(C) -> Running),
    /// Looks through every conversation of the run.
    Audit(fn(&C, &Trace) -> Outcome),
}

/// Every transport.
pub(crate) const ANY: &[Transport] = Transport::ALL;
/// Standard input and output.
pub(crate) const STDIO: &[Transport] = &[Transport::Stdio];
/// Streamable HTTP.
pub(crate) const HTTP: &[Transport] = &[Transport::Http];
/// HTTP+SSE.
pub(crate) const SSE: &[Transport] = &[Transport::Sse];
/// WebSocket.
pub(crate) const WS: &[Transport] = &[Transport::Ws];
/// Those of ACP at a URL.
pub(crate) const REMOTE: &[Transport] = &[Transport::Http, Transport::Ws];
/// Those of ACP that keep all messages of a direction in one order, and let each of them reach the agent.
pub(crate) const ORDERED: &[Transport] = &[Transport::Stdio, Transport::Ws];
/// Both transports of MCP over HTTP.
pub(crate) const WEB: &[Transport] = &[Transport::Http, Transport::Sse];

/// An entry of the list of checks; see [`check!`] and [`shared!`].
macro_rules! entry {
    ($function:ident, $on:expr, $kind:ident($run:expr)) => {
        $crate::check::Check {
            function: concat!(module_path!(), "::", stringify!($function)),
            on: $on,
            run: $crate::check::Run::$kind($run),
        }
    };
}
pub(crate) use entry;

/// `check!(function, ANY)`, where the function is `async fn(context) -> Outcome`.
macro_rules! check {
    ($function:ident, $on:expr) => {
        $crate::check::entry!($function, $on, Alone(|context| Box::pin($function(context))))
    };
}
pub(crate) use check;

/// The same for a check that passes by what the program answers, and never by its silence, to requests that a client may send at any
/// time. It may run in a conversation that others had before.
macro_rules! shared {
    ($function:ident, $on:expr) => {
        $crate::check::entry!($function, $on, Shared(|context| Box::pin($function(context))))
    };
}
pub(crate) use shared;

/// The same for `fn(&context, &Trace) -> Outcome`, which looks through every conversation of the run.
macro_rules! audit {
    ($function:ident, $on:expr) => {
        $crate::check::entry!($function, $on, Audit($function))
    };
}
pub(crate) use audit;

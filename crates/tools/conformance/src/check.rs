//! A check: which requirement it covers, and what it does.

use std::future::Future;
use std::pin::Pin;

use crate::subject::Transport;
use crate::trace::Trace;
use crate::verdict::Outcome;

/// A check's conversation as a future.
pub(crate) type Running = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// A check of the requirement with an id, for subjects of one kind; `C` is how such a subject is reached.
pub(crate) struct Check<C: 'static> {
    /// The requirement.
    pub(crate) id: &'static str,
    /// The function's name.
    pub(crate) name: &'static str,
    /// The module that lists the check.
    pub(crate) module: &'static str,
    /// Over which transports it runs.
    pub(crate) on: &'static [Transport],
    pub(crate) run: Run<C>,
}

impl<C> Check<C> {
    /// Where it is: the module below that of its party, and the function.
    pub(crate) fn path(&self) -> String {
        let module = self.module.splitn(3, "::").nth(2);
        module.into_iter().chain([self.name]).collect::<Vec<_>>().join("::")
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
    ($kind:ident, $id:literal, $run:path, $on:expr) => {
        $crate::check::Check {
            id: $id,
            name: stringify!($run),
            module: module_path!(),
            on: $on,
            run: $crate::check::Run::$kind(|context| Box::pin($run(context))),
        }
    };
}
pub(crate) use entry;

/// `check!("RPC-06", function, ANY)`, where the function is `async fn(context) -> Outcome`.
macro_rules! check {
    ($($entry:tt)*) => { $crate::check::entry!(Alone, $($entry)*) };
}
pub(crate) use check;

/// The same for a check that passes by what the program answers, and never by its silence, to requests that a client may send at any
/// time. It may run in a conversation that others had before.
macro_rules! shared {
    ($($entry:tt)*) => { $crate::check::entry!(Shared, $($entry)*) };
}
pub(crate) use shared;

/// The same for `fn(&context, &Trace) -> Outcome`, which looks through every conversation of the run.
macro_rules! audit {
    ($id:literal, $run:path, $on:expr) => {
        $crate::check::Check {
            id: $id,
            name: stringify!($run),
            module: module_path!(),
            on: $on,
            run: $crate::check::Run::Audit($run),
        }
    };
}
pub(crate) use audit;

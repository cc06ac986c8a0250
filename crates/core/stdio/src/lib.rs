//! JSON-RPC over stdin and stdout: our own, or those of a child process.
//!
//! `agentwire_transport_stdio` here is `agentwire::stdio` in the crate `agentwire`, with its feature `stdio`.
//!
//! Every agent and most tools speak this way, and most failures between them happen here: a stream that blocks, a terminal
//! that is left broken, a child that stalls on its stderr or outlives its client. This crate has two transports without these
//! failures:
//!
//! ```text
//!  our client ── stdin ──▶ stdio() ──▶ packets            Child::spawn(command) ──▶ packets
//!             ◀─ stdout ──                                   │ stdin, stdout: the transport
//!                                                            │ stderr: forwarded, kept, or given to you
//!                                                            └ its whole process group goes when we do
//! ```
//!
//! ```no_run
//! # #[cfg(not(feature = "process"))]
//! # fn main() {}
//! # #[cfg(feature = "process")]
//! use agentwire_transport::bridge;
//! # #[cfg(feature = "process")]
//! use agentwire_transport_stdio::{Child, Command, stdio};
//!
//! # #[cfg(feature = "process")]
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Stands between a client and its agent, and forwards the packets of both.
//! bridge(stdio()?, Child::spawn(Command::parse("my-agent --verbose")?)?).await?;
//! # Ok(())
//! # }
//! ```
//!
//! # Our own stdin and stdout
//!
//! The file descriptions behind our stdin and stdout belong to the process that started this one, and perhaps to others.
//! `O_NONBLOCK` would be set for all of them, so it is never set. On Linux each call carries a flag that keeps it from
//! waiting, and no thread is needed:
//!
//! | what it is | how it is used |
//! |---|---|
//! | pipe | `preadv2`, `pwritev2` with `RWF_NOWAIT` |
//! | socket | `recv`, `send`, `sendmsg` with `MSG_DONTWAIT` |
//! | terminal | opened again, so that `O_NONBLOCK` is on a description of our own |
//! | file | plain calls, which never wait |
//! | named pipe, `/dev/null`, a terminal that cannot be opened again | `poll` without waiting, then a plain call |
//!
//! The runtime watches a descriptor from the first time that a call would have had to wait. A call that moved
//! less than it could is taken to have emptied or filled a pipe or socket, which saves the call that would
//! only find that out: a request and its answer cost three system calls. After 32 calls in a row others get
//! their turn, so that neither a file nor a fast peer starves them.
//!
//! On other systems a thread reads stdin and tokio's threads write stdout, behind the same types. Linux does the
//! same without the feature `nonblocking`, which is on by default: a message then costs two thread switches more, and six
//! crates are not built. Flushed data has been written. No code waits for the reading thread, so a program ends although its
//! stdin is open. But dropping a runtime waits for a client that does not read pending output. The feature `process` needs
//! `nonblocking`.
//!
//! # How a child ends
//!
//! ```text
//!  poll_close ─▶ write what waits, close its stdin
//!                  │ grace (2 s): most end here
//!                  ▼
//!                SIGTERM to its group
//!                  │ grace (2 s): for it and those it started, as long as they hold its stdout
//!                  ▼
//!                SIGKILL to its group ─▶ waited for: no process and no zombie is left
//!                  ▲            ▲
//!                drop           the guard, when we end in any way
//! ```
//!
//! Each step begins as soon as the one before is done or its time is over. Without the feature `process`, which
//! is on by default, there are no children.
//!
//! **The guard.** When we are killed, no code of ours runs. So a shell that waits for the end of a pipe, of
//! which only we hold the other end, stands in the group of each child. However we end, the system closes that
//! end, and the guard kills the group and itself. It costs one sleeping process;
//! [`Command::guard`] does without.
//!
//! **Its limits.** A process that left its group (a daemon, after `setsid`) is not found.
//!
//! **On Windows** a job object has the place of the group and of the guard: the system kills the child and all that it
//! has started when the job is closed, and closes it when we end. Only what the child starts in its first instant may be outside of it. There are no signals, so the
//! step of SIGTERM is that of SIGKILL.
//!
//! A [`ProcessGroup`] starts and ends a program in the same way without being a transport: a command of an agent, or a
//! program whose bytes are passed on as they are.
//!
//! **Names on Windows.** `npx`, `uvx` and most installed commands are `.cmd` files there, which the system does not find
//! by their name. A [`Command`] looks for them by `PATHEXT`, and the standard library starts them through `cmd.exe`,
//! with the arguments quoted so that `cmd.exe` runs none of them. [`startable_program`] does the same for other starts,
//! and [`find_program`] finds a program's path.
//!
//! # Invariants
//!
//! - No flag of a descriptor that we were given changes.
//! - Nothing is spawned on the runtime, and on Linux no thread is started, with the feature `nonblocking`.
//! - A child's stderr is read in every poll of its stream or sink, whichever task that is, so that it cannot
//!   stall while either is polled at all. What is kept of it is bounded, and so is what waits for our own.
//! - A process is waited for (in the sense of the system) only after its group was killed, so that a signal never
//!   hits a group that got the same id later.
//! - Dropping a [`Child`] leaves nothing behind. Its drop, its last packet and its close block until the kernel has ended the
//!   killed processes: microseconds, and a second at most.
//!
//! # Cancel safety
//!
//! Half-read lines and half-written ones, the step of a shutdown and its time are kept in the transports. A
//! future that polls one can be dropped at any time and nothing is lost; a dropped `close` goes on with the next.
//!
//! # What it will not do
//!
//! It understands no message, restarts nothing, runs no shell on your command line, and never touches
//! `std::io::stdin()` or `std::io::stdout()`: what others print there lands between our lines.
#![cfg_attr(docsrs, feature(doc_cfg))]

// Its facade would bring crates that are not needed here. Tests have that, and so the same paths.
#[cfg(not(test))]
extern crate futures_util as futures;

#[cfg(all(unix, feature = "nonblocking"))]
#[cfg_attr(
    not(any(target_os = "linux", feature = "process")),
    allow(dead_code, reason = "elsewhere only the pipes of children are used this way")
)]
mod descriptor;
mod input_output;
#[cfg(all(target_os = "linux", feature = "nonblocking"))]
mod io_mode;
#[cfg(all(unix, not(target_os = "linux"), feature = "nonblocking"))]
#[cfg_attr(
    not(feature = "process"),
    allow(dead_code, reason = "only the pipes of children are used this way")
)]
#[path = "io_mode_other_unix.rs"]
mod io_mode;
#[cfg(feature = "process")]
mod process;
mod runtime;
#[cfg(any(not(all(target_os = "linux", feature = "nonblocking")), test))]
mod stdin;
mod stdio;
mod threaded;

pub use input_output::{Input, Output};
#[cfg(feature = "process")]
pub use process::{
    Child, ChildPipes, Command, ParseCommandError, ProcessGroup, SpawnError, Stderr, find_program,
    startable_program,
};
pub use stdio::{Stdio, stdio};

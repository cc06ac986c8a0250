//! JSON-RPC transports over stdin and stdout: our own, or those of a child process.
//!
//! `agentwire_transport_stdio` here is `agentwire::stdio` in the crate `agentwire`, with its feature `stdio`.
//!
//! Every agent and most tools use stdio. Typical failures are a stream that blocks, a terminal that is left broken, and a child
//! that stalls on its stderr or outlives its client. This crate has two transports that avoid them:
//!
//! ```text
//!  our client ── stdin ──▶ stdio() ──▶ packets            Child::spawn(command) ──▶ packets
//!             ◀─ stdout ──                                   │ stdin, stdout: the transport
//!                                                            │ stderr: forwarded, kept, or passed to a function
//!                                                            └ its whole process group is killed when we end
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
//! // Forwards the packets between a client and its agent.
//! bridge(stdio()?, Child::spawn(Command::parse("my-agent --verbose")?)?).await?;
//! # Ok(())
//! # }
//! ```
//!
//! # Our own stdin and stdout
//!
//! This process shares the file descriptions of its stdin and stdout with the process that started it, and perhaps with others.
//! `O_NONBLOCK` would be set for all of them, so it is never set. On Linux each call is made so that it does not block, and no
//! thread is needed:
//!
//! | kind of descriptor | calls |
//! |---|---|
//! | pipe | `preadv2`, `pwritev2` with `RWF_NOWAIT` |
//! | socket | `recv`, `send`, `sendmsg` with `MSG_DONTWAIT` |
//! | terminal | opened again, so that `O_NONBLOCK` is on a description of our own |
//! | file | plain calls, which never block |
//! | named pipe, `/dev/null`, a terminal that cannot be opened again | `poll` with a time-out of zero, then a plain call |
//!
//! The runtime watches a descriptor from the first call that would block. A call that moves fewer bytes than it could counts as
//! having emptied or filled the pipe or socket, which saves one more call: a request and its response cost three system calls.
//! After 32 calls in a row other tasks run, so that neither a file nor a fast peer starves them.
//!
//! On other systems a thread reads stdin and tokio's threads write stdout, with the same types. Linux does the same without
//! the feature `nonblocking`, which is on by default: each message then costs two more thread switches, and six crates are not
//! built. A completed flush means that the data is written. No code waits for the reading thread, so a program can end while
//! its stdin is open. But dropping a runtime waits for a client that does not read pending output. The feature `process`
//! needs `nonblocking`.
//!
//! # How a child ends
//!
//! ```text
//!  poll_close ─▶ write queued bytes, close its stdin
//!                  │ grace (2 s): most end here
//!                  ▼
//!                SIGTERM to its group
//!                  │ grace (2 s): for it and for processes it started that hold its stdout
//!                  ▼
//!                SIGKILL to its group ─▶ reaped: no process and no zombie is left
//!                  ▲            ▲
//!                drop           the guard, when we end in any way
//! ```
//!
//! Each step begins as soon as the one before is complete or its time is over. Without the feature `process`, which is on by
//! default, there are no children.
//!
//! **The guard.** When this process is killed, it can run no code. So each child's group contains a guard: a shell that reads
//! from a pipe whose other end only this process holds. However this process ends, the system closes that end, and the guard
//! kills the group and itself. It costs one sleeping process; [`Command::guard`] turns it off.
//!
//! **Limits of the group.** A process that left its group (a daemon, after `setsid`) is not killed.
//!
//! **On Windows** a job object replaces the group and the guard: when the job is closed, the system kills the child and all
//! processes that it has started, and it closes the job when this process ends. Only a process that the child starts in its
//! first instant may be outside of the job. There are no signals, so the step of SIGTERM also kills.
//!
//! A [`ProcessGroup`] starts and ends a program in the same way without being a transport: a command of an agent, or a
//! program whose bytes are forwarded unchanged.
//!
//! **Names on Windows.** `npx`, `uvx` and most installed commands are `.cmd` files on Windows, which the system does not find
//! by name. A [`Command`] looks for them by `PATHEXT`, and the standard library starts them through `cmd.exe`, with arguments
//! quoted so that `cmd.exe` runs none of them. [`startable_program`] does the same for programs started in another way, and
//! [`find_program`] finds a program's path.
//!
//! # Invariants
//!
//! - The flags of an inherited descriptor never change.
//! - No task is spawned on the runtime. On Linux with the feature `nonblocking`, no thread is started.
//! - A child's stderr is read in every poll of its stream or sink, so that the child cannot stall on it while either is polled.
//!   The bytes that are kept of it, and those that wait for our own stderr, are bounded.
//! - A process is reaped only after its group was killed, so that no signal hits a later group with the same id.
//! - Dropping a [`Child`] leaves no process behind. Its drop, its last packet and its close block until the kernel has ended
//!   the killed processes: microseconds, and a second at most.
//!
//! # Cancel safety
//!
//! The transports keep half-read and half-written lines, and the step of a shutdown and its timer. So a future that polls a
//! transport can be dropped at any time. After a dropped `close`, the next one continues.
//!
//! # What it will not do
//!
//! It does not interpret messages, restart programs or run a shell on your command line, and never uses `std::io::stdin()` or
//! `std::io::stdout()`: bytes that other code prints there appear between our lines.
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

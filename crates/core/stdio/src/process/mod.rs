//! Child processes as transports: start, line framing, stderr, shutdown, and cleanup of the whole process group.

mod child;
mod command;
mod group;
#[cfg(unix)]
mod guard;
#[cfg(windows)]
mod job;
mod pipes;
mod programs;
mod shutdown;
mod spawn_error;
mod stderr;
mod streams;
mod text_lines;
mod waker;
mod watch;

pub use child::Child;
pub use command::{Command, ParseCommandError, Stderr};
pub use group::ProcessGroup;
pub use pipes::ChildPipes;
pub use programs::{find_program, startable_program};
pub use spawn_error::SpawnError;

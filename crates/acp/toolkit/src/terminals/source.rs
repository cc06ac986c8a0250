//! The output of a command on Unix: one pipe for stdout and stderr.

use std::io::{self, PipeReader};
use std::process::{Command, Stdio};

use agentwire_transport_stdio::ProcessGroup;
use rustix::io::Errno;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;

/// The maximum of a pipe's buffer on Linux for unprivileged processes.
const MAX_IN_PIPE: usize = 1024 * 1024;

/// Our end of the pipe that a command writes to, with stdout and stderr alike.
#[derive(Debug)]
pub(super) struct Source {
    pipe: Receiver,
}

impl Source {
    /// Starts `command`.
    pub(super) fn spawn(mut command: Command) -> io::Result<(ProcessGroup, Self)> {
        let (reader, writer) = io::pipe()?;
        let pipe = Self::register(reader)?;
        command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
        // The command, with its copies of the writing end, is dropped when this returns.
        Ok((ProcessGroup::spawn(command)?, Self { pipe }))
    }

    fn register(reader: PipeReader) -> io::Result<Receiver> {
        Receiver::from_owned_fd(reader.into())
    }

    /// Reads some bytes, or none at the end. Nothing is lost when this is dropped.
    pub(super) async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.pipe.read(buffer).await
    }

    /// Reads the output that was written before now. Returns whether the end was reached.
    ///
    /// The pipe is read directly: the runtime may not have noticed yet that it is readable.
    pub(super) async fn drain(&mut self, buffer: &mut [u8], mut each: impl FnMut(&[u8])) -> bool {
        let mut total = 0;
        while total < MAX_IN_PIPE {
            match rustix::io::read(&self.pipe, &mut *buffer) {
                Ok(0) => return true,
                Ok(count) => {
                    each(&buffer[..count]);
                    total += count;
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return false,
                Err(_) => return true,
            }
        }
        false
    }
}

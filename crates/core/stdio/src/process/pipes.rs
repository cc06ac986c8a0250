//! Takes the pipes of a spawned child and makes non-blocking `Input` and `Output` values of them.

use std::io;
use std::process::Child;

use crate::{Input, Output};

/// Our ends of a child's streams.
#[derive(Debug)]
#[allow(clippy::exhaustive_structs, reason = "a child has these streams")]
pub struct ChildPipes {
    /// Its stdin.
    pub stdin: Output,
    /// Its stdout.
    pub stdout: Input,
    /// Its stderr; `None` if that is not a pipe.
    pub stderr: Option<Input>,
}

/// Takes our ends out of `child`.
#[cfg(unix)]
pub(super) fn take(child: &mut Child) -> io::Result<ChildPipes> {
    use agentwire_transport::Direction;

    use crate::descriptor::Descriptor;

    let missing = || io::Error::from(io::ErrorKind::NotFound);
    let input = |fd| Descriptor::own(fd, Direction::In).map(Input::from);
    Ok(ChildPipes {
        stdin: Descriptor::own(child.stdin.take().ok_or_else(missing)?.into(), Direction::Out)?.into(),
        stdout: input(child.stdout.take().ok_or_else(missing)?.into())?,
        stderr: child.stderr.take().map(|pipe| input(pipe.into())).transpose()?,
    })
}

/// Takes our ends out of `child`.
#[cfg(windows)]
pub(super) fn take(child: &mut Child) -> io::Result<ChildPipes> {
    use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

    use crate::runtime::require_runtime;
    use crate::threaded::{Adapted, Reader, Writer};

    require_runtime()?;
    let missing = || io::Error::from(io::ErrorKind::NotFound);
    let stdin = ChildStdin::from_std(child.stdin.take().ok_or_else(missing)?)?;
    let stdout = ChildStdout::from_std(child.stdout.take().ok_or_else(missing)?)?;
    let stderr = child.stderr.take().map(ChildStderr::from_std).transpose()?;
    Ok(ChildPipes {
        stdin: (Box::new(Adapted(stdin)) as Writer).into(),
        stdout: (Box::new(Adapted(stdout)) as Reader).into(),
        stderr: stderr.map(|stderr| (Box::new(Adapted(stderr)) as Reader).into()),
    })
}

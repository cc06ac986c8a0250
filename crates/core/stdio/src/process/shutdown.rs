//! Shuts a child process down in steps: close stdin, SIGTERM, SIGKILL. Each step waits for the grace time at most.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use agentwire_transport::TransportError;
use futures::Sink;
use tokio::time::{Instant, Sleep};

use crate::process::streams::{ChildStreams, Reading};

/// The shutdown of a process. Each step takes at most the grace time.
#[derive(Debug)]
pub(super) struct Shutdown {
    step: ShutdownStep,
    grace: Duration,
    /// Completes when the step has taken the grace time.
    timer: Pin<Box<Sleep>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ShutdownStep {
    /// Writes queued bytes, then closes the child's stdin.
    Flush,
    /// Stdin is closed. Waits for the end of the process.
    Closed,
    /// SIGTERM is sent. Waits for the end of the process.
    Terminated,
    /// SIGKILL is sent. Waits for the end of the process.
    Killed,
    Done,
}

impl Shutdown {
    /// Starts the first step. Needs a tokio runtime.
    pub(super) fn new(grace: Duration) -> Self {
        Self { step: ShutdownStep::Flush, grace, timer: Box::pin(tokio::time::sleep(grace)) }
    }

    /// Runs all steps that are due. Ready when the process has ended.
    pub(super) fn poll(
        &mut self,
        child: &mut ChildStreams,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), TransportError>> {
        loop {
            let late = self.timer.as_mut().poll(cx).is_ready();
            let next = match self.step {
                ShutdownStep::Flush => poll_flushed(child, cx, late),
                ShutdownStep::Closed => match poll_group_ended(child, cx) {
                    Poll::Ready(()) => Poll::Ready(finish(child)),
                    Poll::Pending if late => Poll::Ready(terminate(child)),
                    Poll::Pending => Poll::Pending,
                },
                ShutdownStep::Terminated => match poll_group_ended(child, cx) {
                    Poll::Ready(()) => Poll::Ready(finish(child)),
                    Poll::Pending if late => {
                        child.group.kill();
                        Poll::Ready(ShutdownStep::Killed)
                    }
                    Poll::Pending => Poll::Pending,
                },
                ShutdownStep::Killed => match child.group.poll_ended(cx) {
                    Poll::Ready(()) => Poll::Ready(finish(child)),
                    Poll::Pending if late => {
                        let error = format!("`{}` cannot be killed", child.program);
                        return Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, error).into()));
                    }
                    Poll::Pending => Poll::Pending,
                },
                ShutdownStep::Done => return Poll::Ready(Ok(())),
            };
            let Poll::Ready(next) = next else { return Poll::Pending };
            self.step = next;
            self.timer.as_mut().reset(Instant::now() + self.grace);
        }
    }
}

/// Writes queued bytes, then closes the child's stdin. If the grace time passes first, closes it and sends SIGTERM.
fn poll_flushed(child: &mut ChildStreams, cx: &mut Context<'_>, late: bool) -> Poll<ShutdownStep> {
    if child.group.is_finished() {
        child.outgoing = None;
        return Poll::Ready(ShutdownStep::Done);
    }
    if let Some(outgoing) = &mut child.outgoing
        && !child.is_broken
        && Pin::new(outgoing).poll_close(cx).is_pending()
    {
        if !late {
            child.discard(cx);
            return Poll::Pending;
        }
        child.outgoing = None;
        return Poll::Ready(terminate(child));
    }
    child.outgoing = None;
    Poll::Ready(ShutdownStep::Closed)
}

/// Waits until the process has ended, and until all other processes that hold its stdout have closed it.
///
/// Processes that it has started may need the rest of the grace time. They are detected because they hold its stdout.
fn poll_group_ended(child: &mut ChildStreams, cx: &mut Context<'_>) -> Poll<()> {
    child.discard(cx);
    match child.group.poll_ended(cx) {
        Poll::Ready(()) if child.reading != Reading::Open => Poll::Ready(()),
        _ => Poll::Pending,
    }
}

fn terminate(child: &mut ChildStreams) -> ShutdownStep {
    child.group.terminate();
    ShutdownStep::Terminated
}

fn finish(child: &mut ChildStreams) -> ShutdownStep {
    child.finish();
    ShutdownStep::Done
}

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use agentwire_transport::TransportError;
use futures::{Sink, Stream};
use tokio::time::{Instant, Sleep};

use crate::process::Child;
use crate::process::child::Reading;

/// How far the shutdown of a process is.
#[derive(Debug)]
pub(super) struct Closing {
    step: Step,
    /// Runs out when the step has taken the grace time.
    timer: Pin<Box<Sleep>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// What waits to be written is, and then its stdin is closed.
    Flush,
    /// Its stdin is closed: it should end.
    Closed,
    /// It was sent SIGTERM: it must end.
    Terminated,
    /// It was sent SIGKILL: it ends.
    Killed,
    Done,
}

impl Child {
    /// Goes down the ladder as far as it leads by now.
    pub(super) fn poll_closed(&mut self) -> Poll<Result<(), TransportError>> {
        crate::require_runtime()?;
        let waker = self.waker.clone();
        let cx = &mut Context::from_waker(&waker);
        loop {
            let grace = self.grace;
            let closing = self.closing.get_or_insert_with(|| Closing {
                step: Step::Flush,
                timer: Box::pin(tokio::time::sleep(grace)),
            });
            let late = closing.timer.as_mut().poll(cx).is_ready();
            let next = match closing.step {
                Step::Flush => self.poll_flushed(cx, late),
                Step::Closed => match self.poll_family(cx) {
                    Poll::Ready(()) => self.finish(),
                    Poll::Pending if late => Poll::Ready(self.terminate()),
                    Poll::Pending => Poll::Pending,
                },
                Step::Terminated => match self.poll_family(cx) {
                    Poll::Ready(()) => self.finish(),
                    Poll::Pending if late => {
                        self.group.kill();
                        Poll::Ready(Step::Killed)
                    }
                    Poll::Pending => Poll::Pending,
                },
                Step::Killed => match self.group.poll_ended(cx) {
                    Poll::Ready(()) => self.finish(),
                    Poll::Pending if late => {
                        let error = format!("`{}` cannot be killed", self.program);
                        return Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, error).into()));
                    }
                    Poll::Pending => Poll::Pending,
                },
                Step::Done => return Poll::Ready(Ok(())),
            };
            let Poll::Ready(next) = next else { return Poll::Pending };
            self.enter(next);
        }
    }

    fn enter(&mut self, step: Step) {
        if let Some(closing) = &mut self.closing {
            closing.step = step;
            closing.timer.as_mut().reset(Instant::now() + self.grace);
        }
    }

    /// Writes what waits, and closes its stdin. If it does not read, its stdin is closed all the same.
    fn poll_flushed(&mut self, cx: &mut Context<'_>, late: bool) -> Poll<Step> {
        if self.group.is_finished() {
            self.outgoing = None;
            return Poll::Ready(Step::Done);
        }
        if let Some(outgoing) = &mut self.outgoing
            && !self.broken
            && Pin::new(outgoing).poll_close(cx).is_pending()
        {
            if !late {
                self.discard(cx);
                return Poll::Pending;
            }
            self.outgoing = None;
            return Poll::Ready(self.terminate());
        }
        self.outgoing = None;
        Poll::Ready(Step::Closed)
    }

    fn terminate(&mut self) -> Step {
        self.group.terminate();
        Step::Terminated
    }

    /// Waits until the process has ended, and whoever else had its stdout too.
    ///
    /// Those that it started may need their part of the grace time, and that is how they can be seen.
    fn poll_family(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.discard(cx);
        match self.group.poll_ended(cx) {
            Poll::Ready(()) if self.reading != Reading::Open => Poll::Ready(()),
            _ => Poll::Pending,
        }
    }

    /// Reads its stdout, so that it is not kept from ending by what it has to say. If somebody still listens,
    /// that is left to them; whether they do shows between two polls.
    fn discard(&mut self, cx: &mut Context<'_>) {
        if std::mem::take(&mut self.listened) {
            if !self.listening {
                cx.waker().wake_by_ref();
            }
            return;
        }
        while self.reading == Reading::Open {
            match Pin::new(&mut self.incoming).poll_next(cx) {
                Poll::Ready(Some(Ok(_))) => {}
                Poll::Ready(Some(Err(_))) => self.read_up_to(Reading::Over),
                Poll::Ready(None) => self.read_up_to(Reading::Ended),
                Poll::Pending => return,
            }
        }
    }

    /// The end, of what is left too.
    fn finish(&mut self) -> Poll<Step> {
        self.group.finish();
        self.stderr.take_rest();
        Poll::Ready(Step::Done)
    }
}

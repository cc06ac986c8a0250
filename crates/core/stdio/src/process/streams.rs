//! Holds a child's process group and its three pipes, and how far each has been read or written.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use agentwire_transport::{Exited, Lines, Packet, TransportError, lines};
use futures::Stream;

use crate::input_output::Output;
use crate::process::command::Command;
use crate::process::group::ProcessGroup;
use crate::process::stderr::Drain;
use crate::process::text_lines::Stdout;
use crate::process::waker::ChildWaker;

/// A child's process group, its three streams, and how far each stream has come.
#[derive(Debug)]
pub(super) struct ChildStreams {
    pub(super) program: String,
    pub(super) group: ProcessGroup,
    incoming: Lines<Stdout, ()>,
    /// `None` once our end of its stdin is closed.
    pub(super) outgoing: Option<Lines<(), Output>>,
    pub(super) stderr: Drain,
    pub(super) reading: Reading,
    /// Whether the child no longer reads its stdin.
    pub(super) is_broken: bool,
    pub(super) wakers: Arc<ChildWaker>,
    /// The same as `wakers`, for contexts.
    pub(super) waker: Waker,
    /// Whether the packets were polled since [`discard`](Self::discard) last ran.
    pub(super) was_read: bool,
    /// Whether the last poll of the packets was pending, so that its task is woken for the next one.
    pub(super) reader_waits: bool,
}

/// How far the child's stdout has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    Open,
    /// Its stdout has ended. Whether the process has ended is not known yet.
    Ended,
    /// The last item was returned.
    Done,
}

impl ChildStreams {
    /// Starts a process, and takes our ends of its streams.
    pub(super) fn start(command: &Command, program: &str) -> io::Result<Self> {
        let mut group = ProcessGroup::start(command.to_std(), command.guard)?;
        let pipes = group.take_pipes()?;
        let mut incoming = lines(Stdout::new(pipes.stdout, command.on_text.clone()), ());
        if let Some(bytes) = command.limit {
            incoming = incoming.limit(bytes);
        }
        if let Some(messages) = command.batch_limit {
            incoming = incoming.batch_limit(messages);
        }
        let wakers = ChildWaker::new();
        Ok(Self {
            program: program.to_owned(),
            group,
            incoming,
            outgoing: Some(lines((), pipes.stdin)),
            stderr: Drain::new(pipes.stderr, &command.stderr, program),
            reading: Reading::Open,
            is_broken: false,
            waker: wakers.clone().into(),
            wakers,
            was_read: true,
            reader_waits: false,
        })
    }

    pub(super) fn poll_incoming(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Packet, TransportError>>> {
        Pin::new(&mut self.incoming).poll_next(cx)
    }

    /// Sets how far stdout has been read, and wakes both tasks: the one that writes or closes may wait for that.
    pub(super) fn set_reading(&mut self, reading: Reading) {
        self.reading = reading;
        self.wakers.tasks.wake_all();
    }

    /// Reads and drops its stdout, so that a full pipe does not keep it from ending. Leaves that to the task that polls the
    /// packets, if they were polled since the last call.
    pub(super) fn discard(&mut self, cx: &mut Context<'_>) {
        if std::mem::take(&mut self.was_read) {
            if !self.reader_waits {
                cx.waker().wake_by_ref();
            }
            return;
        }
        while self.reading == Reading::Open {
            match self.poll_incoming(cx) {
                Poll::Ready(Some(Ok(_))) => {}
                Poll::Ready(Some(Err(_))) => self.set_reading(Reading::Done),
                Poll::Ready(None) => self.set_reading(Reading::Ended),
                Poll::Pending => return,
            }
        }
    }

    /// Kills and reaps the rest of the group, and reads the rest of its stderr.
    pub(super) fn finish(&mut self) {
        self.group.finish();
        self.stderr.take_rest();
    }

    /// Describes the end of the process, after [`finish`](Self::finish).
    pub(super) fn exited(&mut self) -> Exited {
        Exited::new(self.program.clone(), self.group.status(), self.stderr.tail())
    }
}

impl Drop for ChildStreams {
    fn drop(&mut self) {
        self.finish();
    }
}

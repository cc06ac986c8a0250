use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use agentwire_sync::Wakers;
use agentwire_transport::{Lines, Packet, TransportError, lines};
use futures::{Sink, Stream};
use tokio::time::Sleep;

use crate::process::closing::Closing;
use crate::process::group::Group;
use crate::process::stderr::Drain;
use crate::process::waker::ChildWaker;
use crate::process::{Command, Exited, SpawnError, pipes};
use crate::{Input, Output};

/// How long a process that closed its stdout or stdin may take to end, if it is about to.
const END_PATIENCE: Duration = Duration::from_secs(1);

/// A process and the transport on its stdin and stdout, one frame a line.
///
/// When the process ends by itself, the stream ends with a fault that holds an [`Exited`], a second later at
/// most, also where a process that it started still holds its stdout. When it only closes its stdout, the stream
/// just ends. Closing the sink ends the process: its stdin is closed; after
/// the [grace time](Command::grace) its whole group gets SIGTERM; after that time again, SIGKILL. What it
/// still writes meanwhile is thrown away, unless the stream is polled as well.
///
/// Dropping it kills the whole group at once, and blocks until the kernel has done so: some microseconds, and
/// a second at most. It can be dropped anywhere, but must be polled within a tokio runtime that has I/O and
/// time enabled.
#[derive(Debug)]
pub struct Child {
    pub(super) program: String,
    pub(super) incoming: Lines<Input, ()>,
    /// None once our end of its stdin is closed.
    pub(super) outgoing: Option<Lines<(), Output>>,
    pub(super) stderr: Drain,
    pub(super) group: Group,
    pub(super) grace: Duration,
    pub(super) reading: Reading,
    /// Whether it no longer takes what we write.
    pub(super) broken: bool,
    /// Whether it has ended and its stdout, which somebody else holds, was waited for long enough.
    orphaned: bool,
    /// Runs out when it has not ended although one of its streams has, or the other way round.
    patience: Option<Pin<Box<Sleep>>>,
    pub(super) closing: Option<Closing>,
    pub(super) wakers: Arc<ChildWaker>,
    /// The same as `wakers`, for contexts.
    pub(super) waker: Waker,
    /// Whether somebody has polled the stream since the sink was last polled to close.
    pub(super) listened: bool,
    /// Whether they were told to wait, so that they are woken for what comes.
    pub(super) listening: bool,
}

/// How far the stream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    Open,
    /// Its stdout has ended; what became of the process is not known yet.
    Ended,
    /// The last item was given.
    Over,
}

impl Child {
    /// Starts a process.
    ///
    /// # Errors
    ///
    /// When it cannot be started; the error names the program. On Windows also outside a tokio runtime.
    pub fn spawn(command: Command) -> Result<Self, SpawnError> {
        let program = command.program().to_string_lossy().into_owned();
        if let Some(directory) = command.directory.as_ref().filter(|directory| !directory.is_dir()) {
            return Err(SpawnError::Directory { program, directory: directory.clone() });
        }
        match Self::start(&command, &program) {
            Ok(child) => Ok(child),
            Err(source) => Err(SpawnError::Start { program, source }),
        }
    }

    fn start(command: &Command, program: &str) -> io::Result<Self> {
        let mut group = Group::spawn(command.to_std(), command.guard)?;
        let pipes = pipes::take(group.leader())?;
        let mut incoming = lines(pipes.stdout, ());
        if let Some(bytes) = command.limit {
            incoming = incoming.limit(bytes);
        }
        if let Some(messages) = command.batch_limit {
            incoming = incoming.batch_limit(messages);
        }
        let wakers = ChildWaker::new();
        Ok(Self {
            program: program.to_owned(),
            incoming,
            outgoing: Some(lines((), pipes.stdin)),
            stderr: Drain::new(pipes.stderr, &command.stderr, program),
            group,
            grace: command.grace,
            reading: Reading::Open,
            broken: false,
            orphaned: false,
            patience: None,
            closing: None,
            waker: wakers.clone().into(),
            wakers,
            listened: true,
            listening: false,
        })
    }

    /// The id of the process, which on Unix is also that of its group.
    pub fn id(&self) -> u32 {
        self.group.id()
    }

    /// The last lines of its stderr so far: up to 20 and up to 8 KiB. Good to tell with any error, such as a
    /// handshake that gets no answer.
    pub fn last_words(&self) -> String {
        self.stderr.tail()
    }

    fn exited(&self) -> Exited {
        Exited { program: self.program.clone(), status: self.group.status(), stderr: self.stderr.tail() }
    }

    /// Reads its stderr, if something woke us that may have been about that. Cheap otherwise.
    fn attend(&mut self) {
        if self.wakers.take() {
            let waker = self.waker.clone();
            let cx = &mut Context::from_waker(&waker);
            self.stderr.poll(cx);
            if self.reading == Reading::Open && self.closing.is_none() && self.poll_orphaned(cx).is_ready() {
                self.orphaned = true;
                self.wakers.tasks.wake_one(Wakers::READER);
            }
        }
    }

    /// Waits until the process has ended, and then a while for the end of its stdout. Somebody whom it started
    /// may hold that for ever.
    fn poll_orphaned(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        ready!(self.group.poll_told(cx));
        self.patience.get_or_insert_with(|| Box::pin(tokio::time::sleep(END_PATIENCE))).as_mut().poll(cx)
    }

    fn poll_packet(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Packet, TransportError>>> {
        if self.reading == Reading::Open {
            match Pin::new(&mut self.incoming).poll_next(cx) {
                Poll::Ready(Some(Ok(packet))) => return Poll::Ready(Some(Ok(packet))),
                Poll::Ready(Some(Err(fault))) => {
                    self.read_up_to(Reading::Over);
                    return Poll::Ready(Some(Err(fault)));
                }
                Poll::Ready(None) => {
                    self.patience = None;
                    self.read_up_to(Reading::Ended);
                }
                // What was said before the end has been heard by now.
                Poll::Pending if self.orphaned => self.read_up_to(Reading::Ended),
                Poll::Pending => {}
            }
        }
        self.wakers.tasks.register(Wakers::READER, cx.waker());
        match self.reading {
            Reading::Open => Poll::Pending,
            Reading::Ended => {
                // If it was we who closed, its end is no news.
                let exited = if self.closing.is_some() { None } else { ready!(self.poll_exited()) };
                self.read_up_to(Reading::Over);
                Poll::Ready(exited.map(|exited| Err(TransportError::other(exited))))
            }
            Reading::Over => Poll::Ready(None),
        }
    }

    /// Goes on to the next part of the stream, which whoever closes or writes may wait for.
    pub(super) fn read_up_to(&mut self, reading: Reading) {
        self.reading = reading;
        self.wakers.tasks.wake_all();
    }

    /// Waits a while for the process to end. None if it does not.
    fn poll_exited(&mut self) -> Poll<Option<Exited>> {
        let waker = self.waker.clone();
        let cx = &mut Context::from_waker(&waker);
        if self.group.poll_ended(cx).is_pending() {
            let patience = self.patience.get_or_insert_with(|| Box::pin(tokio::time::sleep(END_PATIENCE)));
            ready!(patience.as_mut().poll(cx));
            return Poll::Ready(None);
        }
        self.group.finish();
        // What it wrote last still lies in the pipe.
        self.stderr.take_rest();
        Poll::Ready(Some(self.exited()))
    }

    /// What the sink says once the process no longer reads: nothing, until the stream has said why, or nobody
    /// seems to listen there.
    fn poll_broken(&mut self) -> Poll<Result<(), TransportError>> {
        let waker = self.waker.clone();
        let patience = self.patience.get_or_insert_with(|| Box::pin(tokio::time::sleep(END_PATIENCE)));
        if self.reading != Reading::Over {
            ready!(patience.as_mut().poll(&mut Context::from_waker(&waker)));
        }
        Poll::Ready(Err(match ready!(self.poll_exited()) {
            Some(exited) => TransportError::other(exited),
            None => io::Error::from(io::ErrorKind::BrokenPipe).into(),
        }))
    }

    /// Notices when the process no longer reads.
    fn poll_sink(
        &mut self,
        cx: &mut Context<'_>,
        poll: impl FnOnce(Pin<&mut Lines<(), Output>>, &mut Context<'_>) -> Poll<Result<(), TransportError>>,
    ) -> Poll<Result<(), TransportError>> {
        if !self.broken {
            let Some(outgoing) = &mut self.outgoing else {
                return Poll::Ready(Err(io::Error::from(io::ErrorKind::BrokenPipe).into()));
            };
            match poll(Pin::new(outgoing), cx) {
                Poll::Ready(Err(TransportError::Io(error))) if error.kind() == io::ErrorKind::BrokenPipe => {
                    self.broken = true;
                }
                result => return result,
            }
        }
        self.poll_broken()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.group.finish();
        // What it said last is passed on, as far as that needs no waiting.
        self.stderr.take_rest();
    }
}

impl Stream for Child {
    type Item = Result<Packet, TransportError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let item = this.poll_packet(cx);
        this.listened = true;
        this.listening = item.is_pending();
        this.attend();
        item
    }
}

impl Sink<Packet> for Child {
    type Error = TransportError;

    fn poll_ready(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        let this = self.get_mut();
        this.wakers.tasks.register(Wakers::WRITER, cx.waker());
        let result = this.poll_sink(cx, |outgoing, cx| outgoing.poll_ready(cx));
        this.attend();
        result
    }

    fn start_send(self: Pin<&mut Self>, packet: Packet) -> Result<(), TransportError> {
        match &mut self.get_mut().outgoing {
            Some(outgoing) => Pin::new(outgoing).start_send(packet),
            None => Err(io::Error::from(io::ErrorKind::BrokenPipe).into()),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        let this = self.get_mut();
        this.wakers.tasks.register(Wakers::WRITER, cx.waker());
        let result = this.poll_sink(cx, |outgoing, cx| outgoing.poll_flush(cx));
        this.attend();
        result
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        let this = self.get_mut();
        this.wakers.tasks.register(Wakers::WRITER, cx.waker());
        let result = this.poll_closed();
        this.attend();
        result
    }
}

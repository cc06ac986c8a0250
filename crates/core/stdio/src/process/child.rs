//! The transport on a child process's stdin and stdout. Reports its exit status and last stderr lines as the stream's error.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use agentwire_sync::Wakers;
use agentwire_transport::{Exited, Lines, Packet, TransportError};
use futures::{Sink, Stream};
use tokio::time::Sleep;

use crate::input_output::Output;
use crate::process::command::Command;
use crate::process::shutdown::Shutdown;
use crate::process::spawn_error::SpawnError;
use crate::process::streams::{ChildStreams, Reading};
use crate::runtime::require_runtime;

/// How long to wait for the second of two events: the end of the process, and the end of its stdout or stdin.
const END_DELAY: Duration = Duration::from_secs(1);

/// A process and the transport on its stdin and stdout, one frame a line.
///
/// ```
/// use agentwire_transport::Packet;
/// use agentwire_transport_stdio::{Child, Command, Stderr};
/// use futures::{SinkExt, StreamExt};
///
/// # #[cfg(unix)]
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let agent = Command::new("sh").args(["-c", "read hello; echo \"$hello\"; echo no API key >&2; exit 3"]);
/// let mut agent = Child::spawn(agent.stderr(Stderr::Capture))?;
/// agent.send(Packet::from_json(r#"{"jsonrpc":"2.0","method":"hello"}"#)).await?;
/// assert!(matches!(agent.next().await, Some(Ok(Packet::Frame { .. }))));
/// // `Closed::exited` of a connection over it returns the same.
/// let error = agent.next().await.and_then(Result::err).ok_or("it only closed its stdout")?;
/// let exited = error.exited().ok_or("it did not end")?;
/// assert_eq!(exited.status.and_then(|status| status.code()), Some(3));
/// assert_eq!(exited.stderr, "no API key");
/// # Ok(())
/// # }
/// # #[cfg(not(unix))]
/// # fn main() {}
/// ```
///
/// When the process ends by itself, the stream ends with an error that holds an [`Exited`], at most a second later, even if a
/// process that it started still holds its stdout. If it only closes its stdout, the stream ends without an error. Closing the
/// sink ends the process: its stdin is closed; after the [grace time](Command::grace) its whole group gets SIGTERM; after
/// another grace time, SIGKILL. Its further output is dropped, unless the stream is polled too.
///
/// Dropping it kills the whole group at once, and blocks until the kernel has done so: some microseconds, and a second at
/// most. It can be dropped anywhere, but must be polled within a tokio runtime that has I/O and time enabled.
#[derive(Debug)]
pub struct Child {
    streams: ChildStreams,
    grace: Duration,
    /// Whether the process has ended, and [`END_DELAY`] has passed while a descendant holds its stdout.
    stdout_is_inherited: bool,
    /// Completes [`END_DELAY`] after a stream ended before the process, or the process before its stdout.
    end_timer: Option<Pin<Box<Sleep>>>,
    shutdown: Option<Shutdown>,
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
        let streams = match ChildStreams::start(&command, &program) {
            Ok(streams) => streams,
            Err(source) => return Err(SpawnError::Start { program, source }),
        };
        Ok(Self {
            streams,
            grace: command.grace,
            stdout_is_inherited: false,
            end_timer: None,
            shutdown: None,
        })
    }

    /// The id of the process, which on Unix is also that of its group.
    pub fn id(&self) -> u32 {
        self.streams.group.id()
    }

    /// The last lines of its stderr so far: up to 20 lines and up to 8 KiB. Show them with any error, such as a handshake
    /// without a response.
    pub fn stderr_tail(&self) -> String {
        self.streams.stderr.tail()
    }

    /// Reads its stderr and checks whether the process has ended, if the shared waker was woken. Costs one load otherwise.
    fn poll_background(&mut self) {
        if self.streams.wakers.take() {
            let waker = self.streams.waker.clone();
            let cx = &mut Context::from_waker(&waker);
            self.streams.stderr.poll(cx);
            if self.streams.reading == Reading::Open
                && self.shutdown.is_none()
                && self.poll_orphaned(cx).is_ready()
            {
                self.stdout_is_inherited = true;
                self.streams.wakers.tasks.wake_one(Wakers::READER);
            }
        }
    }

    /// Waits until the process has ended, and then [`END_DELAY`] for the end of its stdout. A process that it started may
    /// hold that for ever.
    fn poll_orphaned(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        ready!(self.streams.group.poll_reported(cx));
        self.end_timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(END_DELAY))).as_mut().poll(cx)
    }

    fn poll_packet(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Packet, TransportError>>> {
        if self.streams.reading == Reading::Open {
            match self.streams.poll_incoming(cx) {
                Poll::Ready(Some(Ok(packet))) => return Poll::Ready(Some(Ok(packet))),
                Poll::Ready(Some(Err(fault))) => {
                    self.streams.set_reading(Reading::Done);
                    return Poll::Ready(Some(Err(fault)));
                }
                Poll::Ready(None) => {
                    self.end_timer = None;
                    self.streams.set_reading(Reading::Ended);
                }
                // All that it wrote before its end has been read by now.
                Poll::Pending if self.stdout_is_inherited => self.streams.set_reading(Reading::Ended),
                Poll::Pending => {}
            }
        }
        self.streams.wakers.tasks.register(Wakers::READER, cx.waker());
        match self.streams.reading {
            Reading::Open => Poll::Pending,
            Reading::Ended => {
                // After this side has closed the transport, the end of the process is expected and not an error.
                let exited = if self.shutdown.is_some() { None } else { ready!(self.poll_exited()) };
                self.streams.set_reading(Reading::Done);
                Poll::Ready(exited.map(|exited| Err(TransportError::other(exited))))
            }
            Reading::Done => Poll::Ready(None),
        }
    }

    /// Waits up to [`END_DELAY`] for the process to end. `None` if it does not.
    fn poll_exited(&mut self) -> Poll<Option<Exited>> {
        let waker = self.streams.waker.clone();
        let cx = &mut Context::from_waker(&waker);
        if self.streams.group.poll_ended(cx).is_pending() {
            let end_timer = self.end_timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(END_DELAY)));
            ready!(end_timer.as_mut().poll(cx));
            return Poll::Ready(None);
        }
        self.streams.finish();
        Poll::Ready(Some(self.streams.exited()))
    }

    /// Returns the sink's error once the process no longer reads. Pending until the stream has returned its last item, which
    /// reports why, or [`END_DELAY`] has passed without that.
    fn poll_broken(&mut self) -> Poll<Result<(), TransportError>> {
        let waker = self.streams.waker.clone();
        let end_timer = self.end_timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(END_DELAY)));
        if self.streams.reading != Reading::Done {
            ready!(end_timer.as_mut().poll(&mut Context::from_waker(&waker)));
        }
        Poll::Ready(Err(match ready!(self.poll_exited()) {
            Some(exited) => TransportError::other(exited),
            None => io::Error::from(io::ErrorKind::BrokenPipe).into(),
        }))
    }

    /// Continues the shutdown.
    fn poll_closed(&mut self) -> Poll<Result<(), TransportError>> {
        require_runtime()?;
        let grace = self.grace;
        let shutdown = self.shutdown.get_or_insert_with(|| Shutdown::new(grace));
        let waker = self.streams.waker.clone();
        shutdown.poll(&mut self.streams, &mut Context::from_waker(&waker))
    }

    /// Polls the sink. A broken pipe becomes the error that reports the end of the process.
    fn poll_sink(
        &mut self,
        cx: &mut Context<'_>,
        poll: impl FnOnce(Pin<&mut Lines<(), Output>>, &mut Context<'_>) -> Poll<Result<(), TransportError>>,
    ) -> Poll<Result<(), TransportError>> {
        if !self.streams.is_broken {
            let Some(outgoing) = &mut self.streams.outgoing else {
                return Poll::Ready(Err(io::Error::from(io::ErrorKind::BrokenPipe).into()));
            };
            match poll(Pin::new(outgoing), cx) {
                Poll::Ready(Err(TransportError::Io(error))) if error.kind() == io::ErrorKind::BrokenPipe => {
                    self.streams.is_broken = true;
                }
                result => return result,
            }
        }
        self.poll_broken()
    }
}

impl Stream for Child {
    type Item = Result<Packet, TransportError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let item = this.poll_packet(cx);
        this.streams.was_read = true;
        this.streams.reader_waits = item.is_pending();
        this.poll_background();
        item
    }
}

impl Sink<Packet> for Child {
    type Error = TransportError;

    fn poll_ready(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        let this = self.get_mut();
        this.streams.wakers.tasks.register(Wakers::WRITER, cx.waker());
        let result = this.poll_sink(cx, |outgoing, cx| outgoing.poll_ready(cx));
        this.poll_background();
        result
    }

    fn start_send(self: Pin<&mut Self>, packet: Packet) -> Result<(), TransportError> {
        match &mut self.get_mut().streams.outgoing {
            Some(outgoing) => Pin::new(outgoing).start_send(packet),
            None => Err(io::Error::from(io::ErrorKind::BrokenPipe).into()),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        let this = self.get_mut();
        this.streams.wakers.tasks.register(Wakers::WRITER, cx.waker());
        let result = this.poll_sink(cx, |outgoing, cx| outgoing.poll_flush(cx));
        this.poll_background();
        result
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        let this = self.get_mut();
        this.streams.wakers.tasks.register(Wakers::WRITER, cx.waker());
        let result = this.poll_closed();
        this.poll_background();
        result
    }
}

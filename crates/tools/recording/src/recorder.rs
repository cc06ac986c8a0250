//! Queues the events of a connection for the writer, without waiting and without errors.

use std::fmt;
use std::io::{self, BufWriter};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use agentwire_jsonrpc::DEFAULT_LINE_LIMIT;
use agentwire_wire_derive::Build;
use humantime::format_rfc3339_millis;

use crate::event::{EVENT_LIMIT, Event, EventKind, Header, Protocol, Side, TransportKind};
use crate::file::create_private;
use crate::line_buffer::{Budget, LineBuffer};
use crate::mask::Masker;
use crate::trace::Trace;
use crate::writer::{OnStop, RecordingError, Writer, WriterCommand, WriterStatus};

/// The most queued events.
const QUEUED_EVENTS: usize = 1 << 16;

type Clock = Box<dyn Fn() -> Duration + Send + Sync>;

/// The configuration of a recording.
#[derive(Build)]
pub struct RecorderConfig {
    header: Header,
    /// Sets the masker of secrets. With `None`, nothing is masked.
    #[build(optional)]
    masker: Option<Masker>,
    /// Sets the longest line or body (default 32 MiB). Only the first 4 KiB of a longer one are recorded.
    line_limit: usize,
    /// Sets the largest size of the file (default 1 GiB), at which the recording stops.
    size_limit: u64,
    /// Sets the most events of the file, at which the recording stops (default 2,000,000, the limit of
    /// [`Recording::read`](crate::Recording::read)).
    event_limit: usize,
    /// Sets the most queued bytes (default 128 MiB). With more, the recording stops.
    queue_limit: usize,
    /// Sets the most bytes of all incomplete lines and bodies together (default 128 MiB). Only the first 4 KiB of further ones are
    /// recorded.
    open_limit: usize,
    /// Sets the function that is called once, from any thread, if the recording stops early.
    #[build(dynamic)]
    on_stop: Box<dyn Fn(RecordingError) + Send + Sync>,
    /// Sets the clock of the time since the start (default: the monotonic clock), and leaves out the wall-clock time of the start.
    #[build(dynamic)]
    clock: Option<Box<dyn Fn() -> Duration + Send + Sync>>,
    /// Writes a trace in place of a recording, for reading while it grows. It has no header. Each event is written at once, with the
    /// time of day and the direction as seen by our side `us`. A trace can be read as a recording.
    trace: Option<Side>,
}

impl RecorderConfig {
    /// A recording of a transport, with the masks of [`Masker::from_env`].
    pub fn new(transport: TransportKind) -> Self {
        Self {
            header: Header { transport: Some(transport), ..Header::default() },
            masker: Some(Masker::from_env()),
            line_limit: DEFAULT_LINE_LIMIT,
            size_limit: 1 << 30,
            event_limit: EVENT_LIMIT,
            queue_limit: 128 << 20,
            open_limit: 128 << 20,
            on_stop: Box::new(|_| {}),
            clock: None,
            trace: None,
        }
    }

    /// Sets the protocol (default: the one that the first messages show).
    #[must_use]
    pub fn protocol(mut self, protocol: Protocol) -> Self {
        self.header.protocol = Some(protocol);
        self
    }

    /// Creates or empties the file, and starts the thread that writes to it.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be created, or the thread cannot be started.
    pub fn create(self, path: impl AsRef<Path>) -> io::Result<Recorder> {
        let path = path.as_ref();
        let file = create_private(path)?;
        let mut header = self.header;
        let clock = match self.clock {
            Some(clock) => clock,
            None => {
                header.started = Some(format_rfc3339_millis(SystemTime::now().max(UNIX_EPOCH)).to_string());
                let start = Instant::now();
                Box::new(move || start.elapsed())
            }
        };
        let (commands, receiver) = sync_channel(QUEUED_EVENTS);
        let status = Arc::<WriterStatus>::default();
        let on_stop = Arc::new(self.on_stop);
        let writer = Writer {
            header,
            masker: self.masker,
            file: BufWriter::new(file),
            // The path does not depend on links, which may change.
            path: path.canonicalize()?,
            written: 0,
            limit: self.size_limit,
            events: 0,
            event_limit: self.event_limit,
            held: self.trace.is_none().then(Vec::new),
            trace: self.trace.map(|us| Trace { us, start: SystemTime::now() }),
            status: status.clone(),
            on_stop: on_stop.clone(),
            generation: 0,
        };
        std::thread::Builder::new().name("recording".into()).spawn(move || writer.run(&receiver))?;
        let inner = Inner {
            commands,
            status,
            clock,
            line_limit: self.line_limit,
            queue_limit: self.queue_limit,
            open: Budget::new(self.open_limit),
            exchanges: AtomicU64::new(0),
            on_stop,
        };
        Ok(Recorder { inner: Arc::new(inner) })
    }
}

impl fmt::Debug for RecorderConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecorderConfig").field("header", &self.header).finish_non_exhaustive()
    }
}

/// Records events. Clones record in the same file.
#[derive(Clone)]
pub struct Recorder {
    inner: Arc<Inner>,
}

struct Inner {
    commands: SyncSender<WriterCommand>,
    status: Arc<WriterStatus>,
    clock: Clock,
    line_limit: usize,
    queue_limit: usize,
    open: Arc<Budget>,
    exchanges: AtomicU64,
    on_stop: Arc<OnStop>,
}

impl Recorder {
    /// Records an event of a side with the current time. Does not block.
    pub fn record(&self, from: Side, kind: EventKind) {
        self.add(Event::new(self.now(), from, kind));
    }

    /// Records an event of a side in an HTTP exchange, with the current time.
    pub fn record_in(&self, exchange: Option<u64>, from: Side, kind: EventKind) {
        self.add(Event { exchange, ..Event::new(self.now(), from, kind) });
    }

    /// The number of a new HTTP exchange.
    pub fn next_exchange(&self) -> u64 {
        self.inner.exchanges.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Corrects the kind of the transport, which is known only from the first exchange. Later corrections have no effect.
    pub fn set_transport(&self, kind: TransportKind) {
        self.send(WriterCommand::Transport(kind));
    }

    /// Writes all events so far to the file, and masks secrets in lines that precede their discovery. Blocks for up to `limit`.
    /// Returns whether everything is written.
    pub fn finish(&self, limit: Duration) -> bool {
        let (answer, answered) = sync_channel(1);
        self.send(WriterCommand::Finish(answer));
        answered.recv_timeout(limit).is_ok() && !self.has_stopped()
    }

    /// Whether the recording has stopped early.
    pub fn has_stopped(&self) -> bool {
        self.inner.status.stopped.load(Ordering::Relaxed)
    }

    /// A buffer for a line or a body.
    pub(crate) fn line_buffer(&self) -> LineBuffer {
        LineBuffer::new(self.inner.line_limit, &self.inner.open)
    }

    fn now(&self) -> Duration {
        (self.inner.clock)()
    }

    fn add(&self, event: Event) {
        if self.has_stopped() {
            return;
        }
        let size = event.size();
        let queued = self.inner.status.queued.fetch_add(size, Ordering::Relaxed) + size;
        if queued > self.inner.queue_limit {
            self.inner.status.queued.fetch_sub(size, Ordering::Relaxed);
            self.stop(queued);
        } else {
            self.send(WriterCommand::Event(event));
        }
    }

    fn send(&self, command: WriterCommand) {
        match self.inner.commands.try_send(command) {
            Ok(()) | Err(TrySendError::Disconnected(_)) => {}
            Err(TrySendError::Full(_)) => self.stop(self.inner.status.queued.load(Ordering::Relaxed)),
        }
    }

    fn stop(&self, queued: usize) {
        if !self.inner.status.stopped.swap(true, Ordering::Relaxed) {
            (self.inner.on_stop)(RecordingError::QueueLimit(queued));
        }
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").finish_non_exhaustive()
    }
}

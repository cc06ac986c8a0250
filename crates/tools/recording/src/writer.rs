//! Writes the events of a recording to its file, on a separate thread.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Seek as _, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::Duration;

use crate::event::{Event, EventKind, Header, Protocol, TransportKind, protocol_of};
use crate::file::replace_private;
use crate::mask::Masker;
use crate::reader::event_of;
use crate::trace::{Trace, with_prefix_of};

/// The most events that wait for one that shows the protocol.
const HELD_EVENTS: usize = 64;

/// The idle time after which the buffer is flushed.
const FLUSH_AFTER: Duration = Duration::from_millis(100);

/// The reasons why a recording has stopped. The traffic goes on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// The file cannot be written.
    #[error("the recording stops")]
    Io(#[from] io::Error),
    /// The file has reached its limit.
    #[error("the recording stops: it has reached its limit of {0} bytes")]
    FileLimit(u64),
    /// The file has reached its limit of events.
    #[error("the recording stops: it has reached its limit of {0} events")]
    EventLimit(usize),
    /// The lines from before a secret was known cannot be masked again.
    #[error(
        "earlier lines of the recording may contain secrets that were found later, and cannot be masked again"
    )]
    MaskAgain(#[source] io::Error),
    /// Events arrive faster than they are written.
    #[error("the recording stops: {0} bytes wait to be written")]
    QueueLimit(usize),
}

/// A command for the writer.
pub(crate) enum WriterCommand {
    Event(Event),
    Transport(TransportKind),
    /// Writes all events, and answers.
    Finish(SyncSender<()>),
}

/// The status of a recording, which its recorder and its writer share.
#[derive(Debug, Default)]
pub(crate) struct WriterStatus {
    /// The bytes of queued events.
    pub(crate) queued: AtomicUsize,
    /// Whether the recording has stopped.
    pub(crate) stopped: AtomicBool,
}

pub(crate) type OnStop = Box<dyn Fn(RecordingError) + Send + Sync>;

pub(crate) struct Writer {
    pub(crate) header: Header,
    pub(crate) masker: Option<Masker>,
    pub(crate) file: BufWriter<File>,
    pub(crate) path: PathBuf,
    pub(crate) written: u64,
    pub(crate) limit: u64,
    pub(crate) events: usize,
    pub(crate) event_limit: usize,
    /// Events from before the protocol is known. `None` once the header is written, and in a trace.
    pub(crate) held: Option<Vec<Event>>,
    /// The trace to write in place of a recording.
    pub(crate) trace: Option<Trace>,
    pub(crate) status: Arc<WriterStatus>,
    pub(crate) on_stop: Arc<OnStop>,
    /// The generation of the masker's secrets with which all lines so far are masked.
    pub(crate) generation: usize,
}

impl Writer {
    /// Writes events until the last recorder is dropped.
    pub(crate) fn run(mut self, commands: &Receiver<WriterCommand>) {
        let mut result = Ok(());
        let mut is_flushed = true;
        loop {
            let command = if is_flushed {
                commands.recv().map_err(|_| RecvTimeoutError::Disconnected)
            } else {
                commands.recv_timeout(FLUSH_AFTER)
            };
            let answer = match command {
                Ok(WriterCommand::Event(event)) => {
                    self.status.queued.fetch_sub(event.size(), Ordering::Relaxed);
                    result = result.and_then(|()| self.take(event));
                    // A trace is read while it grows.
                    if self.trace.is_some() {
                        result = result.and_then(|()| Ok(self.file.flush()?));
                    }
                    is_flushed = self.trace.is_some();
                    None
                }
                Ok(WriterCommand::Transport(kind)) => {
                    self.header.transport = Some(kind);
                    None
                }
                Ok(WriterCommand::Finish(answer)) => {
                    result = result.and_then(|()| self.finish());
                    is_flushed = true;
                    Some(answer)
                }
                Err(RecvTimeoutError::Timeout) => {
                    result = result.and_then(|()| Ok(self.file.flush()?));
                    is_flushed = true;
                    None
                }
                Err(RecvTimeoutError::Disconnected) => {
                    result = result.and_then(|()| self.finish());
                    self.stop(result);
                    return;
                }
            };
            if result.is_err() {
                self.stop(std::mem::replace(&mut result, Ok(())));
                // Later events are taken from the queue and dropped.
            }
            if let Some(answer) = answer {
                // A caller that has stopped waiting needs no answer.
                let _gone = answer.send(());
            }
        }
    }

    fn stop(&mut self, result: Result<(), RecordingError>) {
        if let Err(error) = result
            && !self.status.stopped.swap(true, Ordering::Relaxed)
        {
            (self.on_stop)(error);
        }
    }

    fn take(&mut self, event: Event) -> Result<(), RecordingError> {
        if self.status.stopped.load(Ordering::Relaxed) {
            return Ok(());
        }
        let Some(held) = &mut self.held else { return self.write(event) };
        if self.header.protocol.is_none()
            && let EventKind::Message(message) = &event.kind
        {
            self.header.protocol = protocol_of(message);
        }
        held.push(event);
        if self.header.protocol.is_some() || held.len() >= HELD_EVENTS {
            return self.write_held();
        }
        Ok(())
    }

    fn write_held(&mut self) -> Result<(), RecordingError> {
        let Some(held) = self.held.take() else { return Ok(()) };
        self.write_line(&self.header.to_line())?;
        held.into_iter().try_for_each(|event| self.write(event))
    }

    fn write(&mut self, mut event: Event) -> Result<(), RecordingError> {
        if let Some(masker) = &mut self.masker {
            masker.event(&mut event);
        }
        if self.events >= self.event_limit {
            self.file.flush()?;
            return Err(RecordingError::EventLimit(self.event_limit));
        }
        self.events += 1;
        let line = event.to_line(self.header.protocol);
        match &self.trace {
            Some(trace) => self.write_line(&trace.line(&event, &line)),
            None => self.write_line(&line),
        }
    }

    fn write_line(&mut self, line: &str) -> Result<(), RecordingError> {
        self.written += line.len() as u64 + 1;
        if self.written > self.limit {
            // The lines so far are a complete recording.
            self.file.flush()?;
            return Err(RecordingError::FileLimit(self.limit));
        }
        self.file.write_all(line.as_bytes())?;
        self.file.write_all(b"\n")?;
        Ok(())
    }

    /// Writes the remaining events, and masks the secrets in lines from before they were known.
    fn finish(&mut self) -> Result<(), RecordingError> {
        if !self.status.stopped.load(Ordering::Relaxed) {
            self.write_held()?;
        }
        self.file.flush()?;
        if let Some(masker) = &mut self.masker
            && masker.generation() > self.generation
        {
            self.generation = masker.generation();
            mask_again(masker, &self.path, self.header.protocol).map_err(RecordingError::MaskAgain)?;
            let mut file = OpenOptions::new().read(true).write(true).open(&self.path)?;
            file.seek(io::SeekFrom::End(0))?;
            self.file = BufWriter::new(file);
        }
        Ok(())
    }
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").field("path", &self.path).finish_non_exhaustive()
    }
}

/// Masks a file's lines once more. Replaces the file by a complete one, and only if it changes. Leaves special files unchanged.
fn mask_again(masker: &mut Masker, path: &Path, protocol: Option<Protocol>) -> io::Result<()> {
    let file = File::open(path)?;
    if !file.metadata()?.is_file() {
        return Ok(());
    }
    let mut lines = BufReader::new(file).lines();
    replace_private(path, |new| {
        let mut has_changed = false;
        for line in &mut lines {
            let mut line = line?;
            if masker.may_have_known(&line)
                && let Ok(Some(mut event)) = event_of(&line)
                && masker.event_again(&mut event)
            {
                line = with_prefix_of(&line, event.to_line(protocol));
                has_changed = true;
            }
            writeln!(new, "{line}")?;
        }
        Ok(has_changed)
    })
}

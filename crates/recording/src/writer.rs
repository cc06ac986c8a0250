//! Writes the events of a recording to its file, on a thread of its own.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Seek as _, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::Duration;

use agentwire_jsonrpc::RawJson;
use bytestring::ByteString;

use crate::event::{Event, EventKind, Header, TransportKind, protocol_of};
use crate::mask::Masker;

/// How many events wait for one that shows the protocol.
const HELD_EVENTS: usize = 64;

/// How long written events may stay in our buffer while nothing else happens.
const FLUSH_AFTER: Duration = Duration::from_millis(100);

/// Why a recording has stopped. The traffic goes on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// The file cannot be written.
    #[error("the recording stops: {0}")]
    Io(#[from] io::Error),
    /// The file has reached its limit.
    #[error("the recording stops: it has reached its limit of {0} bytes")]
    FileLimit(u64),
    /// Events arrive faster than they are written.
    #[error("the recording stops: {0} bytes wait to be written")]
    QueueLimit(usize),
}

/// A command for the writer.
pub(crate) enum Order {
    Event(Event),
    Transport(TransportKind),
    /// Writes all events, and answers.
    Finish(SyncSender<()>),
}

/// What a recorder and its writer share.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// Bytes of events that wait.
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
    /// Events from before the protocol is known. None once the header is written.
    pub(crate) held: Option<Vec<Event>>,
    pub(crate) progress: Arc<Progress>,
    pub(crate) on_stop: Arc<OnStop>,
    /// The generation of the masker's secrets that all lines so far have been masked by.
    pub(crate) generation: usize,
}

/// Opens a file for a recording. Only its owner can read it. A named pipe is refused, since opening one waits for a reader.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
        if fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_fifo()) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a named pipe"));
        }
        OpenOptions::new().read(true).write(true).create(true).truncate(true).mode(0o600).open(path)
    }
    #[cfg(not(unix))]
    OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path)
}

impl Writer {
    /// Writes what arrives until the last recorder is dropped.
    pub(crate) fn run(mut self, orders: &Receiver<Order>) {
        let mut result = Ok(());
        let mut is_flushed = true;
        loop {
            let order = if is_flushed {
                orders.recv().map_err(|_| RecvTimeoutError::Disconnected)
            } else {
                orders.recv_timeout(FLUSH_AFTER)
            };
            let answer = match order {
                Ok(Order::Event(event)) => {
                    self.progress.queued.fetch_sub(event.size(), Ordering::Relaxed);
                    result = result.and_then(|()| self.take(event));
                    is_flushed = false;
                    None
                }
                Ok(Order::Transport(kind)) => {
                    self.header.transport = Some(kind);
                    None
                }
                Ok(Order::Finish(answer)) => {
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
                // A caller that has gone needs no answer.
                let _gone = answer.send(());
            }
        }
    }

    fn stop(&mut self, result: Result<(), RecordingError>) {
        if let Err(error) = result
            && !self.progress.stopped.swap(true, Ordering::Relaxed)
        {
            (self.on_stop)(error);
        }
    }

    fn take(&mut self, event: Event) -> Result<(), RecordingError> {
        if self.progress.stopped.load(Ordering::Relaxed) {
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
            mask(masker, &mut event);
        }
        let line = event.to_line(self.header.protocol);
        self.write_line(&line)
    }

    fn write_line(&mut self, line: &str) -> Result<(), RecordingError> {
        self.written += line.len() as u64 + 1;
        if self.written > self.limit {
            // What was written before is a whole recording.
            self.file.flush()?;
            return Err(RecordingError::FileLimit(self.limit));
        }
        self.file.write_all(line.as_bytes())?;
        self.file.write_all(b"\n")?;
        Ok(())
    }

    /// Writes what is left, and masks the secrets that were found after lines that have them.
    fn finish(&mut self) -> Result<(), RecordingError> {
        if !self.progress.stopped.load(Ordering::Relaxed) {
            self.write_held()?;
        }
        self.file.flush()?;
        if let Some(masker) = &self.masker
            && masker.generation() > self.generation
        {
            self.generation = masker.generation();
            mask_again(masker, &self.path)?;
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

fn mask(masker: &mut Masker, event: &mut Event) {
    match &mut event.kind {
        EventKind::Message(message) => {
            // A mask is JSON wherever it stands, so this parses.
            if let Ok(masked) = RawJson::parse(ByteString::from(masker.message(message.as_str()))) {
                *message = masked;
            } else {
                event.kind = EventKind::Unreadable("the message cannot be masked".into());
            }
        }
        EventKind::Text(line) | EventKind::Stderr(line) => {
            let whole = line.length == line.bytes.len() as u64;
            line.bytes = masker.bytes(&line.bytes);
            if whole {
                line.length = line.bytes.len() as u64;
            }
        }
        EventKind::Unreadable(why) => *why = masker.text(why),
        EventKind::Http(head) => {
            if let Some(path) = &mut head.path {
                *path = masker.text(path);
            }
            for (name, value) in &mut head.headers {
                *value = masker.header(name, value);
            }
        }
        EventKind::Closed | EventKind::Exit(_) => {}
    }
}

/// Masks a file's lines once more. The file is replaced only if it changes, by one that is complete. What is no regular file stays.
fn mask_again(masker: &Masker, path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    if !file.metadata()?.is_file() {
        return Ok(());
    }
    let mut has_changed = false;
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".masking");
    let new_path = path.with_file_name(name);
    let mut new = BufWriter::new(create(&new_path)?);
    for line in BufReader::new(file).lines() {
        let line = line?;
        let masked = masker.line_again(&line);
        has_changed |= masked.is_some();
        writeln!(new, "{}", masked.unwrap_or(line))?;
    }
    new.flush()?;
    if has_changed { fs::rename(&new_path, path) } else { fs::remove_file(&new_path) }
}

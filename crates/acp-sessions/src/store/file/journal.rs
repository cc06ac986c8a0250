//! The records of one session in a file.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Take, Write};
use std::path::{Path, PathBuf};

use agentwire_acp_schema::v1::SessionId;
use agentwire_jsonrpc::RawJson;

use super::directory::{create_options, failed};
use super::header;
use super::record::{self, Line, Lines};
use crate::{SessionHeader, StoreError, StoreWarning};

/// The journal of a session, and what is known of it. Nobody else writes to its file.
///
/// The file is open from the first record that is appended until [`sync`](Self::sync), so that not every session
/// there is costs a file descriptor.
#[derive(Debug)]
pub(super) struct Journal {
    session_id: SessionId,
    path: PathBuf,
    /// `None` until the file has been read.
    end: Option<End>,
}

/// Where the good records end.
#[derive(Debug)]
struct End {
    offset: u64,
    checksum: u32,
    file: Option<File>,
    /// Whether something was written since the file was last synced.
    unsynced: bool,
    fault: Option<Fault>,
}

/// Why nothing can be appended.
#[derive(Debug, Clone)]
enum Fault {
    /// What stands behind the good records is damaged.
    Damaged(String),
    /// A write failed and could not be taken back.
    Stopped(String),
}

impl Fault {
    fn error(self, session_id: &SessionId, path: &Path, offset: u64) -> StoreError {
        match self {
            Self::Damaged(reason) => damaged(session_id, path, offset, reason),
            Self::Stopped(reason) => StoreError::Stopped { session_id: session_id.clone(), reason },
        }
    }
}

fn damaged(session_id: &SessionId, path: &Path, offset: u64, reason: impl Into<String>) -> StoreError {
    StoreError::corrupt(session_id, format!("byte {offset} of {}", path.display()), reason)
}

impl Journal {
    /// A journal that there is already.
    pub(super) fn existing(session_id: SessionId, path: PathBuf) -> Self {
        Self { session_id, path, end: None }
    }

    /// Creates the journal of a session that begins.
    pub(super) fn create(header: &SessionHeader, path: PathBuf, durable: bool) -> Result<Self, StoreError> {
        let (line, checksum) = header::line(header)?;
        let mut file = create_options().write(true).create_new(true).open(&path).map_err(|source| {
            match source.kind() {
                io::ErrorKind::AlreadyExists => StoreError::exists(&header.session_id),
                _ => failed("create", &path)(source),
            }
        })?;
        let written = file.write_all(&line).and_then(|()| if durable { file.sync_all() } else { Ok(()) });
        if let Err(source) = written {
            let _ = std::fs::remove_file(&path);
            return Err(failed("write", &path)(source));
        }
        let end = End::at(line.len() as u64, checksum, false);
        Ok(Self { session_id: header.session_id.clone(), path, end: Some(end) })
    }

    /// Whether the file need not be read before something can be appended.
    pub(super) fn is_known(&self) -> bool {
        self.end.is_some()
    }

    /// Reads the file, if that has not happened yet, to find out where its good records end. Drops a torn write.
    pub(super) fn find_end(
        &mut self,
        header: &SessionHeader,
        warn: impl FnOnce(StoreWarning),
    ) -> Result<(), StoreError> {
        if self.end.is_some() {
            return Ok(());
        }
        let file = File::open(&self.path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => damaged(&self.session_id, &self.path, 0, "the file is missing"),
            _ => failed("open", &self.path)(source),
        })?;
        let mut lines = Lines::new(BufReader::new(file));
        let last = self.last_line(&mut lines)?;
        let mut end = End::at(lines.offset(), lines.checksum(), false);
        let torn = match last {
            // Not even the beginning was written whole.
            Line::End if end.offset == 0 => Some(0),
            Line::Torn(bytes) => Some(bytes),
            Line::Damaged(reason) => {
                end.fault = Some(Fault::Damaged(reason));
                None
            }
            Line::End | Line::Record(_) => None,
        };
        if let Some(bytes) = torn {
            let offset = end.offset;
            end = self.drop_torn(end, header)?;
            let (session_id, file) = (self.session_id.clone(), self.path.clone());
            warn(StoreWarning::TornTail { session_id, file, offset, bytes });
        }
        self.end = Some(end);
        Ok(())
    }

    /// Reads to the end, or to where it cannot be gone on.
    fn last_line(&self, lines: &mut Lines<BufReader<File>>) -> Result<Line, StoreError> {
        loop {
            let first = lines.offset() == 0;
            match lines.next().map_err(failed("read", &self.path))? {
                Line::Record(text) if first => {
                    if let Err(reason) = header::begins(&text, &self.session_id) {
                        return Ok(Line::Damaged(reason));
                    }
                }
                Line::Record(_) => {}
                last => return Ok(last),
            }
        }
    }

    /// Cuts off what is behind the good records, and writes the beginning anew where that was torn itself.
    fn drop_torn(&self, mut end: End, header: &SessionHeader) -> Result<End, StoreError> {
        let action = "cut a torn write from";
        let mut file = OpenOptions::new().write(true).open(&self.path).map_err(failed(action, &self.path))?;
        file.set_len(end.offset).map_err(failed(action, &self.path))?;
        if end.offset == 0 {
            let (line, checksum) = header::line(header)?;
            file.write_all(&line).map_err(failed("write", &self.path))?;
            end = End::at(line.len() as u64, checksum, true);
        }
        end.unsynced = true;
        end.file = Some(file);
        Ok(end)
    }

    /// Adds records, in one write. The end must be known.
    ///
    /// What cannot be written as a whole is taken back.
    pub(super) fn append(&mut self, records: &[RawJson], durable: bool) -> Result<(), StoreError> {
        let Self { session_id, path, end } = self;
        let end = end.as_mut().expect("the end was found");
        if let Some(fault) = end.fault.clone() {
            return Err(fault.error(session_id, path, end.offset));
        }
        let mut lines = Vec::with_capacity(records.iter().map(|record| record.len() + 32).sum());
        let mut checksum = end.checksum;
        for record in records {
            checksum =
                record::write(&mut lines, checksum, record.as_str()).map_err(failed("write to", path))?;
        }
        let file = end.open(session_id, path)?;
        let written = file.write_all(&lines).map_err(|source| ("write to", source));
        let synced = written.and_then(|()| {
            if durable { file.sync_data().map_err(|source| ("sync", source)) } else { Ok(()) }
        });
        match synced {
            Ok(()) => {
                end.offset += lines.len() as u64;
                end.checksum = checksum;
                end.unsynced = !durable;
                Ok(())
            }
            Err((action, source)) => {
                end.take_back(action == "sync", &source);
                Err(failed(action, path)(source))
            }
        }
    }

    /// Closes the file, and before that makes what was written durable if it is to be.
    pub(super) fn sync(&mut self, durable: bool) -> Result<(), StoreError> {
        let Self { session_id, path, end } = self;
        let Some(end) = end.as_mut() else { return Ok(()) };
        if let Some(fault @ Fault::Stopped(_)) = end.fault.clone() {
            return Err(fault.error(session_id, path, end.offset));
        }
        if durable && end.unsynced {
            let file = end.open(session_id, path)?;
            if let Err(source) = file.sync_data() {
                end.stop(&source);
                return Err(failed("sync", path)(source));
            }
            end.unsynced = false;
        }
        end.file = None;
        Ok(())
    }

    /// Whether [`sync`](Self::sync) has to wait for the disk.
    pub(super) fn is_unsynced(&self) -> bool {
        self.end.as_ref().is_some_and(|end| end.unsynced)
    }

    /// Reads the records that there are now. The end must be known.
    pub(super) fn reader(&self) -> Result<Reader, StoreError> {
        let end = self.end.as_ref().expect("the end was found");
        let file = File::open(&self.path).map_err(failed("open", &self.path))?;
        let fault = match &end.fault {
            Some(fault @ Fault::Damaged(_)) => Some(fault.clone()),
            _ => None,
        };
        Ok(Reader {
            lines: Lines::new(BufReader::with_capacity(64 << 10, file.take(end.offset))),
            end: end.offset,
            fault,
            session_id: self.session_id.clone(),
            path: self.path.clone(),
        })
    }
}

impl End {
    fn at(offset: u64, checksum: u32, unsynced: bool) -> Self {
        Self { offset, checksum, file: None, unsynced, fault: None }
    }

    /// The file, at the end of its good records.
    fn open(&mut self, session_id: &SessionId, path: &Path) -> Result<&mut File, StoreError> {
        let file = match self.file.take() {
            Some(file) => file,
            None => {
                let file = OpenOptions::new().write(true).open(path).map_err(failed("open", path))?;
                if file.metadata().map_err(failed("open", path))?.len() != self.offset {
                    let reason = "somebody else has changed the file".to_owned();
                    self.fault = Some(Fault::Damaged(reason.clone()));
                    return Err(damaged(session_id, path, self.offset, reason));
                }
                file
            }
        };
        let file = self.file.insert(file);
        file.seek(SeekFrom::Start(self.offset)).map_err(failed("write to", path))?;
        Ok(file)
    }

    /// Cuts off what a failed append has left. If that fails, or it is open what the disk holds, nothing more is
    /// appended.
    fn take_back(&mut self, unsure: bool, cause: &io::Error) {
        let cut = self.file.as_ref().map(|file| file.set_len(self.offset));
        if unsure || !matches!(cut, Some(Ok(()))) {
            self.stop(cause);
        }
    }

    /// After a failed sync the operating system may take for written what is not, and sync the next time without
    /// an error.
    fn stop(&mut self, cause: &io::Error) {
        self.fault = Some(Fault::Stopped(cause.to_string()));
        self.file = None;
    }
}

/// Reads the records that a journal had at some time.
#[derive(Debug)]
pub(super) struct Reader {
    lines: Lines<BufReader<Take<File>>>,
    end: u64,
    fault: Option<Fault>,
    session_id: SessionId,
    path: PathBuf,
}

impl Reader {
    /// About how many bytes are read at once.
    const AT_ONCE: u64 = 256 << 10;

    /// Reads some records. Empty behind the last one. Nothing is to be read behind an error.
    pub(super) fn some(&mut self) -> Vec<Result<RawJson, StoreError>> {
        let mut records = Vec::new();
        let from = self.lines.offset();
        while self.lines.offset() - from < Self::AT_ONCE {
            match self.one() {
                Ok(Some(record)) => records.push(Ok(record)),
                Ok(None) => break,
                Err(error) => {
                    records.push(Err(error));
                    break;
                }
            }
        }
        records
    }

    fn one(&mut self) -> Result<Option<RawJson>, StoreError> {
        let offset = self.lines.offset();
        if offset == self.end {
            return match self.fault.take() {
                Some(fault) => Err(fault.error(&self.session_id, &self.path, offset)),
                None => Ok(None),
            };
        }
        let line = self.lines.next().map_err(failed("read", &self.path))?;
        let reason = match line {
            // What the file begins with tells of the session, and is no record.
            Line::Record(_) if offset == 0 => return self.one(),
            Line::Record(text) => match RawJson::parse(text.into()) {
                Ok(record) => return Ok(Some(record)),
                Err(error) => format!("a record that is not JSON: {error}"),
            },
            Line::Damaged(reason) => reason,
            Line::End | Line::Torn(_) => "the file has become shorter".to_owned(),
        };
        Err(damaged(&self.session_id, &self.path, offset, reason))
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use agentwire_jsonrpc::RawJson;
    use tempfile::TempDir;

    use super::Journal;
    use crate::{SessionHeader, StoreError};

    #[test]
    fn a_write_that_cannot_be_taken_back_is_the_last() {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("journal");
        let mut journal =
            Journal::create(&SessionHeader::new("one", "/project"), path.clone(), false).unwrap();
        journal.append(&[RawJson::NULL], false).unwrap();
        // It can neither be written to nor cut off.
        journal.end.as_mut().unwrap().file = Some(File::open(&path).unwrap());

        let failed = journal.append(&[RawJson::EMPTY_OBJECT], false);
        assert!(matches!(failed, Err(StoreError::Io { .. })), "{failed:?}");
        for stopped in [journal.append(&[RawJson::EMPTY_OBJECT], false), journal.sync(true)] {
            assert!(matches!(stopped, Err(StoreError::Stopped { .. })), "{stopped:?}");
        }
        let records: Vec<_> = journal.reader().unwrap().some().into_iter().map(Result::unwrap).collect();
        assert_eq!(records, [RawJson::NULL], "what was kept can be read");
    }
}

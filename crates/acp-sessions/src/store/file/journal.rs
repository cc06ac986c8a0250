//! The records of one session in a file.

use std::io::{self, BufReader};
use std::path::PathBuf;
use std::sync::Arc;

use agentwire_acp_schema::v1::SessionId;
use agentwire_jsonrpc::RawJson;

use super::directory::{Directory, failed};
use super::name::Kind;
use super::record::{self, Line, Lines};
use super::system::{Access, Part, RawFile};
use super::{aside, header};
use crate::{SessionHeader, StoreError, StoreWarning};

/// The file of a session's records, by its place.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) directory: Arc<Directory>,
    pub(super) session_id: SessionId,
    /// What the names of the session's files begin with.
    pub(super) stem: String,
}

impl Place {
    pub(super) fn path(&self) -> PathBuf {
        self.directory.file(&self.stem, Kind::Journal)
    }

    fn open(&self, access: Access) -> io::Result<Box<dyn RawFile>> {
        self.directory.open_file(&self.stem, Kind::Journal, access)
    }

    fn failed(&self, action: &'static str) -> impl FnOnce(io::Error) -> StoreError + use<> {
        failed(action, &self.path())
    }

    fn damaged(&self, offset: u64, reason: impl Into<String>) -> StoreError {
        let place = format!("byte {offset} of {}", self.path().display());
        StoreError::corrupt(&self.session_id, place, reason)
    }
}

/// The journal of a session, and what is known of it. Nobody else writes to its file.
///
/// The file is open from the first record that is appended until [`sync`](Self::sync), so that not every session
/// there is costs a file descriptor more.
#[derive(Debug)]
pub(super) struct Journal {
    place: Place,
    /// `None` until the file has been read.
    end: Option<End>,
}

/// Where the good records end.
#[derive(Debug)]
struct End {
    offset: u64,
    checksum: u32,
    file: Option<Box<dyn RawFile>>,
    /// Whether the disk may hold less of it.
    unsynced: bool,
    /// From where on it is to be written again before it is synced: another process may have written it, and may have failed
    /// to sync it. The operating system takes such pages for written, and the next sync leaves them out.
    rewrite: Option<u64>,
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
    fn error(self, place: &Place, offset: u64) -> StoreError {
        match self {
            Self::Damaged(reason) => place.damaged(offset, reason),
            Self::Stopped(reason) => StoreError::Stopped { session_id: place.session_id.clone(), reason },
        }
    }
}

impl Journal {
    /// A journal that there is already.
    pub(super) fn existing(place: Place) -> Self {
        Self { place, end: None }
    }

    /// Creates the journal of a session that begins.
    pub(super) fn create(place: Place, header: &SessionHeader, durable: bool) -> Result<Self, StoreError> {
        let (line, checksum) = header::line(header)?;
        let file = place.open(Access::Create).map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => StoreError::exists(&header.session_id),
            _ => place.failed("create")(source),
        })?;
        let written = file.write_all_at(&line, 0).and_then(|()| if durable { file.sync() } else { Ok(()) });
        if let Err(source) = written {
            let _ = place.directory.remove(&place.stem, Kind::Journal);
            return Err(place.failed("write")(source));
        }
        Ok(Self { place, end: Some(End::at(line.len() as u64, checksum, !durable)) })
    }

    /// Whether the file need not be read before something can be appended.
    pub(super) fn is_known(&self) -> bool {
        self.end.is_some()
    }

    /// Reads the file, if that has not happened yet, to find out where its good records end.
    ///
    /// Damage behind the first `synced` bytes is what a power cut leaves of writes that were never durable: it is dropped. A
    /// line that was cut off is dropped for good, whole lines are moved out of the way.
    pub(super) fn find_end(
        &mut self,
        header: &SessionHeader,
        synced: u64,
        warn: impl FnOnce(StoreWarning),
    ) -> Result<(), StoreError> {
        if self.end.is_some() {
            return Ok(());
        }
        let Scan { offset, checksum, end, last, .. } = scan(&self.place)?;
        // Whether the rest of it is durable is not known: an earlier process may have written it.
        let mut found = End::at(offset, checksum, offset > synced);
        found.rewrite = found.unsynced.then_some(synced);
        if let Some(reason) = last.fault(offset, synced) {
            found.fault = Some(Fault::Damaged(reason));
        } else if offset < end || offset == 0 {
            let moved = self.drop_rest(&mut found, header, matches!(last, Line::Damaged(_)))?;
            let (session_id, file) = (self.place.session_id.clone(), self.place.path());
            warn(StoreWarning::TornTail { session_id, file, offset, bytes: end - offset, moved });
        }
        self.end = Some(found);
        Ok(())
    }

    /// Cuts off what is behind the good records, and writes the beginning anew where that was lost itself. Returns where a
    /// copy of it is, if it is to be kept.
    fn drop_rest(
        &self,
        end: &mut End,
        header: &SessionHeader,
        keep: bool,
    ) -> Result<Option<PathBuf>, StoreError> {
        let Place { directory, stem, .. } = &self.place;
        let file = self.place.open(Access::Write).map_err(self.place.failed("open"))?;
        let moved = if keep { Some(aside::copy(directory, stem, &*file, end.offset)?) } else { None };
        file.set_length(end.offset).map_err(self.place.failed("cut a torn write from"))?;
        if end.offset == 0 {
            let (line, checksum) = header::line(header)?;
            file.write_all_at(&line, 0).map_err(self.place.failed("write"))?;
            *end = End::at(line.len() as u64, checksum, true);
            end.rewrite = Some(0);
        }
        end.unsynced = true;
        end.file = Some(file);
        Ok(moved)
    }

    /// Adds records, in one write. The end must be known.
    ///
    /// What cannot be written as a whole is taken back.
    pub(super) fn append(&mut self, records: &[RawJson], durable: bool) -> Result<(), StoreError> {
        let Self { place, end } = self;
        let end = end.as_mut().expect("the end was found");
        if let Some(fault) = end.fault.clone() {
            return Err(fault.error(place, end.offset));
        }
        let mut lines = Vec::with_capacity(records.iter().map(|record| record.len() + 32).sum());
        let mut checksum = end.checksum;
        for record in records {
            checksum =
                record::write(&mut lines, checksum, record.as_str()).map_err(place.failed("write to"))?;
        }
        let offset = end.offset;
        let file = end.open(place)?;
        let written = file.write_all_at(&lines, offset).map_err(|source| ("write to", source));
        let synced = written
            .and_then(|()| if durable { file.sync().map_err(|source| ("sync", source)) } else { Ok(()) });
        match synced {
            Ok(()) => {
                end.offset += lines.len() as u64;
                end.checksum = checksum;
                end.unsynced = !durable;
                Ok(())
            }
            Err((action, source)) => {
                end.take_back(action == "sync", &source);
                Err(place.failed(action)(source))
            }
        }
    }

    /// Closes the file, and before that makes what was written durable if it is to be.
    pub(super) fn sync(&mut self, durable: bool) -> Result<(), StoreError> {
        let Self { place, end } = self;
        let Some(end) = end.as_mut() else { return Ok(()) };
        if let Some(fault @ Fault::Stopped(_)) = end.fault.clone() {
            return Err(fault.error(place, end.offset));
        }
        if durable && end.unsynced && end.fault.is_none() {
            end.open(place)?;
            if let Err(source) = end.sync() {
                end.stop(&source);
                return Err(place.failed("sync")(source));
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

    /// How many bytes of good records the disk holds, where that is known.
    pub(super) fn synced(&self) -> Option<u64> {
        self.end.as_ref().filter(|end| !end.unsynced && end.fault.is_none()).map(|end| end.offset)
    }

    /// Reads the records that there are now. The end must be known.
    pub(super) fn reader(&self) -> Result<Reader, StoreError> {
        let end = self.end.as_ref().expect("the end was found");
        let file = self.place.open(Access::Read).map_err(self.place.failed("open"))?;
        let fault = match &end.fault {
            Some(fault @ Fault::Damaged(_)) => Some(fault.clone()),
            _ => None,
        };
        Ok(Reader {
            lines: Lines::new(BufReader::with_capacity(64 << 10, Part::new(file, 0, end.offset))),
            limit: Limit::End(end.offset, fault),
            place: self.place.clone(),
        })
    }
}

impl End {
    fn at(offset: u64, checksum: u32, unsynced: bool) -> Self {
        Self { offset, checksum, file: None, unsynced, rewrite: None, fault: None }
    }

    /// The file, which ends with the good records.
    fn open(&mut self, place: &Place) -> Result<&dyn RawFile, StoreError> {
        let file = match self.file.take() {
            Some(file) => file,
            None => {
                let file = place.open(Access::Write).map_err(place.failed("open"))?;
                if file.length().map_err(place.failed("open"))? != self.offset {
                    let reason = "somebody else has changed the file".to_owned();
                    self.fault = Some(Fault::Damaged(reason.clone()));
                    return Err(place.damaged(self.offset, reason));
                }
                file
            }
        };
        Ok(&**self.file.insert(file))
    }

    /// Makes the file durable, which is open.
    fn sync(&mut self) -> io::Result<()> {
        let file = self.file.as_deref().expect("the file was opened");
        if let Some(mut offset) = self.rewrite {
            let mut buffer = vec![0; 64 << 10];
            while offset < self.offset {
                let most =
                    usize::try_from(self.offset - offset).map_or(buffer.len(), |left| left.min(buffer.len()));
                let read = file.read_at(&mut buffer[..most], offset)?;
                if read == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                file.write_all_at(&buffer[..read], offset)?;
                offset += read as u64;
            }
        }
        file.sync()?;
        self.rewrite = None;
        Ok(())
    }

    /// Cuts off what a failed append has left. If that fails, or it is open what the disk holds, nothing more is
    /// appended.
    fn take_back(&mut self, unsure: bool, cause: &io::Error) {
        let cut = self.file.as_ref().map(|file| file.set_length(self.offset));
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

/// What a journal holds.
#[derive(Debug)]
pub(super) struct Scan {
    /// How many records can be read.
    pub(super) records: u64,
    /// Where they end.
    pub(super) offset: u64,
    checksum: u32,
    /// Where the file ends.
    pub(super) end: u64,
    /// What stands behind the records.
    pub(super) last: Line,
}

/// Reads a journal to its end, or to where it cannot be gone on.
pub(super) fn scan(place: &Place) -> Result<Scan, StoreError> {
    let file = place.open(Access::Read).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => place.damaged(0, "the file is missing"),
        _ => place.failed("open")(source),
    })?;
    let part = Part::all(file).map_err(place.failed("read"))?;
    let end = part.end();
    let mut lines = Lines::new(BufReader::with_capacity(64 << 10, part));
    let mut records = 0;
    let last = loop {
        let first = lines.offset() == 0;
        let before = (lines.offset(), lines.checksum());
        match lines.next().map_err(place.failed("read"))? {
            Line::Record(text) if first => {
                if let Err(reason) = header::begins(&text, &place.session_id) {
                    let (offset, checksum) = before;
                    return Ok(Scan { records, offset, checksum, end, last: Line::Damaged(reason) });
                }
            }
            Line::Record(_) => records += 1,
            last => break last,
        }
    };
    Ok(Scan { records, offset: lines.offset(), checksum: lines.checksum(), end, last })
}

/// Whether there is anything in a journal behind its beginning, be that damaged or not. Before it is created to its end, a
/// session has nothing there.
pub(super) fn has_records(place: &Place) -> Result<bool, StoreError> {
    let file = match place.open(Access::Read) {
        Err(source) if source.kind() == io::ErrorKind::NotFound => return Ok(false),
        file => file.and_then(Part::all).map_err(place.failed("open"))?,
    };
    let mut lines = Lines::new(BufReader::new(file));
    let whole = matches!(lines.next().map_err(place.failed("read"))?, Line::Record(_) | Line::Damaged(_));
    Ok(whole && lines.next().map_err(place.failed("read"))? != Line::End)
}

impl Line {
    /// What is wrong where the good records of a journal end at `offset`, this stands behind them, and so many bytes of it
    /// were durable. Nothing, where no more than unsynced writes are missing.
    pub(super) fn fault(&self, offset: u64, synced: u64) -> Option<String> {
        if offset >= synced {
            return None;
        }
        Some(match self {
            Self::Damaged(reason) => reason.clone(),
            Self::Torn(_) => format!("a line that is cut off, in the {synced} bytes that the disk held"),
            Self::End | Self::Record(_) => {
                format!("the file ends here, and the disk held {synced} bytes of it")
            }
        })
    }
}

/// Reads the records that a journal had at some time.
#[derive(Debug)]
pub(super) struct Reader {
    lines: Lines<BufReader<Part>>,
    limit: Limit,
    place: Place,
}

/// How far a reader reads.
#[derive(Debug)]
enum Limit {
    /// To here, then there is this to tell.
    End(u64, Option<Fault>),
    /// To where the good records end, of which the disk holds so many bytes. Somebody else may be writing behind that.
    Synced(u64),
}

impl Reader {
    /// About how many bytes are read at once.
    const AT_ONCE: u64 = 256 << 10;

    /// Reads a journal that somebody else may be writing to. `None` where there is none.
    pub(super) fn beside_others(place: Place, synced: u64) -> Result<Option<Self>, StoreError> {
        let file = match place.open(Access::Read) {
            Err(source) if source.kind() == io::ErrorKind::NotFound && synced == 0 => return Ok(None),
            Err(source) if source.kind() == io::ErrorKind::NotFound => {
                return Err(place.damaged(0, "the file is missing"));
            }
            file => file.and_then(Part::all).map_err(place.failed("open"))?,
        };
        let lines = Lines::new(BufReader::with_capacity(64 << 10, file));
        Ok(Some(Self { lines, limit: Limit::Synced(synced), place }))
    }

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
        if let Limit::End(end, fault) = &mut self.limit
            && offset == *end
        {
            return fault.take().map_or(Ok(None), |fault| Err(fault.error(&self.place, offset)));
        }
        let line = self.lines.next().map_err(self.place.failed("read"))?;
        let reason = match (line, &self.limit) {
            // What the file begins with tells of the session, and is no record.
            (Line::Record(text), _) if offset == 0 => match header::begins(&text, &self.place.session_id) {
                Ok(()) => return self.one(),
                Err(reason) => reason,
            },
            (Line::Record(text), _) => match RawJson::parse(text.into()) {
                Ok(record) => return Ok(Some(record)),
                Err(error) => format!("a record that is not JSON: {error}"),
            },
            (line, Limit::Synced(synced)) => match line.fault(offset, *synced) {
                Some(reason) => reason,
                None => return Ok(None),
            },
            (Line::Damaged(reason), Limit::End(..)) => reason,
            (Line::End | Line::Torn(_), Limit::End(..)) => "the file has become shorter".to_owned(),
        };
        Err(self.place.damaged(offset, reason))
    }
}

//! Reads the records of a journal.

use std::io::{self, BufReader};

use agentwire_files::line::{Line, Lines};
use agentwire_files::{Access, Part, RawFile};
use agentwire_jsonrpc::RawJson;

use super::header;
use super::location::Location;
use super::scan::fault;
use crate::{BoxError, StoreError};

/// Reads the records that a journal had when the reader was made.
#[derive(Debug)]
pub(super) struct Reader {
    lines: Lines<BufReader<Part>>,
    limit: Limit,
    location: Location,
}

/// The end of the records that a reader returns.
#[derive(Debug)]
enum Limit {
    /// This offset. After it the reader reports the fault.
    End(u64, Option<AppendFault>),
    /// The end of the valid records, after which another process may be writing. This many bytes of the file are durable.
    Synced(u64),
}

impl Reader {
    /// How many bytes are read at once, roughly.
    const AT_ONCE: u64 = 256 << 10;

    /// Reads to an offset, and then reports the fault.
    pub(super) fn to_end(
        location: Location,
        file: Box<dyn RawFile>,
        end: u64,
        fault: Option<AppendFault>,
    ) -> Self {
        let lines = Lines::new(BufReader::with_capacity(64 << 10, Part::new(file, 0, end)));
        Self { lines, limit: Limit::End(end, fault), location }
    }

    /// Reads a journal to which another process may be writing. Returns `None` if there is no journal.
    pub(super) fn concurrent(location: Location, synced: u64) -> Result<Option<Self>, StoreError> {
        let file = match location.open_journal(Access::Read) {
            Err(source) if source.kind() == io::ErrorKind::NotFound && synced == 0 => return Ok(None),
            Err(source) if source.kind() == io::ErrorKind::NotFound => {
                return Err(location.damaged(0, "the file is missing"));
            }
            file => file.and_then(Part::all).map_err(location.failed("open"))?,
        };
        let lines = Lines::new(BufReader::with_capacity(64 << 10, file));
        Ok(Some(Self { lines, limit: Limit::Synced(synced), location }))
    }

    /// Reads some records, or none after the last one. Must not be called again after an error.
    pub(super) fn read_some(&mut self) -> Vec<Result<RawJson, StoreError>> {
        let mut records = Vec::new();
        let from = self.lines.offset();
        while self.lines.offset() - from < Self::AT_ONCE {
            match self.read_one() {
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

    fn read_one(&mut self) -> Result<Option<RawJson>, StoreError> {
        let offset = self.lines.offset();
        if let Limit::End(end, fault) = &mut self.limit
            && offset == *end
        {
            return fault.take().map_or(Ok(None), |fault| Err(fault.error(&self.location, offset)));
        }
        let line = self.lines.read().map_err(self.location.failed("read"))?;
        let reason = match (line, &self.limit) {
            // The first line is the header, and no record.
            (Line::Text(text), _) if offset == 0 => {
                match header::check_first(&text, &self.location.session_id) {
                    Ok(()) => return self.read_one(),
                    Err(reason) => reason,
                }
            }
            (Line::Text(text), _) => match parse(text) {
                Ok(record) => return Ok(Some(record)),
                Err(error) => format!("a record that is not JSON: {error}"),
            },
            (line, Limit::Synced(synced)) => match fault(&line, offset, *synced) {
                Some(reason) => reason,
                None => return Ok(None),
            },
            (Line::Damaged(reason), Limit::End(..)) => reason,
            (Line::End | Line::Torn, Limit::End(..)) => "the file has become shorter".to_owned(),
        };
        Err(self.location.damaged(offset, reason))
    }
}

fn parse(text: Vec<u8>) -> Result<RawJson, BoxError> {
    Ok(RawJson::parse(String::from_utf8(text)?.into())?)
}

/// Why nothing can be appended to a journal.
#[derive(Debug, Clone)]
pub(super) enum AppendFault {
    /// The bytes after the valid records are damaged.
    Damaged(String),
    /// A write failed and could not be undone.
    Stopped(String),
}

impl AppendFault {
    pub(super) fn error(self, location: &Location, offset: u64) -> StoreError {
        match self {
            Self::Damaged(reason) => location.damaged(offset, reason),
            Self::Stopped(reason) => StoreError::Stopped { session_id: location.session_id.clone(), reason },
        }
    }
}

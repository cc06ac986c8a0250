//! Finds the end of the valid records of a journal.

use std::io::{self, BufReader};

use agentwire_files::line::{Line, Lines};
use agentwire_files::{Access, Part};

use super::header;
use super::location::Location;
use crate::StoreError;

/// The extent of the valid records of a journal.
#[derive(Debug)]
pub(super) struct Scan {
    /// How many records are valid.
    pub(super) records: u64,
    /// The end of the valid records.
    pub(super) offset: u64,
    /// The checksum up to there.
    pub(super) checksum: u32,
    /// The end of the file.
    pub(super) end: u64,
    /// The line after the valid records.
    pub(super) last: Line,
}

/// Reads a journal to the end of its valid records.
pub(super) fn scan(location: &Location) -> Result<Scan, StoreError> {
    let file = location.open_journal(Access::Read).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => location.damaged(0, "the file is missing"),
        _ => location.failed("open")(source),
    })?;
    let part = Part::all(file).map_err(location.failed("read"))?;
    let end = part.end();
    let mut lines = Lines::new(BufReader::with_capacity(64 << 10, part));
    let mut records = 0;
    let last = loop {
        let first = lines.offset() == 0;
        let before = (lines.offset(), lines.checksum());
        match lines.read().map_err(location.failed("read"))? {
            Line::Text(text) if first => {
                if let Err(reason) = header::check_first(&text, &location.session_id) {
                    let (offset, checksum) = before;
                    return Ok(Scan { records, offset, checksum, end, last: Line::Damaged(reason) });
                }
            }
            Line::Text(_) => records += 1,
            last => break last,
        }
    };
    Ok(Scan { records, offset: lines.offset(), checksum: lines.checksum(), end, last })
}

/// Returns whether a journal has more than its first line, damaged or not. That of a session whose creation was cut off has
/// not.
pub(super) fn has_records(location: &Location) -> Result<bool, StoreError> {
    let file = match location.open_journal(Access::Read) {
        Err(source) if source.kind() == io::ErrorKind::NotFound => return Ok(false),
        file => file.and_then(Part::all).map_err(location.failed("open"))?,
    };
    let mut lines = Lines::new(BufReader::new(file));
    let whole = matches!(lines.read().map_err(location.failed("read"))?, Line::Text(_) | Line::Damaged(_));
    Ok(whole && lines.read().map_err(location.failed("read"))? != Line::End)
}

/// Returns what is wrong with a journal whose valid records end at `offset`, with `last` behind them, and of which `synced` bytes
/// were durable. Returns `None` if only unsynced writes are missing.
pub(super) fn fault(last: &Line, offset: u64, synced: u64) -> Option<String> {
    (offset < synced).then(|| match last {
        Line::Damaged(reason) => reason.clone(),
        Line::Torn => format!("a line that is cut off, in the {synced} bytes that the disk held"),
        Line::End | Line::Text(_) => format!("the file ends here, and the disk held {synced} bytes of it"),
    })
}

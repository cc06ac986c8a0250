//! The file of a session's header. It is separate from the journal, so that lists read no journals.
//!
//! ```text
//! 0000001d 5f3a… {"synced":"0000000000001f3a"}⏎    how many bytes of the journal are durable
//! 0000009c 8d40… {"format":1,"session":{ … }}⏎      the header
//! ```
//!
//! The first line is overwritten after each sync of the journal, and the file is replaced as a whole when the header changes.
//! The line is within one sector, so a power cut leaves the old or the new one. The old one is valid too: it claims less. The
//! journal begins with a line of the second form, with the header with which the session was created.

use std::io::{self, BufReader, Read as _};

use agentwire_acp_schema::v1::SessionId;
use agentwire_files::line::{self, Line, Lines};
use agentwire_files::{Access, Part};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::directory::{Directory, failed};
use super::name::{FileKind, stem as stem_of};
use crate::{SessionHeader, StoreError};

/// The format version of the files.
const FORMAT: u32 = 1;

/// The line that holds a header.
#[derive(Debug, Serialize, Deserialize)]
struct HeaderLine<Header> {
    format: u32,
    session: Header,
}

/// The content of the file of a header.
#[derive(Debug)]
pub(super) struct HeaderFile {
    pub(super) header: SessionHeader,
    /// How many bytes of the journal are durable. `None` if the line is damaged, or is being overwritten.
    pub(super) synced: Option<u64>,
}

/// Why a header cannot be read.
#[derive(Debug)]
pub(super) enum HeaderError {
    /// There is no file.
    Missing,
    /// The content is damaged.
    Invalid(String),
    /// The content has an unknown format, so it must not be replaced.
    Unsupported(String),
    /// The operating system failed.
    Io(io::Error),
}

impl HeaderError {
    /// Describes what is wrong with the file.
    pub(super) fn reason(self) -> String {
        match self {
            Self::Missing => "missing".to_owned(),
            Self::Invalid(reason) | Self::Unsupported(reason) => reason,
            Self::Io(source) => format!("not readable: {source}"),
        }
    }

    fn invalid(reason: &str) -> Self {
        Self::Invalid(reason.to_owned())
    }
}

/// Returns the line that holds a header, and its checksum.
pub(super) fn line(header: &SessionHeader) -> Result<(Vec<u8>, u32), StoreError> {
    let text =
        serde_json::to_vec(&HeaderLine { format: FORMAT, session: header }).map_err(StoreError::other)?;
    let mut line = Vec::with_capacity(text.len() + 32);
    let checksum = line::write(&mut line, 0, &text).map_err(StoreError::other)?;
    Ok((line, checksum))
}

/// Returns the line that holds the number of durable bytes. It always has the same length.
fn synced_line(synced: u64) -> Result<Vec<u8>, StoreError> {
    let mut line = Vec::with_capacity(64);
    let text = format!("{{\"synced\":\"{synced:016x}\"}}");
    line::write(&mut line, 0, text.as_bytes()).map_err(StoreError::other)?;
    Ok(line)
}

/// Parses the line that `synced_line` writes, without its line end.
fn read_synced(line: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(line::parse_first(line)?).ok()?;
    let digits = text.strip_prefix("{\"synced\":\"")?.strip_suffix("\"}")?;
    u64::from_str_radix(digits, 16).ok()
}

/// Writes a header to a temporary file, which [`put`] renames.
pub(super) fn prepare(
    directory: &Directory,
    stem: &str,
    header: &SessionHeader,
    synced: u64,
    durable: bool,
) -> Result<(), StoreError> {
    let lines = [synced_line(synced)?, line(header)?.0].concat();
    // One that exists was left by a store that was cut off, or comes from another program.
    directory.remove(stem, FileKind::NewHeader)?;
    let written = directory.open_file(stem, FileKind::NewHeader, Access::Create).and_then(|file| {
        file.write_all_at(&lines, 0)?;
        if durable { file.sync() } else { Ok(()) }
    });
    written.map_err(|source| {
        // If this fails, the file is removed when the session is opened next.
        let _ = directory.remove(stem, FileKind::NewHeader);
        failed("write", &directory.file(stem, FileKind::NewHeader))(source)
    })
}

/// Replaces the header with the prepared one. A concurrent reader sees one or the other.
pub(super) fn put(directory: &Directory, stem: &str) -> Result<(), StoreError> {
    directory
        .rename(stem, FileKind::NewHeader, FileKind::Header)
        .map_err(failed("replace", &directory.file(stem, FileKind::Header)))
}

/// Records in a header's file how many bytes of the journal are durable.
pub(super) fn put_synced(directory: &Directory, stem: &str, synced: u64) -> Result<(), StoreError> {
    let line = synced_line(synced)?;
    directory
        .open_file(stem, FileKind::Header, Access::Write)
        .and_then(|file| file.write_all_at(&line, 0))
        .map_err(failed("write to", &directory.file(stem, FileKind::Header)))
}

/// Renames the file of a header, which removes the session from the store. Succeeds where there is no such file, such as
/// where it could not be restored.
pub(super) fn discard(directory: &Directory, stem: &str) -> Result<(), StoreError> {
    match directory.rename(stem, FileKind::Header, FileKind::Deleted) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(failed("remove", &directory.file(stem, FileKind::Header))(source))
        }
        _ => Ok(()),
    }
}

/// Reads the file of a header.
pub(super) fn read(directory: &Directory, stem: &str) -> Result<HeaderFile, HeaderError> {
    let mut bytes = Vec::new();
    open(directory, stem, FileKind::Header)?.read_to_end(&mut bytes).map_err(HeaderError::Io)?;
    let lines: Vec<_> = bytes.split(|byte| *byte == b'\n').collect();
    match lines[..] {
        [synced, header, []] => {
            Ok(HeaderFile { header: parse_line(header, stem)?, synced: read_synced(synced) })
        }
        // The format without the first line: nothing is known to be durable.
        [header, []] => Ok(HeaderFile { header: parse_line(header, stem)?, synced: Some(0) }),
        [_] | [_, _] => Err(HeaderError::invalid("cut off")),
        _ => Err(HeaderError::invalid("damaged")),
    }
}

/// Reads the first line of a journal: the header with which the session was created.
pub(super) fn read_first(directory: &Directory, stem: &str) -> Result<SessionHeader, HeaderError> {
    let journal = open(directory, stem, FileKind::Journal)?;
    match Lines::new(BufReader::new(journal)).read().map_err(HeaderError::Io)? {
        Line::Text(text) => parse_text(&text, stem),
        Line::End | Line::Torn => Err(HeaderError::invalid("cut off")),
        Line::Damaged(_) => Err(HeaderError::invalid("damaged")),
    }
}

fn open(directory: &Directory, stem: &str, kind: FileKind) -> Result<Part, HeaderError> {
    let file = directory.open_file(stem, kind, Access::Read).and_then(Part::all);
    file.map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => HeaderError::Missing,
        _ => HeaderError::Io(source),
    })
}

/// Parses a line, without its line end, that must hold the header of the session with this stem.
fn parse_line(line: &[u8], stem: &str) -> Result<SessionHeader, HeaderError> {
    parse_text(line::parse_first(line).ok_or_else(|| HeaderError::invalid("damaged"))?, stem)
}

fn parse_text(text: &[u8], stem: &str) -> Result<SessionHeader, HeaderError> {
    let header = parse(text)?;
    match stem_of(&header.session_id) {
        Ok(found) if found == stem => Ok(header),
        _ => Err(HeaderError::invalid("of another session")),
    }
}

/// Parses the text of such a line.
fn parse(text: &[u8]) -> Result<SessionHeader, HeaderError> {
    let line: HeaderLine<Box<RawValue>> =
        agentwire_jsonrpc::read_bytes(text).map_err(|_| HeaderError::invalid("not a file of this kind"))?;
    if line.format != FORMAT {
        return Err(HeaderError::Unsupported(format!("of format {}, which is not known here", line.format)));
    }
    agentwire_jsonrpc::read(line.session.get())
        .map_err(|error| HeaderError::Invalid(format!("not understood: {error}")))
}

/// Checks the first line of the journal of a session.
pub(super) fn check_first(text: &[u8], session_id: &SessionId) -> Result<(), String> {
    match parse(text) {
        Ok(header) if header.session_id == *session_id => Ok(()),
        Ok(_) => Err("the beginning of another session".to_owned()),
        Err(error) => Err(format!("a beginning that is {}", error.reason())),
    }
}

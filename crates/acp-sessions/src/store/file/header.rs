//! Headers in files of their own, beside the journals, so that listing sessions reads nothing else.
//!
//! ```text
//! 0000001d 5f3a… {"synced":"0000000000001f3a"}⏎    how many bytes of the journal are known to be durable
//! 0000009c 8d40… {"format":1,"session":{ … }}⏎      the header
//! ```
//!
//! The first line is replaced in place after each sync of the journal, and the file as a whole when the header changes. The
//! line stands within one sector, so a power cut leaves the earlier one or the later. An earlier one is as good: less is known
//! to be durable then. A journal begins with the second line.

use std::io::{self, BufReader, Read as _};

use agentwire_acp_schema::v1::SessionId;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::directory::{Directory, failed};
use super::name::{Kind, stem as stem_of};
use super::record::{self, Line, Lines};
use super::system::{Access, Part};
use crate::{SessionHeader, StoreError};

/// The format of the files that this writes.
const FORMAT: u32 = 1;

/// A header as it stands in a file of its own, and as a journal begins.
#[derive(Debug, Serialize, Deserialize)]
struct Beginning<Header> {
    format: u32,
    session: Header,
}

/// A header, and how much of the journal is known to be durable, as they stand in a file.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) header: SessionHeader,
    /// In bytes. `None` where the line is damaged, or is being replaced right now.
    pub(super) synced: Option<u64>,
}

/// Why there is no header to be had from a file.
#[derive(Debug)]
pub(super) enum Unread {
    /// There is no file.
    Missing,
    /// There is nothing good in it.
    Bad(String),
    /// What is in it is not for us to know, so it is not to be replaced either.
    Closed(String),
    /// The operating system refused.
    Failed(io::Error),
}

impl Unread {
    /// What is wrong with the file.
    pub(super) fn reason(self) -> String {
        match self {
            Self::Missing => "missing".to_owned(),
            Self::Bad(reason) | Self::Closed(reason) => reason,
            Self::Failed(source) => format!("not readable: {source}"),
        }
    }

    fn bad(reason: &str) -> Self {
        Self::Bad(reason.to_owned())
    }
}

/// The line that holds a header, and its checksum.
pub(super) fn line(header: &SessionHeader) -> Result<(Vec<u8>, u32), StoreError> {
    let text =
        serde_json::to_string(&Beginning { format: FORMAT, session: header }).map_err(StoreError::other)?;
    let mut line = Vec::with_capacity(text.len() + 32);
    let checksum = record::write(&mut line, 0, &text).map_err(StoreError::other)?;
    Ok((line, checksum))
}

/// The line that says how many bytes of the journal are durable: always of the same length.
fn synced_line(synced: u64) -> Result<Vec<u8>, StoreError> {
    let mut line = Vec::with_capacity(64);
    record::write(&mut line, 0, &format!("{{\"synced\":\"{synced:016x}\"}}")).map_err(StoreError::other)?;
    Ok(line)
}

/// Reads such a line, given without its end.
fn read_synced(line: &[u8]) -> Option<u64> {
    let (text, _) = record::check(0, line).ok()?;
    let digits = text.strip_prefix("{\"synced\":\"")?.strip_suffix("\"}")?;
    u64::from_str_radix(digits, 16).ok()
}

/// Writes a header beside the place where it will be, such that [`put`] can move it there.
pub(super) fn prepare(
    directory: &Directory,
    stem: &str,
    header: &SessionHeader,
    synced: u64,
    durable: bool,
) -> Result<(), StoreError> {
    let lines = [synced_line(synced)?, line(header)?.0].concat();
    // One that is there was left by a store that was cut off, or was put there by somebody else.
    directory.remove(stem, Kind::NewHeader)?;
    let written = directory.open_file(stem, Kind::NewHeader, Access::Create).and_then(|file| {
        file.write_all_at(&lines, 0)?;
        if durable { file.sync() } else { Ok(()) }
    });
    written.map_err(|source| {
        // What is left of it is removed when the session is next opened, if it cannot be now.
        let _ = directory.remove(stem, Kind::NewHeader);
        failed("write", &directory.file(stem, Kind::NewHeader))(source)
    })
}

/// Puts a prepared header into the place of the one before, if there is one: whoever reads sees one or the other.
pub(super) fn put(directory: &Directory, stem: &str) -> Result<(), StoreError> {
    directory
        .rename(stem, Kind::NewHeader, Kind::Header)
        .map_err(failed("replace", &directory.file(stem, Kind::Header)))
}

/// Says in a header's file how many bytes of the journal are durable.
pub(super) fn put_synced(directory: &Directory, stem: &str, synced: u64) -> Result<(), StoreError> {
    let line = synced_line(synced)?;
    directory
        .open_file(stem, Kind::Header, Access::Write)
        .and_then(|file| file.write_all_at(&line, 0))
        .map_err(failed("write to", &directory.file(stem, Kind::Header)))
}

/// Takes a header out of its place, and with it the session out of the store. One that could not be restored to its
/// place is out of it already.
pub(super) fn discard(directory: &Directory, stem: &str) -> Result<(), StoreError> {
    match directory.rename(stem, Kind::Header, Kind::Deleted) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(failed("remove", &directory.file(stem, Kind::Header))(source))
        }
        _ => Ok(()),
    }
}

/// Reads the file of a header.
pub(super) fn read(directory: &Directory, stem: &str) -> Result<Stored, Unread> {
    let mut bytes = Vec::new();
    open(directory, stem, Kind::Header)?.read_to_end(&mut bytes).map_err(Unread::Failed)?;
    let lines: Vec<_> = bytes.split(|byte| *byte == b'\n').collect();
    match lines[..] {
        [synced, header, []] => Ok(Stored { header: expect(header, stem)?, synced: read_synced(synced) }),
        // As it was before the first line was added: nothing is known to be durable.
        [header, []] => Ok(Stored { header: expect(header, stem)?, synced: Some(0) }),
        [_] | [_, _] => Err(Unread::bad("cut off")),
        _ => Err(Unread::bad("damaged")),
    }
}

/// Reads the header that a journal begins with: the one that the session was created with.
pub(super) fn read_beginning(directory: &Directory, stem: &str) -> Result<SessionHeader, Unread> {
    let journal = open(directory, stem, Kind::Journal)?;
    match Lines::new(BufReader::new(journal)).next().map_err(Unread::Failed)? {
        Line::Record(text) => expect_text(&text, stem),
        Line::End | Line::Torn(_) => Err(Unread::bad("cut off")),
        Line::Damaged(_) => Err(Unread::bad("damaged")),
    }
}

fn open(directory: &Directory, stem: &str, kind: Kind) -> Result<Part, Unread> {
    let file = directory.open_file(stem, kind, Access::Read).and_then(Part::all);
    file.map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => Unread::Missing,
        _ => Unread::Failed(source),
    })
}

/// Understands a line, given without its end, that is to hold the header of the session with this stem.
fn expect(line: &[u8], stem: &str) -> Result<SessionHeader, Unread> {
    let (text, _) = record::check(0, line).map_err(|_| Unread::bad("damaged"))?;
    expect_text(text, stem)
}

fn expect_text(text: &str, stem: &str) -> Result<SessionHeader, Unread> {
    let header = understand(text)?;
    match stem_of(&header.session_id) {
        Ok(found) if found == stem => Ok(header),
        _ => Err(Unread::bad("of another session")),
    }
}

/// Understands the text of such a line.
fn understand(text: &str) -> Result<SessionHeader, Unread> {
    let beginning: Beginning<Box<RawValue>> =
        agentwire_jsonrpc::read(text).map_err(|_| Unread::bad("not a file of this kind"))?;
    if beginning.format != FORMAT {
        return Err(Unread::Closed(format!("of format {}, which is not known here", beginning.format)));
    }
    agentwire_jsonrpc::read(beginning.session.get())
        .map_err(|error| Unread::Bad(format!("not understood: {error}")))
}

/// Whether this is what the journal of a session begins with.
pub(super) fn begins(text: &str, session_id: &SessionId) -> Result<(), String> {
    match understand(text) {
        Ok(header) if header.session_id == *session_id => Ok(()),
        Ok(_) => Err("the beginning of another session".to_owned()),
        Err(unread) => Err(format!("a beginning that is {}", unread.reason())),
    }
}

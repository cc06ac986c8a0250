//! Headers in files of their own, beside the journals, so that listing sessions reads nothing else.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufReader, Write};
use std::path::Path;

use agentwire_acp_schema::v1::SessionId;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::directory::{Directory, create_options, failed, remove};
use super::name::{Kind, stem};
use super::record::{self, Line, Lines};
use crate::{SessionHeader, StoreError, StoreWarning};

/// The format of the files that this writes.
const FORMAT: u32 = 1;

/// A header as it stands in a file of its own, and as a journal begins.
#[derive(Debug, Serialize, Deserialize)]
struct Beginning<Header> {
    format: u32,
    session: Header,
}

/// The line that holds a header, and its checksum.
pub(super) fn line(header: &SessionHeader) -> Result<(Vec<u8>, u32), StoreError> {
    let text =
        serde_json::to_string(&Beginning { format: FORMAT, session: header }).map_err(StoreError::other)?;
    let mut line = Vec::with_capacity(text.len() + 32);
    let checksum = record::write(&mut line, 0, &text).map_err(StoreError::other)?;
    Ok((line, checksum))
}

/// Writes a header beside the place where it will be, such that [`put`] can move it there.
pub(super) fn prepare(
    directory: &Directory,
    stem: &str,
    header: &SessionHeader,
    durable: bool,
) -> Result<(), StoreError> {
    let path = directory.file(stem, Kind::NewHeader);
    let (line, _) = line(header)?;
    let written =
        create_options().write(true).create(true).truncate(true).open(&path).and_then(|mut file| {
            file.write_all(&line)?;
            if durable { file.sync_all() } else { Ok(()) }
        });
    written.map_err(|source| {
        // What is left of it would be removed when the store is opened again, if it cannot be now.
        let _ = fs::remove_file(&path);
        failed("write", &path)(source)
    })
}

/// Puts a prepared header into the place of the one before, if there is one: whoever reads sees one or the other.
pub(super) fn put(directory: &Directory, stem: &str) -> Result<(), StoreError> {
    let (from, to) = (directory.file(stem, Kind::NewHeader), directory.file(stem, Kind::Header));
    fs::rename(&from, &to).map_err(|source| {
        let _ = fs::remove_file(&from);
        failed("replace", &to)(source)
    })
}

/// Takes a header out of its place, and with it the session out of the store. One that could not be restored to its
/// place is out of it already.
pub(super) fn discard(directory: &Directory, stem: &str) -> Result<(), StoreError> {
    let header = directory.file(stem, Kind::Header);
    match fs::rename(&header, directory.file(stem, Kind::Deleted)) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(failed("remove", &header)(source)),
        _ => Ok(()),
    }
}

/// Reads the headers of all sessions in a directory, by the stems of their files, and brings to an end what was being
/// created, changed or deleted when the store was cut off.
pub(super) fn read_all(
    directory: &Directory,
    warnings: &mut Vec<StoreWarning>,
) -> Result<Vec<(String, SessionHeader)>, StoreError> {
    let mut headers = Vec::new();
    for (stem, files) in files(directory)? {
        if let Some(header) = tidy_and_read(directory, &stem, &files, warnings)? {
            headers.push((stem, header));
        }
    }
    Ok(headers)
}

/// Which files there are of which session. Other files are not ours.
fn files(directory: &Directory) -> Result<BTreeMap<String, Vec<Kind>>, StoreError> {
    let mut files = BTreeMap::<_, Vec<_>>::new();
    for entry in fs::read_dir(directory.path()).map_err(failed("list", directory.path()))? {
        let name = entry.map_err(failed("list", directory.path()))?.file_name();
        if let Some((stem, kind)) = name.to_str().and_then(Kind::parse) {
            files.entry(stem.to_owned()).or_default().push(kind);
        }
    }
    Ok(files)
}

fn tidy_and_read(
    directory: &Directory,
    stem: &str,
    files: &[Kind],
    warnings: &mut Vec<StoreWarning>,
) -> Result<Option<SessionHeader>, StoreError> {
    let file = |kind| directory.file(stem, kind);
    let has = |kind| files.contains(&kind);
    let unfinished = has(Kind::Deleted) || has(Kind::NewHeader);
    if unfinished {
        // With its header a session is there, and only something about it was on the way. Without, it was being
        // deleted, or its creation had not come to its end.
        let gone = !has(Kind::Header) && (has(Kind::Deleted) || !has_records(&file(Kind::Journal))?);
        if gone {
            remove(&file(Kind::Journal))?;
        }
        remove(&file(Kind::NewHeader))?;
        remove(&file(Kind::Deleted))?;
        if gone {
            return Ok(None);
        }
    }
    let path = file(Kind::Header);
    match read(&path, stem) {
        Ok(header) => Ok(Some(header)),
        Err(Unread::Bad(reason)) => Ok(restore(directory, stem, reason, warnings)),
        Err(Unread::Closed(reason)) => {
            warnings.push(StoreWarning::LeftOut { file: path, reason });
            Ok(None)
        }
    }
}

/// Whether there is anything in a journal behind its beginning. Before it is created to its end, a session has nothing there.
fn has_records(path: &Path) -> Result<bool, StoreError> {
    let file = match File::open(path) {
        Err(source) if source.kind() == io::ErrorKind::NotFound => return Ok(false),
        file => file.map_err(failed("open", path))?,
    };
    let mut lines = Lines::new(BufReader::new(file));
    let whole = matches!(lines.next().map_err(failed("read", path))?, Line::Record(_) | Line::Damaged(_));
    Ok(whole && lines.next().map_err(failed("read", path))? != Line::End)
}

/// Why there is no header to be had from a file.
enum Unread {
    /// There is none, or nothing good in it.
    Bad(String),
    /// What is in it is not for us to know, so it is not to be replaced either.
    Closed(String),
}

/// Reads the header that a file, of either kind, begins with.
fn read(path: &Path, expected: &str) -> Result<SessionHeader, Unread> {
    let bad = |reason: &str| Unread::Bad(reason.to_owned());
    let closed = |source: io::Error| Unread::Closed(format!("not readable: {source}"));
    let file = File::open(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => bad("missing"),
        _ => closed(source),
    })?;
    match Lines::new(BufReader::new(file)).next().map_err(closed)? {
        Line::Record(text) => {
            let header = understand(&text)?;
            match stem(&header.session_id) {
                Ok(stem) if stem == expected => Ok(header),
                _ => Err(bad("of another session")),
            }
        }
        Line::End | Line::Torn(_) => Err(bad("cut off")),
        Line::Damaged(_) => Err(bad("damaged")),
    }
}

/// Understands the text of such a line.
fn understand(text: &str) -> Result<SessionHeader, Unread> {
    let beginning: Beginning<Box<RawValue>> =
        agentwire_jsonrpc::read(text).map_err(|_| Unread::Bad("not a file of this kind".to_owned()))?;
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
        Err(Unread::Bad(reason) | Unread::Closed(reason)) => Err(format!("a beginning that is {reason}")),
    }
}

/// Takes a session's header from where its journal begins, as the header's own file is no good.
fn restore(
    directory: &Directory,
    stem: &str,
    reason: String,
    warnings: &mut Vec<StoreWarning>,
) -> Option<SessionHeader> {
    let file = directory.file(stem, Kind::Header);
    let Ok(header) = read(&directory.file(stem, Kind::Journal), stem) else {
        warnings.push(StoreWarning::LeftOut { file, reason });
        return None;
    };
    // Where it cannot be written, it is restored again the next time.
    let _ = prepare(directory, stem, &header, true).and_then(|()| put(directory, stem));
    warnings.push(StoreWarning::HeaderRestored { session_id: header.session_id.clone(), file, reason });
    Some(header)
}

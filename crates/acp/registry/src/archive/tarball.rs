//! Unpacks tar archives. Extensions that a plain reader would take for something else are refused.

use std::io::{self, Read};

use tar::{Archive, Entry, EntryType};

use super::unpacker::Unpacker;

/// How many bytes a header with a long name may have. `tar` would read one of any length into memory.
const MAX_HEADER: u64 = 1 << 20;

pub(super) fn unpack(unpacker: &mut Unpacker, bytes: impl Read) -> io::Result<()> {
    let limit = unpacker.stream_limit();
    let mut archive = Archive::new(Bounded { bytes, limit, left: limit });
    let mut long = LongNames::default();
    for entry in archive.entries()?.raw(true) {
        let mut entry = entry?;
        if long.take(&mut entry)? {
            continue;
        }
        let LongNames { path, link, size } = std::mem::take(&mut long);
        // What follows would be read as other files than another program reads.
        if size.is_some_and(|size| Some(size) != entry.header().entry_size().ok()) {
            return Err(io::Error::other("a header has another size than the one before it"));
        }
        let path = path.unwrap_or_else(|| entry.path_bytes().into_owned());
        let link = link.or_else(|| entry.link_name_bytes().map(|link| link.into_owned()));
        let Some(path) = unpacker.path(&path)? else { continue };
        match (entry.header().entry_type(), link) {
            (EntryType::Directory, _) => unpacker.folder(&path)?,
            (EntryType::Regular | EntryType::Continuous, _) => {
                let mode = entry.header().mode()?;
                unpacker.file(&path, mode, &mut entry)?;
            }
            (EntryType::Symlink, Some(target)) => unpacker.link(path, &target)?,
            (EntryType::Link, Some(target)) => {
                if let Some(target) = unpacker.path(&target)? {
                    unpacker.copy(&path, &target)?;
                }
            }
            (EntryType::GNUSparse, _) => return Err(io::Error::other("it has a sparse file")),
            _ => return Err(io::Error::other(format!("`{}` is a device or something else", path.display()))),
        }
    }
    Ok(())
}

/// Names of the next entry that its own header is too short for.
#[derive(Default)]
struct LongNames {
    path: Option<Vec<u8>>,
    link: Option<Vec<u8>>,
    size: Option<u64>,
}

impl LongNames {
    /// Whether the entry is a header for the next one.
    fn take(&mut self, entry: &mut Entry<'_, impl Read>) -> io::Result<bool> {
        let kind = entry.header().entry_type();
        if !matches!(
            kind,
            EntryType::GNULongName | EntryType::GNULongLink | EntryType::XHeader | EntryType::XGlobalHeader
        ) {
            return Ok(false);
        }
        if entry.size() > MAX_HEADER {
            return Err(io::Error::other(format!("a header is longer than {MAX_HEADER} bytes")));
        }
        match kind {
            EntryType::GNULongName => self.path = Some(read_name(entry)?),
            EntryType::GNULongLink => self.link = Some(read_name(entry)?),
            EntryType::XHeader => {
                for extension in entry.pax_extensions()?.into_iter().flatten() {
                    let extension = extension?;
                    match extension.key_bytes() {
                        b"path" => self.path = Some(extension.value_bytes().to_owned()),
                        b"linkpath" => self.link = Some(extension.value_bytes().to_owned()),
                        b"size" => self.size = Some(number(extension.value_bytes())?),
                        key if key.starts_with(b"GNU.sparse.") => {
                            return Err(io::Error::other("it has a sparse file"));
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
        Ok(true)
    }
}

fn number(text: &[u8]) -> io::Result<u64> {
    let text = str::from_utf8(text).ok().and_then(|text| text.parse().ok());
    text.ok_or_else(|| io::Error::other("a header has a size that is not a number"))
}

fn read_name(entry: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut name = Vec::new();
    entry.read_to_end(&mut name)?;
    while name.last() == Some(&0) {
        name.pop();
    }
    Ok(name)
}

/// Ends an archive that is too long. The limits of the unpacker count only what is written.
struct Bounded<R> {
    bytes: R,
    limit: u64,
    left: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.bytes.read(buffer)?;
        let limit = self.limit;
        let left = self.left.checked_sub(length as u64);
        self.left = left.ok_or_else(|| io::Error::other(format!("it has more than {limit} bytes")))?;
        Ok(length)
    }
}

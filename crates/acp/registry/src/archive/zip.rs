//! Unpacks zip archives.

use std::fs::File;
use std::io::{self, Read as _};

use rawzip::{CompressionMethod, RECOMMENDED_BUFFER_SIZE, ZipArchive};

use super::unpacker::Unpacker;

/// How many bytes the target of a symbolic link may have.
const MAX_TARGET: u64 = 4096;

pub(super) fn unpack(unpacker: &mut Unpacker, file: File) -> io::Result<()> {
    let mut buffer = vec![0; RECOMMENDED_BUFFER_SIZE];
    let archive = ZipArchive::from_file(file, &mut buffer).map_err(io::Error::other)?;
    let mut entries = archive.entries(&mut buffer);
    while let Some(entry) = entries.next_entry().map_err(io::Error::other)? {
        let Some(path) = unpacker.path(entry.file_path().as_bytes())? else { continue };
        if entry.is_dir() {
            unpacker.folder(&path)?;
            continue;
        }
        let (mode, method) = (entry.mode(), entry.compression_method());
        // The kinds of file of Unix: none, a regular file, a symbolic link.
        if !matches!(mode.value() >> 12, 0 | 0o10 | 0o12) {
            return Err(io::Error::other(format!("`{}` is a device or something else", path.display())));
        }
        let content = archive.get_entry(entry.wayfinder()).map_err(io::Error::other)?;
        let mut reader: Box<dyn io::Read> = match method {
            CompressionMethod::STORE => Box::new(content.verifying_reader(content.reader())),
            CompressionMethod::DEFLATE => {
                let inflated = flate2::read::DeflateDecoder::new(content.reader());
                Box::new(content.verifying_reader(inflated))
            }
            other => {
                return Err(io::Error::other(format!("`{}` is compressed by {other}", path.display())));
            }
        };
        if mode.is_symlink() {
            let mut target = Vec::new();
            reader.take(MAX_TARGET + 1).read_to_end(&mut target)?;
            unpacker.link(path, &target)?;
        } else {
            unpacker.file(&path, mode.permissions(), &mut reader)?;
        }
    }
    Ok(())
}

//! `--save DIR`: writes content that is not text into files. Their names come from the server, so they are made safe, and no
//! file is overwritten.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The longest name of a file without its number, in bytes.
const NAME_LIMIT: usize = 80;

/// The most names that are tried: `image.png`, `image-2.png` and so on.
const NUMBERS: u32 = 10_000;

/// The most files of one result.
pub(crate) const FILES_LIMIT: usize = 1000;

/// The extensions of common media types.
const EXTENSIONS: [(&str, &str); 28] = [
    ("application/gzip", "gz"),
    ("application/json", "json"),
    ("application/pdf", "pdf"),
    ("application/xml", "xml"),
    ("application/zip", "zip"),
    ("audio/aac", "aac"),
    ("audio/flac", "flac"),
    ("audio/mp4", "m4a"),
    ("audio/mpeg", "mp3"),
    ("audio/ogg", "ogg"),
    ("audio/wav", "wav"),
    ("audio/webm", "weba"),
    ("audio/x-wav", "wav"),
    ("image/avif", "avif"),
    ("image/bmp", "bmp"),
    ("image/gif", "gif"),
    ("image/jpeg", "jpg"),
    ("image/png", "png"),
    ("image/svg+xml", "svg"),
    ("image/tiff", "tiff"),
    ("image/webp", "webp"),
    ("text/css", "css"),
    ("text/csv", "csv"),
    ("text/html", "html"),
    ("text/markdown", "md"),
    ("text/plain", "txt"),
    ("video/mp4", "mp4"),
    ("video/webm", "webm"),
];

/// The directory of `--save`, and the names of files that this command has written to it.
#[derive(Debug)]
pub(crate) struct Saver {
    directory: PathBuf,
    count: usize,
    /// The number to try next for each used name, so that many files of one name take linear time.
    numbers: HashMap<String, u32>,
}

/// A written file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Saved {
    pub(crate) path: PathBuf,
    pub(crate) bytes: usize,
}

impl Saver {
    /// Creates the directory if it does not exist.
    pub(crate) fn new(directory: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(&directory)?;
        Ok(Self { directory, count: 0, numbers: HashMap::new() })
    }

    /// How many files were written.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Whether the result has reached [`FILES_LIMIT`].
    pub(crate) fn is_full(&self) -> bool {
        self.count >= FILES_LIMIT
    }

    /// Writes a file. The name is like the last part of `uri`, or else `kind`; the media type gives the extension. A file that
    /// cannot be written to its end is removed.
    pub(crate) fn save(
        &mut self,
        kind: &str,
        uri: Option<&str>,
        mime_type: Option<&str>,
        bytes: &[u8],
    ) -> io::Result<Saved> {
        let name = safe_name(kind, uri, mime_type);
        let next = self.numbers.entry(name.clone()).or_insert(1);
        let (mut file, path) = create(&self.directory, &name, next)?;
        file.write_all(bytes).map_err(|why| {
            // If the file cannot be removed, the first error is still the useful one.
            let _removed = fs::remove_file(&path);
            io::Error::new(why.kind(), format!("{}: {why}", path.display()))
        })?;
        self.count += 1;
        Ok(Saved { path, bytes: bytes.len() })
    }
}

/// Decodes base64, which some encoders break into lines. `None` if it is malformed.
pub(crate) fn decode(base64: &str) -> Option<Vec<u8>> {
    STANDARD.decode(base64).ok().or_else(|| {
        let joined: String = base64.split_ascii_whitespace().collect();
        STANDARD.decode(joined).ok()
    })
}

/// Creates a new file with the first free number from `next` on. Sets `next` to the number after it. Does not follow a link
/// at the name.
fn create(directory: &Path, name: &str, next: &mut u32) -> io::Result<(File, PathBuf)> {
    let (stem, extension) = match name.rsplit_once('.') {
        Some((stem, extension)) => (stem, format!(".{extension}")),
        None => (name, String::new()),
    };
    for number in *next..=NUMBERS {
        *next = number + 1;
        let name = match number {
            1 => name.to_owned(),
            number => format!("{stem}-{number}{extension}"),
        };
        let path = directory.join(name);
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((file, path)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(
        io::ErrorKind::AlreadyExists,
        format!("the directory has {NUMBERS} files like {name}"),
    ))
}

/// A name with letters, digits, `-`, `_` and `.` of ASCII only, that is neither hidden nor a device of Windows.
fn safe_name(kind: &str, uri: Option<&str>, mime_type: Option<&str>) -> String {
    let last = uri.and_then(|uri| {
        let path = uri.split(['?', '#']).next()?;
        path.trim_end_matches(['/', '\\']).rsplit(['/', '\\', ':']).next()
    });
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let plain: String = last
        .unwrap_or_default()
        .chars()
        .take(NAME_LIMIT)
        .map(|c| if is_plain(c) { c } else { '_' })
        .collect();
    let plain = plain.trim_matches(['.', '_']);
    let mut name = if plain.is_empty() { kind.to_owned() } else { plain.to_owned() };
    let stem = name.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let is_device = matches!(&*stem, "con" | "prn" | "aux" | "nul")
        || stem.len() == 4 && (stem.starts_with("com") || stem.starts_with("lpt"));
    if is_device {
        name.insert_str(0, kind);
    }
    match mime_type.and_then(extension) {
        Some(extension) if !name.contains('.') => format!("{name}.{extension}"),
        _ => name,
    }
}

/// The extension for a media type, without regard to its parameters.
fn extension(mime_type: &str) -> Option<&'static str> {
    let essence = mime_type.split(';').next()?.trim().to_ascii_lowercase();
    EXTENSIONS.iter().find(|(known, _)| *known == essence).map(|(_, extension)| *extension)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe() {
        let png = Some("image/PNG; x=y");
        let rows = [
            ("image", None, png, "image.png"),
            ("sound", None, Some("audio/mpeg"), "sound.mp3"),
            ("file", Some("file:///a/b/report.pdf?x#y"), None, "report.pdf"),
            ("file", Some("demo://blob/7"), Some("text/plain"), "7.txt"),
            ("file", Some("file:///../../etc/.."), None, "file"),
            ("file", Some("x:\\..\\con"), None, "filecon"),
            ("file", Some("a/.bashrc"), None, "bashrc"),
            ("file", Some("a/\u{1b}[2J;$(id) |x\n"), None, "2J___id___x"),
            ("file", Some(""), Some("unknown/type"), "file"),
        ];
        for (kind, uri, mime_type, name) in rows {
            assert_eq!(safe_name(kind, uri, mime_type), name, "{uri:?}");
        }
        assert_eq!(safe_name("file", Some(&"x".repeat(5000)), None).len(), NAME_LIMIT);
    }

    #[test]
    fn no_file_is_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join("new/folder");
        let mut saver = Saver::new(directory.clone()).unwrap();
        for (number, name) in ["image.png", "image-2.png", "image-3.png"].into_iter().enumerate() {
            let saved = saver.save("image", None, Some("image/png"), &[number as u8]).unwrap();
            assert_eq!(saved, Saved { path: directory.join(name), bytes: 1 });
            assert_eq!(fs::read(saved.path).unwrap(), [number as u8]);
        }
        assert_eq!(saver.count(), 3);
        #[cfg(unix)]
        {
            let elsewhere = folder.path().join("elsewhere");
            std::os::unix::fs::symlink(&elsewhere, directory.join("link")).unwrap();
            let saved = saver.save("link", None, None, b"x").unwrap();
            assert_eq!((saved.path, elsewhere.exists()), (directory.join("link-2"), false));
        }
    }

    #[test]
    fn each_number_of_a_name_is_tried_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut next = 1;
        fs::write(folder.path().join("image-2.png"), "").unwrap();
        for (name, after) in [("image.png", 2), ("image-3.png", 4), ("image-4.png", 5)] {
            let (_, path) = create(folder.path(), "image.png", &mut next).unwrap();
            assert_eq!((path, next), (folder.path().join(name), after));
        }
        next = NUMBERS + 1;
        let why = create(folder.path(), "image.png", &mut next).unwrap_err().to_string();
        assert_eq!(why, "the directory has 10000 files like image.png");
    }

    #[test]
    fn base64_may_be_broken_into_lines() {
        assert_eq!((decode("!"), decode("YQ==")), (None, Some(b"a".to_vec())));
        assert_eq!(decode("YWJj\r\nZGVm\n"), Some(b"abcdef".to_vec()));
    }
}

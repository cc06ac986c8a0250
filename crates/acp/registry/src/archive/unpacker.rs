//! Writes the entries of an archive into a folder, and nowhere else.

use std::fs::{self, File};
use std::io::{self, Read, Write as _};
use std::path::{Component, Path, PathBuf};

use super::clock::Clock;
use super::path::plain_path;
use crate::limits::Limits;

/// How many components a path may have.
const MAX_DEPTH: usize = 64;
/// How many bytes a path may have.
const MAX_PATH: usize = 4096;
/// How many bytes the paths and targets of all links may have: they are held in memory.
const MAX_LINKS: usize = 16 << 20;
/// How many bytes are copied at once.
const PIECE: usize = 64 << 10;

/// Writes entries, and counts them against the limits.
///
/// Links are made after all files, so that no file is written through a link.
pub(super) struct Unpacker {
    root: PathBuf,
    bytes_left: u64,
    unpacked_limit: u64,
    files_left: u64,
    files_limit: u64,
    folders_left: u64,
    folders_limit: u64,
    clock: Clock,
    links: Vec<(PathBuf, PathBuf)>,
    link_bytes: usize,
    piece: Box<[u8]>,
}

impl Unpacker {
    pub(super) fn new(root: PathBuf, limits: &Limits, clock: Clock) -> Self {
        Self {
            root,
            bytes_left: limits.unpacked,
            unpacked_limit: limits.unpacked,
            files_left: limits.files,
            files_limit: limits.files,
            folders_left: limits.folders,
            folders_limit: limits.folders,
            clock,
            links: Vec::new(),
            link_bytes: 0,
            piece: vec![0; PIECE].into_boxed_slice(),
        }
    }

    /// How many bytes the archive may have when it is no longer compressed: its files, and a header for each.
    pub(super) fn stream_limit(&self) -> u64 {
        self.unpacked_limit.saturating_add(self.files_limit.saturating_mul(8 << 10))
    }

    /// The path of an entry. None for the folder of the archive itself.
    pub(super) fn path(&mut self, name: &[u8]) -> io::Result<Option<PathBuf>> {
        self.clock.check()?;
        self.count()?;
        let text =
            str::from_utf8(name).map_err(|_| io::Error::other("the name of a file is not in UTF-8"))?;
        if text.len() > MAX_PATH {
            return Err(io::Error::other(format!("the name of a file is longer than {MAX_PATH} bytes")));
        }
        if matches!(text.trim_end_matches('/'), "" | ".") && !text.starts_with('/') {
            return Ok(None);
        }
        let path =
            plain_path(text).ok_or_else(|| io::Error::other(format!("`{text}` leads out of its folder")))?;
        if path.components().count() > MAX_DEPTH {
            return Err(io::Error::other(format!("a path has more than {MAX_DEPTH} parts")));
        }
        Ok(Some(path))
    }

    /// Counts a file, folder or link.
    fn count(&mut self) -> io::Result<()> {
        let left = self.files_left.checked_sub(1);
        let too_many = || io::Error::other(format!("it has more than {} files", self.files_limit));
        self.files_left = left.ok_or_else(too_many)?;
        Ok(())
    }

    /// Creates the folder of an entry that is counted already.
    pub(super) fn folder(&mut self, path: &Path) -> io::Result<()> {
        let target = self.target(path)?;
        if target.is_dir() { Ok(()) } else { self.create_folder(&target) }
    }

    /// Makes a folder, and counts it against the limit of folders.
    fn create_folder(&mut self, folder: &Path) -> io::Result<()> {
        let left = self.folders_left.checked_sub(1);
        let too_many = || io::Error::other(format!("it has more than {} folders", self.folders_limit));
        self.folders_left = left.ok_or_else(too_many)?;
        self.clock.check()?;
        fs::create_dir(folder)
    }

    /// Writes a file. Its mode keeps whether it can be executed.
    pub(super) fn file(&mut self, path: &Path, mode: u32, content: &mut dyn Read) -> io::Result<()> {
        let target = self.target(path)?;
        let mut options = File::options();
        // A second file of the same name is refused, as is one in the place of a folder.
        options.write(true).create_new(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            options.mode(if mode & 0o111 == 0 { 0o644 } else { 0o755 });
        }
        let _ = mode;
        let mut file = options.open(target)?;
        loop {
            self.clock.check()?;
            let length = content.read(&mut self.piece)?;
            if length == 0 {
                return Ok(());
            }
            let Some(left) = self.bytes_left.checked_sub(length as u64) else {
                let limit = self.unpacked_limit;
                return Err(io::Error::other(format!("its files have more than {limit} bytes")));
            };
            self.bytes_left = left;
            file.write_all(&self.piece[..length])?;
        }
    }

    /// Copies a file that was unpacked before, for a hard link.
    pub(super) fn copy(&mut self, path: &Path, of: &Path) -> io::Result<()> {
        let source = self.root.join(of);
        let mode = if crate::packages::programs::is_executable(&source) { 0o755 } else { 0o644 };
        let mut content = File::open(source)?;
        self.file(path, mode, &mut content)
    }

    /// Notes a symbolic link. Its target may begin with `..` and have none after that, so that what it names is inside without
    /// regard to other links.
    pub(super) fn link(&mut self, path: PathBuf, target: &[u8]) -> io::Result<()> {
        let leads_out = || io::Error::other(format!("the link `{}` leads out of its folder", path.display()));
        let target =
            str::from_utf8(target).ok().filter(|text| text.len() <= MAX_PATH).ok_or_else(leads_out)?;
        let target = Path::new(target);
        let depth = path.components().count() - 1;
        let mut components =
            target.components().filter(|component| *component != Component::CurDir).peekable();
        let mut ups = 0;
        while components.next_if_eq(&Component::ParentDir).is_some() {
            ups += 1;
        }
        if ups > depth || !components.all(|component| matches!(component, Component::Normal(_))) {
            return Err(leads_out());
        }
        let target = target.to_owned();
        self.link_bytes += path.as_os_str().len() + target.as_os_str().len();
        if self.link_bytes > MAX_LINKS {
            return Err(io::Error::other(format!("its links have more than {MAX_LINKS} bytes")));
        }
        self.links.push((path, target));
        Ok(())
    }

    /// Makes the links.
    pub(super) fn finish(mut self) -> io::Result<()> {
        // A link in the place of a parent folder of another link would move that one.
        for (path, target) in std::mem::take(&mut self.links) {
            if has_link(&self.root, &path) {
                return Err(io::Error::other(format!(
                    "the link `{}` is behind another link",
                    path.display()
                )));
            }
            let link = self.target(&path)?;
            make_link(&target, &link)?;
        }
        Ok(())
    }

    /// The path of a file, whose folders are made. New ones count: each path may name 63 that have no entry of their own.
    fn target(&mut self, path: &Path) -> io::Result<PathBuf> {
        let folders = path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
        let missing: Vec<PathBuf> =
            folders.map(|folder| self.root.join(folder)).take_while(|folder| !folder.is_dir()).collect();
        for folder in missing.iter().rev() {
            self.count()?;
            self.create_folder(folder)?;
        }
        Ok(self.root.join(path))
    }
}

/// Whether a folder above a path is a link.
fn has_link(root: &Path, path: &Path) -> bool {
    let folders = path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
    folders.into_iter().any(|folder| root.join(folder).is_symlink())
}

#[cfg(unix)]
fn make_link(target: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

#[cfg(not(unix))]
fn make_link(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::Error::other("it has symbolic links, which are not made on this system"))
}

//! Follows a path component by component without leaving the directories of a session.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, mkdirat, openat, readlinkat, statat};
use rustix::io::Errno;

use super::error::FileError;
use crate::roots::{RootRelation, Roots};

/// The limit of links in one path, as on Linux.
const MAX_LINKS: usize = 40;

/// How often a path is followed if it changes on the way.
const MAX_ATTEMPTS: usize = 100;

/// A directory is opened as a starting point, not to be listed. With `O_PATH` it need not be readable.
#[cfg(any(target_os = "linux", target_os = "android"))]
const DIRECTORY: OFlags =
    OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The target of a path whose links were followed: a name in an open directory.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) directory: OwnedFd,
    pub(super) name: OsString,
    /// The path of the target without links.
    pub(super) path: PathBuf,
    /// The type of the file, or `None` if it does not exist. It is neither a directory nor a link.
    pub(super) kind: Option<FileType>,
}

/// Follows `path` and calls `then` with its target. Starts again if either fails with [`FileError::Changed`].
///
/// With `make`, creates directories that are missing on the way.
pub(super) fn follow<T>(
    roots: &Roots,
    path: &Path,
    make: bool,
    mut then: impl FnMut(Place) -> Result<T, FileError>,
) -> Result<T, FileError> {
    for _ in 0..MAX_ATTEMPTS {
        match Walk::new(roots, path, make).and_then(Walk::run).and_then(&mut then) {
            Err(FileError::Changed) => {}
            result => return result,
        }
    }
    Err(FileError::Changed)
}

/// A walk along a path. This code follows links and `..`, never the kernel, so that each step starts in a directory that
/// is within a root.
#[derive(Debug)]
struct Walk<'a> {
    roots: &'a Roots,
    make: bool,
    ahead: VecDeque<Step>,
    position: Position,
    links: usize,
}

#[derive(Debug)]
enum Step {
    Up,
    Into(OsString),
}

#[derive(Debug)]
enum Position {
    /// Outside the roots. Nothing is opened here: the text of the path must lead to a root.
    Outside(PathBuf),
    /// Within the last of the open directories, whose path is `path`. The first is the root, and each is in the one before.
    Inside { path: PathBuf, open: Vec<OwnedFd> },
}

#[derive(Debug)]
enum StepOutcome {
    /// The walk continues.
    Step,
    /// The walk has ended. Holds the type of the file, or `None` if it does not exist.
    End(Option<FileType>),
}

impl<'a> Walk<'a> {
    fn new(roots: &'a Roots, path: &Path, make: bool) -> Result<Self, FileError> {
        let position = Position::Outside(PathBuf::from("/"));
        let mut walk = Self { roots, make, ahead: VecDeque::new(), position, links: 0 };
        walk.redirect(path)?;
        Ok(walk)
    }

    fn run(mut self) -> Result<Place, FileError> {
        while let Some(step) = self.ahead.pop_front() {
            match (&mut self.position, step) {
                (Position::Outside(_), Step::Up) => self.up_outside()?,
                (Position::Outside(path), Step::Into(name)) => {
                    path.push(name);
                    self.arrive()?;
                }
                (Position::Inside { .. }, Step::Up) => self.up_inside()?,
                (Position::Inside { .. }, Step::Into(name)) => {
                    if let StepOutcome::End(kind) = self.enter(&name)? {
                        return self.place(name, kind);
                    }
                }
            }
        }
        match self.position {
            Position::Outside(_) => Err(FileError::Outside),
            Position::Inside { .. } => Err(FileError::Directory),
        }
    }

    /// Prepends the target of a link or an alias to the remaining components.
    fn redirect(&mut self, path: &Path) -> Result<(), FileError> {
        for component in path.components().rev() {
            match component {
                Component::ParentDir => self.ahead.push_front(Step::Up),
                Component::Normal(name) => self.ahead.push_front(Step::Into(name.to_owned())),
                Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
            }
        }
        if path.is_absolute() {
            self.position = Position::Outside(PathBuf::from("/"));
            self.arrive()?;
        }
        Ok(())
    }

    /// Enters the current directory outside the roots if it is a root. Fails if no root is below it.
    fn arrive(&mut self) -> Result<(), FileError> {
        let Position::Outside(path) = &self.position else { return Ok(()) };
        match self.roots.relation(path) {
            RootRelation::Root(root) if self.roots.denies(root) => Err(FileError::Denied),
            RootRelation::Root(root) => {
                let open = vec![open_directory(openat(CWD, root, DIRECTORY, Mode::empty()))?];
                self.position = Position::Inside { path: root.to_owned(), open };
                Ok(())
            }
            RootRelation::Alias(real) => {
                self.count_link()?;
                self.redirect(real)
            }
            RootRelation::Above { .. } => Ok(()),
            RootRelation::Outside => Err(FileError::Outside),
        }
    }

    fn up_outside(&mut self) -> Result<(), FileError> {
        let Position::Outside(path) = &mut self.position else { return Ok(()) };
        // After a link, the parent directory differs from the one in the text.
        if self.roots.relation(path) != (RootRelation::Above { real: true }) {
            return Err(FileError::Outside);
        }
        path.pop();
        Ok(())
    }

    fn up_inside(&mut self) -> Result<(), FileError> {
        let Position::Inside { path, open } = &mut self.position else { return Ok(()) };
        if open.len() > 1 {
            open.pop();
            path.pop();
        } else if let Some(above) = path.parent() {
            self.position = Position::Outside(above.to_owned());
            self.arrive()?;
        }
        Ok(())
    }

    /// Takes one step: into a directory, or to the target of a link. Otherwise the path ends here.
    fn enter(&mut self, name: &OsStr) -> Result<StepOutcome, FileError> {
        let Position::Inside { path, open } = &mut self.position else { return Err(FileError::Outside) };
        let Some(directory) = open.last() else { return Err(FileError::Outside) };
        if self.roots.denies(&path.join(name)) {
            return Err(FileError::Denied);
        }
        let last = self.ahead.is_empty();
        let kind = match statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(status) => FileType::from_raw_mode(status.st_mode),
            Err(Errno::NOENT) if last => return Ok(StepOutcome::End(None)),
            Err(Errno::NOENT) if self.make && !self.ahead.iter().any(|step| matches!(step, Step::Up)) => {
                // No directory is created on the way to a denied path.
                let mut made = path.join(name);
                for step in &self.ahead {
                    if let Step::Into(name) = step {
                        made.push(name);
                    }
                    if self.roots.denies(&made) {
                        return Err(FileError::Denied);
                    }
                }
                match mkdirat(directory, name, Mode::from_raw_mode(0o777)) {
                    Ok(()) => FileType::Directory,
                    Err(Errno::EXIST) => return Err(FileError::Changed),
                    Err(error) => return Err(error.into()),
                }
            }
            Err(Errno::NOENT) => return Err(FileError::Missing),
            Err(error) => return Err(error.into()),
        };
        match kind {
            FileType::Directory => {
                let inner = open_directory(openat(directory, name, DIRECTORY, Mode::empty()));
                open.push(inner.map_err(|error| match error {
                    FileError::Missing | FileError::NotADirectory => FileError::Changed,
                    error => error,
                })?);
                path.push(name);
                Ok(StepOutcome::Step)
            }
            FileType::Symlink => {
                let target = match readlinkat(directory, name, Vec::new()) {
                    Ok(target) => PathBuf::from(OsString::from_vec(target.into_bytes())),
                    Err(Errno::INVAL | Errno::NOENT) => return Err(FileError::Changed),
                    Err(error) => return Err(error.into()),
                };
                self.count_link()?;
                self.redirect(&target)?;
                Ok(StepOutcome::Step)
            }
            kind if last => Ok(StepOutcome::End(Some(kind))),
            _ => Err(FileError::NotADirectory),
        }
    }

    fn place(self, name: OsString, kind: Option<FileType>) -> Result<Place, FileError> {
        match self.position {
            Position::Inside { mut path, mut open } => match open.pop() {
                Some(directory) => {
                    path.push(&name);
                    Ok(Place { directory, name, path, kind })
                }
                None => Err(FileError::Outside),
            },
            Position::Outside(_) => Err(FileError::Outside),
        }
    }

    fn count_link(&mut self) -> Result<(), FileError> {
        self.links += 1;
        if self.links > MAX_LINKS { Err(FileError::Links { limit: MAX_LINKS }) } else { Ok(()) }
    }
}

fn open_directory(result: rustix::io::Result<OwnedFd>) -> Result<OwnedFd, FileError> {
    result.map_err(|error| match error {
        Errno::NOENT => FileError::Missing,
        Errno::NOTDIR | Errno::LOOP => FileError::NotADirectory,
        error => error.into(),
    })
}

//! Private files of one program: directories that other users cannot change, locks, atomic replacement, checksummed lines.
//!
//! ```text
//! PrivateDir ──┐
//!              ├── FileSystem ── open ──▶ RawFile ── Part ──▶ line::Lines
//! Simulated ───┘       └─ try_lock ──▶ LockFile
//! ```
//!
//! A `Part` is a reader over a range of a `RawFile`. All stores of files use this crate, so a race or an attack is fixed in one place.
//!
//! Two things are left to the stores. After a failed write, one store truncates its journal and another rewrites it, so each
//! handles the end of its journal. Files that a person names on a command line may be links, devices or public.
//!
//! # Invariants
//!
//! On Unix only:
//!
//! - A file is opened relative to its directory's descriptor, so a later change of the directory's path has no effect.
//! - No link in a directory is followed, and opening a pipe does not block.
//! - A file is checked after it is opened, not before.
//!
//! On every system, a lock is released explicitly, because a child process that is being started holds a copy of the descriptor.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod file_system;
pub mod line;
mod lock;
mod private_dir;
#[cfg(feature = "testing")]
pub mod testing;

pub use file_system::{Access, FileSystem, LockFile, Part, RawFile, Version};
pub use lock::{FileLock, LockMode};
pub use private_dir::{NotPrivate, Privacy, PrivateDir};

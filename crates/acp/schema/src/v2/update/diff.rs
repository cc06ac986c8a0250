//! The `diff` content of a tool call: a list of file operations, and an optional patch as text.

use agentwire_wire_derive::{Build, Wire};

use crate::common::Meta;
use crate::v2::{AbsolutePath, MediaType};

/// The changes of files that a tool call made.
///
/// See <https://agentclientprotocol.com/protocol/v2/tool-calls#content>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct Diff {
    /// The changes. If the patch disagrees, the changes are right.
    #[wire(required_valid_items)]
    pub changes: Vec<DiffChange>,
    /// Text to show for some or all of the changes. An agent should send it if it can; a client must work without it.
    #[wire(lenient)]
    pub patch: Option<DiffPatch>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// A patch as text.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct DiffPatch {
    /// The format of the text.
    #[wire(required)]
    pub format: DiffPatchFormat,
    /// The text.
    #[wire(required)]
    pub text: String,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The format of a patch.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
pub enum DiffPatchFormat {
    /// The format of `git diff --patch`, but with absolute paths and without the prefixes `a/` and `b/`.
    #[wire("git_patch")]
    GitPatch,
    /// A string that this version of the crate does not know, unchanged.
    #[wire(unknown)]
    Other(String),
}

/// A change of one file.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct DiffChange {
    /// The operation. On the wire its members, and the member `operation`, are members of the change.
    #[wire(union)]
    pub operation: DiffOperation,
    /// The type of the file after the change; for a deleted file, before.
    #[wire(lenient)]
    pub file_type: Option<DiffFileType>,
    /// The media type of its contents after the change; for a deleted file, before.
    #[wire(lenient)]
    pub mime_type: Option<MediaType>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

impl DiffChange {
    /// The file was added.
    #[must_use]
    pub fn add(path: impl Into<AbsolutePath>) -> Self {
        Self::new(DiffOperation::Add(DiffPathChange::new(path)))
    }

    /// The file was deleted.
    #[must_use]
    pub fn delete(path: impl Into<AbsolutePath>) -> Self {
        Self::new(DiffOperation::Delete(DiffPathChange::new(path)))
    }

    /// The contents of the file were changed.
    #[must_use]
    pub fn modify(path: impl Into<AbsolutePath>) -> Self {
        Self::new(DiffOperation::Modify(DiffPathChange::new(path)))
    }

    /// The file was moved or renamed.
    #[must_use]
    pub fn relocate(old_path: impl Into<AbsolutePath>, path: impl Into<AbsolutePath>) -> Self {
        Self::new(DiffOperation::Move(DiffPathPairChange::new(old_path, path)))
    }

    /// The file was copied.
    #[must_use]
    pub fn copy(old_path: impl Into<AbsolutePath>, path: impl Into<AbsolutePath>) -> Self {
        Self::new(DiffOperation::Copy(DiffPathPairChange::new(old_path, path)))
    }
}

/// An operation on a file, with the file's path.
#[derive(Clone, Debug, PartialEq, Wire)]
#[wire(tag = "operation")]
#[non_exhaustive]
pub enum DiffOperation {
    /// It was added.
    #[wire("add")]
    Add(DiffPathChange),
    /// It was deleted.
    #[wire("delete")]
    Delete(DiffPathChange),
    /// Its contents were changed.
    #[wire("modify")]
    Modify(DiffPathChange),
    /// It was moved or renamed.
    #[wire("move")]
    Move(DiffPathPairChange),
    /// It was copied.
    #[wire("copy")]
    Copy(DiffPathPairChange),
    /// An operation that this version does not know: the change's members other than the common ones.
    #[wire(unknown)]
    Unknown(Meta),
}

/// The path of a file that was not moved.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct DiffPathChange {
    /// The file.
    #[wire(required)]
    pub path: AbsolutePath,
}

/// The old and the new path of a file.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct DiffPathPairChange {
    /// The old path.
    #[wire(required)]
    pub old_path: AbsolutePath,
    /// Its new path.
    #[wire(required)]
    pub path: AbsolutePath,
}

/// The type of a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
pub enum DiffFileType {
    /// Text.
    #[wire("text")]
    Text,
    /// Data that is not text.
    #[wire("binary")]
    Binary,
    /// A directory.
    #[wire("directory")]
    Directory,
    /// A symbolic link.
    #[wire("symlink")]
    Symlink,
    /// A string that this version of the crate does not know, unchanged.
    #[wire(unknown)]
    Other(String),
}

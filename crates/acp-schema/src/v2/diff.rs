use agentwire_wire_derive::{Build, Wire};

use super::{AbsolutePath, MediaType};
use crate::common::Meta;

/// Changes of files that a tool call has made.
///
/// See <https://agentclientprotocol.com/protocol/v2/tool-calls#content>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct Diff {
    /// What was done to which file. This decides, and not the patch.
    #[wire(required_valid_items)]
    pub changes: Vec<DiffChange>,
    /// Text to show for some or all of the changes. An agent should send it where it can; a client must do without.
    #[wire(lenient)]
    pub patch: Option<DiffPatch>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// A patch as text.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct DiffPatch {
    /// How the text is written.
    #[wire(required)]
    pub format: DiffPatchFormat,
    /// The text.
    #[wire(required)]
    pub text: String,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// How a patch is written.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
pub enum DiffPatchFormat {
    /// As `git diff --patch` writes it, but with absolute paths and without the prefixes `a/` and `b/`.
    #[wire("git_patch")]
    GitPatch,
    /// A word that this version of the crate does not know, as it came.
    #[wire(unknown)]
    Other(String),
}

/// What was done to one file.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct DiffChange {
    /// What was done. On the wire its members, and the member `operation`, are the change's own.
    #[wire(union)]
    pub operation: DiffOperation,
    /// What the file is afterwards; of a deleted one, what it was.
    #[wire(lenient)]
    pub file_type: Option<DiffFileType>,
    /// The media type of its contents afterwards; of a deleted one, before.
    #[wire(lenient)]
    pub mime_type: Option<MediaType>,
    /// Free room: its keys belong to whoever sent them.
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

/// What was done to a file, and where the file is.
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
    /// Something that this version does not know: the change's members other than the common ones.
    #[wire(unknown)]
    Unknown(Meta),
}

/// Where a file is that stays in its place.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct DiffPathChange {
    /// The file.
    #[wire(required)]
    pub path: AbsolutePath,
}

/// Where a file was and is.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct DiffPathPairChange {
    /// Where it was.
    #[wire(required)]
    pub old_path: AbsolutePath,
    /// Where it is.
    #[wire(required)]
    pub path: AbsolutePath,
}

/// What a file is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
pub enum DiffFileType {
    /// Text.
    #[wire("text")]
    Text,
    /// Anything but text.
    #[wire("binary")]
    Binary,
    /// A directory.
    #[wire("directory")]
    Directory,
    /// A symbolic link.
    #[wire("symlink")]
    Symlink,
    /// A word that this version of the crate does not know, as it came.
    #[wire(unknown)]
    Other(String),
}

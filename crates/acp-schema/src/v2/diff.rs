use serde::{Deserialize, Deserializer, Serialize, de};

use super::{AbsolutePath, MediaType};
use crate::common::Meta;
use crate::wire::lenient::lenient;
use crate::wire::{builder, object, open_enum, tagged_union};

object! {
    /// Changes of files that a tool call has made.
    ///
    /// See <https://agentclientprotocol.com/protocol/v2/tool-calls#content>.
    Diff {
        /// What was done to which file. This decides, and not the patch.
        required_valid_items changes: Vec<DiffChange>,
        /// Text to show for some or all of the changes. An agent should send it where it can; a client must do without.
        lenient patch: Option<DiffPatch>,
        meta,
    }
}

object! {
    /// A patch as text.
    DiffPatch {
        /// How the text is written.
        required format: DiffPatchFormat,
        /// The text.
        required text: String,
        meta,
    }
}

open_enum! {
    /// How a patch is written.
    DiffPatchFormat {
        /// As `git diff --patch` writes it, but with absolute paths and without the prefixes `a/` and `b/`.
        GitPatch = "git_patch",
    } else Other
}

/// What was done to one file.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DiffChange {
    /// What was done. On the wire its members, and the member `operation`, are the change's own.
    #[serde(flatten)]
    pub operation: DiffOperation,
    /// What the file is afterwards; of a deleted one, what it was.
    #[cfg_attr(feature = "schema", schemars(extend("x-deserialize-default-on-error" = true)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_type: Option<DiffFileType>,
    /// The media type of its contents afterwards; of a deleted one, before.
    #[cfg_attr(feature = "schema", schemars(extend("x-deserialize-default-on-error" = true)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<MediaType>,
    /// Free room: its keys belong to whoever sent them.
    #[cfg_attr(feature = "schema", schemars(extend("x-deserialize-default-on-error" = true)))]
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

builder! {
    DiffChange::new(operation: DiffOperation) {
        option file_type: DiffFileType,
        option mime_type: MediaType,
        option meta: Meta,
    }
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

impl<'de> Deserialize<'de> for DiffChange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Base {
            #[serde(default, deserialize_with = "lenient")]
            file_type: Option<DiffFileType>,
            #[serde(default, deserialize_with = "lenient")]
            mime_type: Option<MediaType>,
            #[serde(rename = "_meta", default, deserialize_with = "lenient")]
            meta: Option<Meta>,
        }

        let object = Meta::deserialize(deserializer)?;
        let Base { file_type, mime_type, meta } = object.decode().map_err(de::Error::custom)?;
        let mut operation: DiffOperation = object.decode().map_err(de::Error::custom)?;
        if let DiffOperation::Unknown(object) = &mut operation {
            object.retain(|key| !["fileType", "mimeType", "_meta"].contains(&key));
        }
        Ok(Self { operation, file_type, mime_type, meta })
    }
}

tagged_union! {
    /// What was done to a file, and where the file is.
    DiffOperation by "operation" {
        /// It was added.
        "add" => Add(DiffPathChange),
        /// It was deleted.
        "delete" => Delete(DiffPathChange),
        /// Its contents were changed.
        "modify" => Modify(DiffPathChange),
        /// It was moved or renamed.
        "move" => Move(DiffPathPairChange),
        /// It was copied.
        "copy" => Copy(DiffPathPairChange),
    }
    else {
        /// Something that this version does not know: the change's members other than the common ones.
        Unknown
    }
}

object! {
    /// Where a file is that stays in its place.
    DiffPathChange {
        /// The file.
        required path: AbsolutePath,
    }
}

object! {
    /// Where a file was and is.
    DiffPathPairChange {
        /// Where it was.
        required old_path: AbsolutePath,
        /// Where it is.
        required path: AbsolutePath,
    }
}

open_enum! {
    /// What a file is.
    DiffFileType {
        /// Text.
        Text = "text",
        /// Anything but text.
        Binary = "binary",
        /// A directory.
        Directory = "directory",
        /// A symbolic link.
        Symlink = "symlink",
    } else Other
}

//! The params and results of `fs/read_text_file` and `fs/write_text_file`.

use std::path::PathBuf;

use agentwire_wire_derive::{Build, Wire};

use crate::common::{Meta, SessionId, empty_object};

/// `fs/read_text_file`: reads a text file with the unsaved changes of the client's editor.
///
/// Only where the client has the capability `fs.readTextFile`. See
/// <https://agentclientprotocol.com/protocol/v1/file-system>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ReadTextFileRequest {
    /// The session.
    #[wire(required)]
    pub session_id: SessionId,
    /// The file, an absolute path.
    #[wire(required)]
    pub path: PathBuf,
    /// The first line to read, counted from 1. Default: 1.
    #[wire(number)]
    pub line: Option<u32>,
    /// The maximum number of lines. Default: all that follow.
    #[wire(number)]
    pub limit: Option<u32>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The answer to `fs/read_text_file`.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ReadTextFileResponse {
    /// The text.
    #[wire(required)]
    pub content: String,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// `fs/write_text_file`: writes the text of a file. The client creates a missing file.
///
/// Only where the client has the capability `fs.writeTextFile`.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct WriteTextFileRequest {
    /// The session.
    #[wire(required)]
    pub session_id: SessionId,
    /// The file, an absolute path.
    #[wire(required)]
    pub path: PathBuf,
    /// The whole text.
    #[wire(required)]
    pub content: String,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

empty_object! {
    /// The answer to `fs/write_text_file`.
    WriteTextFileResponse,
}

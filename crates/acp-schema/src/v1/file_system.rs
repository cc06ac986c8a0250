use std::path::PathBuf;

use agentwire_jsonrpc::RequestMethod;
use agentwire_wire_derive::{Build, Wire};

use crate::common::{Meta, SessionId, empty_object};

/// `fs/read_text_file`: a text file as the client sees it, unsaved changes included.
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
    /// The first line wanted, counted from 1; the first of the file where it is not said.
    #[wire(number)]
    pub line: Option<u32>,
    /// How many lines at most; all that follow where it is not said.
    #[wire(number)]
    pub limit: Option<u32>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

impl RequestMethod for ReadTextFileRequest {
    const NAME: &'static str = "fs/read_text_file";
    type Response = ReadTextFileResponse;
}

/// The answer to `fs/read_text_file`.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ReadTextFileResponse {
    /// The text.
    #[wire(required)]
    pub content: String,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// `fs/write_text_file`: make this the text of a file, which the client creates where it is missing.
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
    /// The text, all of it.
    #[wire(required)]
    pub content: String,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

impl RequestMethod for WriteTextFileRequest {
    const NAME: &'static str = "fs/write_text_file";
    type Response = WriteTextFileResponse;
}

empty_object! {
    /// The answer to `fs/write_text_file`.
    WriteTextFileResponse,
}

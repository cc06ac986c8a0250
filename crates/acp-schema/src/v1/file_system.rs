use std::path::PathBuf;

use agentwire_jsonrpc::Method;

use crate::common::SessionId;
use crate::wire::{empty_object, object};

object! {
    /// `fs/read_text_file`: a text file as the client sees it, unsaved changes included.
    ///
    /// Only where the client has the capability `fs.readTextFile`. See
    /// <https://agentclientprotocol.com/protocol/v1/file-system>.
    ReadTextFileRequest {
        /// The session.
        required session_id: SessionId,
        /// The file, an absolute path.
        required path: PathBuf,
        /// The first line wanted, counted from 1; the first of the file where it is not said.
        number line: Option<u32>,
        /// How many lines at most; all that follow where it is not said.
        number limit: Option<u32>,
        meta,
    }
}

impl Method for ReadTextFileRequest {
    const NAME: &'static str = "fs/read_text_file";
    type Response = ReadTextFileResponse;
}

object! {
    /// The answer to `fs/read_text_file`.
    ReadTextFileResponse {
        /// The text.
        required content: String,
        meta,
    }
}

object! {
    /// `fs/write_text_file`: make this the text of a file, which the client creates where it is missing.
    ///
    /// Only where the client has the capability `fs.writeTextFile`.
    WriteTextFileRequest {
        /// The session.
        required session_id: SessionId,
        /// The file, an absolute path.
        required path: PathBuf,
        /// The text, all of it.
        required content: String,
        meta,
    }
}

impl Method for WriteTextFileRequest {
    const NAME: &'static str = "fs/write_text_file";
    type Response = WriteTextFileResponse;
}

empty_object! {
    /// The answer to `fs/write_text_file`.
    WriteTextFileResponse,
}

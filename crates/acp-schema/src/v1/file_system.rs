use std::path::PathBuf;

use agentwire_jsonrpc::Method;
use serde::{Deserialize, Serialize};

use crate::common::lenient::lenient;
use crate::common::{Meta, SessionId, builder, empty_object};

/// `fs/read_text_file`: a text file as the client sees it, unsaved changes included.
///
/// Only where the client has the capability `fs.readTextFile`. See
/// <https://agentclientprotocol.com/protocol/v1/file-system>.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ReadTextFileRequest {
    /// The session.
    pub session_id: SessionId,
    /// The file, an absolute path.
    pub path: PathBuf,
    /// The first line wanted, counted from 1; the first of the file where it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// How many lines at most; all that follow where it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    ReadTextFileRequest::new(session_id: SessionId, path: PathBuf) {
        number line: u32,
        number limit: u32,
        option meta: Meta,
    }
}

impl Method for ReadTextFileRequest {
    const NAME: &'static str = "fs/read_text_file";
    type Response = ReadTextFileResponse;
}

/// The answer to `fs/read_text_file`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ReadTextFileResponse {
    /// The text.
    pub content: String,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    ReadTextFileResponse::new(content: String) {
        option meta: Meta,
    }
}

/// `fs/write_text_file`: make this the text of a file, which the client creates where it is missing.
///
/// Only where the client has the capability `fs.writeTextFile`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WriteTextFileRequest {
    /// The session.
    pub session_id: SessionId,
    /// The file, an absolute path.
    pub path: PathBuf,
    /// The text, all of it.
    pub content: String,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    WriteTextFileRequest::new(session_id: SessionId, path: PathBuf, content: String) {
        option meta: Meta,
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

//! `McpConfigError`: why a configuration file cannot be read.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a configuration file cannot be read. Its text names the file, the server and the member, and no value.
#[derive(Debug)]
pub struct McpConfigError {
    file: Option<PathBuf>,
    server: Option<String>,
    member: Option<String>,
    fault: McpConfigFault,
}

/// The fault of a configuration file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum McpConfigFault {
    /// The file cannot be read.
    #[error("it cannot be read")]
    Io(#[source] io::Error),
    /// It is not a file, but a directory, a pipe or a device.
    #[error("it is not a file")]
    NotFile,
    /// The file, or the text of its expanded variables, is too long.
    #[error("it is longer than {limit} bytes, the limit, before or after its variables are replaced")]
    #[non_exhaustive]
    TooLong {
        /// The limit, in bytes.
        limit: usize,
    },
    /// It is not UTF-8.
    #[error("it is not UTF-8")]
    NotUtf8,
    /// The file has only spaces and comments.
    #[error("it is empty")]
    Empty,
    /// It is not JSON.
    #[error("it is not JSON: line {line}, column {column}")]
    #[non_exhaustive]
    Syntax {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
    },
    /// It has neither `mcpServers` nor `servers`.
    #[error("it has neither `mcpServers` nor `servers`")]
    NoServers,
    /// A name occurs twice. Readers differ in which of the two they use, so a user may have agreed to the other one.
    #[error("the name {0:?} occurs twice")]
    Twice(String),
    /// A member does not have this type.
    #[error("it must be {0}")]
    Type(&'static str),
    /// A server has neither a command nor a URL.
    #[error("it has neither `command` nor `url`")]
    NoTarget,
    /// A server has neither a command nor a URL, and an unknown member that probably means this one.
    #[error("the server has neither `command` nor `url`; did you mean `{0}`?")]
    OtherTarget(&'static str),
    /// An unknown member is probably this switch, mistyped.
    #[error("it looks like a switch, and is not known; did you mean `{0}`?")]
    Mistyped(&'static str),
    /// A server has a command and a URL, or two URLs: the two members.
    #[error("it has both `{0}` and `{1}`")]
    TwoTargets(&'static str, &'static str),
    /// The type of the server is not known, is not that of its other members, or is not compiled in.
    #[error("the type {0:?} does not fit the server, or is not supported")]
    ServerType(String),
    /// The value is not the URL of a server.
    #[error("it is not the URL of an MCP server, such as `https://host/path`")]
    Url,
    /// HTTP does not carry such a header.
    #[error("HTTP does not carry such a header")]
    Header,
    /// A variable of the environment is not set.
    #[error("the variable {0:?} is not set, and has no default, as in `${{NAME:-default}}`")]
    Unset(String),
    /// `${workspaceFolder}` is used, but no workspace folder is set.
    #[error("`${{workspaceFolder}}` is used, and this program has set none")]
    NoWorkspaceFolder,
    /// An input of VS Code is used. This crate asks for none.
    #[error(
        "the input {0:?} is used: inputs are not supported here, so write a variable of the environment instead"
    )]
    Input(String),
    /// A variable that is not known.
    #[error("`${{…}}` names {0:?}, which is not a variable that is known here")]
    UnknownVariable(String),
    /// `${` without `}`.
    #[error("it has `${{` without `}}`")]
    Unclosed,
}

impl McpConfigFault {
    pub(super) fn at(self, member: &str) -> McpConfigError {
        McpConfigError { file: None, server: None, member: Some(member.to_owned()), fault: self }
    }
}

impl McpConfigError {
    /// The file, if it was read from one.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// The name of the server in the file, if the error is about one.
    pub fn server(&self) -> Option<&str> {
        self.server.as_deref()
    }

    /// The member, if the error is about one, such as `url` or `env.TOKEN`.
    pub fn member(&self) -> Option<&str> {
        self.member.as_deref()
    }

    /// The fault.
    pub fn fault(&self) -> &McpConfigFault {
        &self.fault
    }

    pub(super) fn in_file(mut self, path: &Path) -> Self {
        self.file = Some(path.to_owned());
        self
    }

    pub(super) fn in_server(mut self, server: &str) -> Self {
        self.server = Some(server.to_owned());
        self
    }
}

impl From<McpConfigFault> for McpConfigError {
    fn from(fault: McpConfigFault) -> Self {
        Self { file: None, server: None, member: None, fault }
    }
}

impl fmt::Display for McpConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file:?}: ")?;
        }
        if let Some(server) = &self.server {
            write!(f, "server {server:?}: ")?;
        }
        if let Some(member) = &self.member {
            write!(f, "member {member:?}: ")?;
        }
        self.fault.fmt(f)
    }
}

impl Error for McpConfigError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.fault {
            McpConfigFault::Io(error) => Some(error),
            _ => None,
        }
    }
}

/// A member of a configuration file that is not known, and was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpConfigWarning {
    /// The name of the server; `None` for a member of the file itself.
    pub server: Option<String>,
    /// The member.
    pub member: String,
}

impl McpConfigWarning {
    pub(super) fn new(server: Option<&str>, member: &str) -> Self {
        Self { server: server.map(str::to_owned), member: member.to_owned() }
    }
}

impl fmt::Display for McpConfigWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(server) = &self.server {
            write!(f, "server {server:?}: ")?;
        }
        write!(f, "the member {:?} is not known, and is left out", self.member)
    }
}

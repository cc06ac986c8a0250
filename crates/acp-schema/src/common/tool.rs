use agentwire_wire_derive::{Build, Wire};

use crate::common::{Meta, TerminalId};

/// What sort of tool is called: a hint for icons and layout.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
pub enum ToolKind {
    /// It reads.
    #[wire("read")]
    Read,
    /// It changes something.
    #[wire("edit")]
    Edit,
    /// It removes something.
    #[wire("delete")]
    Delete,
    /// It moves or renames.
    #[wire("move")]
    Move,
    /// It searches.
    #[wire("search")]
    Search,
    /// It runs a program.
    #[wire("execute")]
    Execute,
    /// It thinks or plans.
    #[wire("think")]
    Think,
    /// It fetches from elsewhere.
    #[wire("fetch")]
    Fetch,
    /// It changes the session's mode.
    #[wire("switch_mode")]
    SwitchMode,
    /// It says that it is none of these: the word `other`, which is a kind of the schema.
    #[default]
    #[wire("other")]
    Other,
    /// A word that this version of the crate does not know, as it came.
    #[wire(unknown)]
    Unknown(String),
}

/// A terminal to show inside a tool call.
///
/// In version 1 it is one of the client: add it before the terminal is released; it stays visible afterwards. In version
/// 2 it is one of the agent, told by updates of its own.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct Terminal {
    /// The terminal.
    #[wire(required)]
    pub terminal_id: TerminalId,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

//! The tool kind and the terminal reference that both versions share. A macro makes a version's `ToolCallContent` over its
//! `ContentBlock` and `Diff`.

use agentwire_wire_derive::{Build, Wire};

use crate::common::{Meta, TerminalId};

/// The kind of a tool: a hint for icons and layout.
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
    /// It fetches external data.
    #[wire("fetch")]
    Fetch,
    /// It changes the session's mode.
    #[wire("switch_mode")]
    SwitchMode,
    /// None of these: the string `other`, which is a kind of the schema.
    #[default]
    #[wire("other")]
    Other,
    /// A string that this version of the crate does not know, unchanged.
    #[wire(unknown)]
    Unknown(String),
}

/// A terminal to show inside a tool call.
///
/// In version 1 the terminal is the client's: add it before the terminal is released; it stays visible afterwards. In version
/// 2 the terminal is the agent's, and updates report its state.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct Terminal {
    /// The terminal.
    #[wire(required)]
    pub terminal_id: TerminalId,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// Defines the content of a tool call with a version's own `ContentBlock` and `Diff`, which must be in scope where the macro is
/// used.
macro_rules! tool_call_content {
    () => {
        /// One item that a tool call has produced.
        #[derive(Clone, Debug, PartialEq, agentwire_wire_derive::Wire)]
        #[wire(tag = "type")]
        #[non_exhaustive]
        pub enum ToolCallContent {
            /// A content block.
            #[wire("content", from)]
            Content(Content),
            /// Changes of files: of one file in version 1.
            #[wire("diff", from)]
            Diff(Diff),
            /// The output of a terminal, live.
            #[wire("terminal", from)]
            Terminal($crate::common::Terminal),
            /// An item of a type that this version does not know: the whole object. Keep it when storing, replaying or
            /// forwarding.
            #[wire(unknown)]
            Unknown($crate::common::Meta),
        }

        impl From<ContentBlock> for ToolCallContent {
            fn from(block: ContentBlock) -> Self {
                Self::Content(Content::new(block))
            }
        }

        /// A content block that a tool call has produced.
        #[derive(Clone, Debug, PartialEq, agentwire_wire_derive::Wire, agentwire_wire_derive::Build)]
        #[non_exhaustive]
        pub struct Content {
            /// The block.
            #[wire(required)]
            pub content: ContentBlock,
            /// Extension metadata; receivers make no assumptions about its keys.
            #[wire(meta)]
            pub meta: Option<$crate::common::Meta>,
        }

        impl<T: Into<ContentBlock>> From<T> for Content {
            fn from(block: T) -> Self {
                Self::new(block)
            }
        }
    };
}
pub(crate) use tool_call_content;

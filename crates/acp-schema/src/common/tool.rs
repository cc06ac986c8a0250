use crate::common::TerminalId;
use crate::wire::{object, open_enum};

open_enum! {
    /// What sort of tool is called: a hint for icons and layout.
    #[derive(Default)]
    ToolKind {
        /// It reads.
        Read = "read",
        /// It changes something.
        Edit = "edit",
        /// It removes something.
        Delete = "delete",
        /// It moves or renames.
        Move = "move",
        /// It searches.
        Search = "search",
        /// It runs a program.
        Execute = "execute",
        /// It thinks or plans.
        Think = "think",
        /// It fetches from elsewhere.
        Fetch = "fetch",
        /// It changes the session's mode.
        SwitchMode = "switch_mode",
        /// It says that it is none of these: the word `other`, which is a kind of the schema.
        #[default]
        Other = "other",
    } else Unknown
}

object! {
    /// A terminal to show inside a tool call.
    ///
    /// In version 1 it is one of the client: add it before the terminal is released; it stays visible afterwards. In version
    /// 2 it is one of the agent, told by updates of its own.
    Terminal {
        /// The terminal.
        required terminal_id: TerminalId,
        meta,
    }
}

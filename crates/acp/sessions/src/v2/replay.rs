//! Filters a journal of version 1 for a client of version 2.

use std::collections::HashSet;

use agentwire_acp_schema::v1::{SessionUpdate, TerminalId, ToolCallContent};

/// The terminals of the agent's machine in the records of a journal so far.
#[derive(Debug, Default)]
pub(crate) struct KnownTerminals(HashSet<TerminalId>);

impl KnownTerminals {
    /// Removes from a tool call the terminals of a client of version 1: a client of version 2 does not have them.
    pub(crate) fn retain(&mut self, update: &mut SessionUpdate) {
        let content = match update {
            SessionUpdate::ToolCall(call) => &mut call.content,
            SessionUpdate::ToolCallUpdate(call) => match &mut call.content {
                Some(content) => content,
                None => return,
            },
            SessionUpdate::Unknown(object) => {
                let is_terminal = object.text("sessionUpdate").is_some_and(|kind| kind == "terminal_update");
                if let Some(id) = object.text("terminalId").filter(|_| is_terminal) {
                    self.0.insert(TerminalId::from(&*id));
                }
                return;
            }
            _ => return,
        };
        content.retain(|content| match content {
            ToolCallContent::Terminal(terminal) => self.0.contains(&terminal.terminal_id),
            _ => true,
        });
    }
}

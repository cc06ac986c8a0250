//! The terminals that an agent runs by itself, with the last of their output.

use std::collections::{HashMap, VecDeque};
use std::fmt;

use agentwire_acp_schema::v1::{Patch, TerminalId, ToolCallId};
use agentwire_jsonrpc::Printable;

use super::change::TerminalChange;
use super::limits::{ConversationLimits, ENTRY};
use crate::terminals::output::Output;

/// How many bytes of output are decoded at once, so that memory for the whole of a long output is never reserved.
const PIECE: usize = 8 * 1024;

/// A command that the agent runs by itself, with the last of its output.
///
/// Version 2 reports it by `terminal_update` and `terminal_output_chunk`. In version 1 some agents report it in the `_meta` of
/// the updates of a tool call: `terminal_info`, `terminal_output`, `terminal_output_delta` and `terminal_exit`. They do so if
/// the `_meta` of the client's capabilities has `terminal_output` or `terminal_output_delta`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AgentTerminal {
    /// Its id, which the content of a tool call may name.
    pub terminal_id: TerminalId,
    /// The tool call whose `_meta` reports it. `None` in version 2, in which the content of calls names terminals.
    pub tool_call_id: Option<ToolCallId>,
    /// The command.
    pub command: Option<String>,
    /// The directory in which it runs.
    pub cwd: Option<String>,
    /// How the command ended. `None` while it runs.
    pub exit: Option<CommandExit>,
    output: Output,
}

/// How a command of the agent ended. Both parts may be unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommandExit {
    /// Its exit code. On Windows it may be negative.
    pub code: Option<i64>,
    /// The signal that ended it, such as `SIGKILL`.
    pub signal: Option<String>,
}

impl CommandExit {
    /// Makes an exit with this code.
    pub fn of_code(code: i64) -> Self {
        Self { code: Some(code), signal: None }
    }

    /// Makes an exit by this signal.
    pub fn of_signal(signal: impl Into<String>) -> Self {
        Self { code: None, signal: Some(signal.into()) }
    }
}

/// Writes text such as `exit code 1` or `signal SIGKILL`.
impl fmt::Display for CommandExit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.code, &self.signal) {
            (_, Some(signal)) => write!(f, "signal {}", Printable::one_line(signal)),
            (Some(code), None) => write!(f, "exit code {code}"),
            (None, None) => f.write_str("no exit code"),
        }
    }
}

/// The changes of an [`AgentTerminal`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TerminalPatch {
    /// The terminal.
    pub terminal_id: TerminalId,
    /// The tool call whose `_meta` reports it.
    pub tool_call_id: Option<ToolCallId>,
    /// The command.
    pub command: Patch<String>,
    /// The directory in which it runs.
    pub cwd: Patch<String>,
    /// The whole output, which replaces the earlier output.
    pub output: Patch<Vec<u8>>,
    /// Output to append.
    pub more_output: Vec<u8>,
    /// How the command ended.
    pub exit: Patch<CommandExit>,
}

impl TerminalPatch {
    /// Makes a patch that changes nothing in this terminal.
    pub fn new(terminal_id: impl Into<TerminalId>) -> Self {
        Self {
            terminal_id: terminal_id.into(),
            tool_call_id: None,
            command: Patch::Keep,
            cwd: Patch::Keep,
            output: Patch::Keep,
            more_output: Vec::new(),
            exit: Patch::Keep,
        }
    }
}

impl AgentTerminal {
    fn new(terminal_id: TerminalId, limits: ConversationLimits) -> Self {
        // With the spare capacity of a growing text, that is less than half of the limit of all terminals.
        let output = Output::with_slack(limits.terminals / 4, limits.terminals / 8);
        Self { terminal_id, tool_call_id: None, command: None, cwd: None, exit: None, output }
    }

    /// Returns the last part of the output, which is kept within the limit.
    pub fn output(&self) -> &str {
        self.output.since(0)
    }

    /// Returns the kept output since a position. A position counts the bytes of all output as text.
    pub fn output_since(&self, position: u64) -> &str {
        self.output.since(position)
    }

    /// Returns the position of the output's end.
    pub fn position(&self) -> u64 {
        self.output.end()
    }

    fn weight(&self) -> usize {
        let texts = [&self.command, &self.cwd].into_iter().flatten().map(String::len).sum::<usize>();
        let id = self.terminal_id.len() + self.tool_call_id.as_ref().map_or(0, |id| id.len());
        let signal = self.exit.as_ref().and_then(|exit| exit.signal.as_ref()).map_or(0, String::len);
        ENTRY + id + texts + signal + self.output.weight()
    }

    /// Applies a patch. Returns the position from which output is new, whether the patch ended the command, and how many
    /// bytes are left out.
    fn patch(&mut self, patch: TerminalPatch, limits: ConversationLimits) -> (Option<u64>, bool, usize) {
        let mut omitted = 0;
        let mut take = |field: &mut Option<String>, patch: Patch<String>| match patch {
            Patch::Set(text) if text.len() > limits.field => omitted += text.len(),
            patch => patch.apply(field),
        };
        take(&mut self.command, patch.command);
        take(&mut self.cwd, patch.cwd);
        if patch.tool_call_id.is_some() {
            self.tool_call_id = patch.tool_call_id;
        }
        let new = match patch.output {
            Patch::Keep => None,
            Patch::Clear => {
                self.output = Self::new(self.terminal_id.clone(), limits).output;
                None
            }
            Patch::Set(bytes) => self.replace_output(&bytes, limits),
        };
        let end = self.output.end();
        self.write(&patch.more_output);
        let more = (self.output.end() > end).then_some(end);
        let before = self.exit.clone();
        match patch.exit {
            Patch::Set(CommandExit { signal: Some(signal), .. }) if signal.len() > limits.field => {
                omitted += signal.len();
                self.exit = Some(CommandExit::default());
            }
            exit => exit.apply(&mut self.exit),
        }
        if self.exit.is_some() {
            self.output.finish();
        }
        (new.or(more), self.exit.is_some() && self.exit != before, omitted)
    }

    /// Sets the whole output. Returns the position from which it differs from the earlier output.
    fn replace_output(&mut self, bytes: &[u8], limits: ConversationLimits) -> Option<u64> {
        let whole = String::from_utf8_lossy(bytes);
        let end = self.output.end();
        if self.output.is_continued_by(&whole) {
            let rest = usize::try_from(end).ok().and_then(|end| whole.get(end..)).unwrap_or_default();
            self.write(rest.as_bytes());
            return (self.output.end() > end).then_some(end);
        }
        self.output = Self::new(self.terminal_id.clone(), limits).output;
        self.write(whole.as_bytes());
        Some(0)
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.chunks(PIECE).for_each(|piece| self.output.push(piece));
    }
}

/// The terminals of an agent. The oldest are dropped over the limit.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct AgentTerminals {
    terminals: VecDeque<AgentTerminal>,
    /// The index of the first terminal: how many were dropped.
    first: usize,
    /// The sum of the terminals' weights.
    weight: usize,
    indices: HashMap<TerminalId, usize>,
}

impl AgentTerminals {
    pub(super) fn weight(&self) -> usize {
        self.weight
    }

    pub(super) fn get(&self, index: usize) -> Option<&AgentTerminal> {
        self.terminals.get(index.checked_sub(self.first)?)
    }

    pub(super) fn find(&self, id: &TerminalId) -> Option<(usize, &AgentTerminal)> {
        let index = *self.indices.get(id)?;
        Some((index, self.get(index)?))
    }

    /// Applies a patch. Returns the change, and how many bytes are left out.
    pub(super) fn patch(
        &mut self,
        patch: TerminalPatch,
        limits: ConversationLimits,
    ) -> (Option<TerminalChange>, usize) {
        let id = patch.terminal_id.clone();
        let ids = [Some(id.len()), patch.tool_call_id.as_ref().map(|id| id.len())];
        if ids.into_iter().flatten().any(|length| length > limits.field) {
            return (None, id.len().saturating_add(patch.more_output.len()));
        }
        let index = match self.indices.get(&id) {
            Some(index) => *index,
            None => self.add(AgentTerminal::new(id, limits)),
        };
        let Some(terminal) = self.terminals.get_mut(index - self.first) else { return (None, 0) };
        let before = terminal.weight();
        let (output, ended, omitted) = terminal.patch(patch, limits);
        self.weight = self.weight - before + terminal.weight();
        while self.weight > limits.terminals
            && let Some(oldest) = self.terminals.pop_front()
        {
            self.weight -= oldest.weight();
            self.indices.remove(&oldest.terminal_id);
            self.first += 1;
        }
        (self.get(index).map(|_| TerminalChange { index, output, ended }), omitted)
    }

    fn add(&mut self, terminal: AgentTerminal) -> usize {
        let index = self.first + self.terminals.len();
        self.indices.insert(terminal.terminal_id.clone(), index);
        self.weight += terminal.weight();
        self.terminals.push_back(terminal);
        index
    }
}

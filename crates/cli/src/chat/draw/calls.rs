//! What was shown of the tool calls. All of it has a bound.

use std::collections::{HashMap, VecDeque};
use std::io;

use agentwire_acp_schema::v1::TerminalId;

use super::fold::{Fold, WholeOutput};
use super::new_text::NewText;
use crate::terminal::{Mark, Screen};

/// The most tool calls of which is known what was shown. Of an older one it may be shown again.
const CALLS: usize = 64;

/// The most pieces of content, and the most terminals, of a call of which that is known.
const PIECES: usize = 200;

/// What was shown of a tool call.
#[derive(Default)]
pub(super) struct CallOutput {
    /// Its mark and its title.
    pub(super) headline: Option<(Mark, String)>,
    /// The texts, by their place in the content.
    texts: HashMap<usize, NewText>,
    /// Hashes of the changes of files.
    changes: Vec<u64>,
    pub(super) terminals: Vec<CallTerminal>,
    fold: Fold,
    pub(super) has_ended: bool,
}

/// What was shown of a terminal of a tool call.
pub(super) struct CallTerminal {
    pub(super) id: TerminalId,
    /// Where the output that was not shown begins.
    pub(super) position: u64,
    text: NewText,
    /// How its command ended, and whether that was without a fault.
    pub(super) exit: Option<(String, bool)>,
}

impl CallOutput {
    /// Shows what is new of a text of the content.
    pub(super) fn draw_text(
        &mut self,
        screen: &mut Screen,
        call: usize,
        place: usize,
        text: &str,
    ) -> io::Result<()> {
        if !self.texts.contains_key(&place) && self.texts.len() >= PIECES {
            self.texts.clear();
        }
        let is_first = !self.texts.contains_key(&place);
        let shown = self.texts.entry(place).or_default();
        let mut new = shown.replace(text);
        // An agent may send the output of a terminal as a text too.
        for terminal in self.terminals.iter().filter(|terminal| is_first && !terminal.text.is_empty()) {
            new = terminal.text.not_in(new);
        }
        self.fold.push(screen, call, place, new)
    }

    /// Shows what is new of the output of a terminal: `more` that follows, or the `whole` of it.
    pub(super) fn draw_terminal(
        &mut self,
        screen: &mut Screen,
        call: usize,
        place: usize,
        output: TerminalText<'_>,
    ) -> io::Result<()> {
        let Some(terminal) = self.terminals.get_mut(place) else { return Ok(()) };
        let new = match output {
            TerminalText::More(more) => {
                terminal.text.add(more);
                more
            }
            TerminalText::Whole(whole) => terminal.text.replace(whole),
        };
        self.fold.push(screen, call, usize::MAX - place, new)
    }

    /// Records a change of a file. Returns whether it is new.
    pub(super) fn is_new_change(&mut self, hash: u64) -> bool {
        if self.changes.contains(&hash) {
            return false;
        }
        if self.changes.len() >= PIECES {
            self.changes.clear();
        }
        self.changes.push(hash);
        true
    }

    /// Records a terminal. Returns its place if it is new.
    pub(super) fn add_terminal(&mut self, id: &TerminalId) -> Option<usize> {
        if self.terminals.len() >= PIECES || self.terminals.iter().any(|terminal| terminal.id == *id) {
            return None;
        }
        let (position, text) = (0, NewText::default());
        self.terminals.push(CallTerminal { id: id.clone(), position, text, exit: None });
        Some(self.terminals.len() - 1)
    }

    /// Shows the last lines of the output, and how the commands ended.
    pub(super) fn finish(
        &mut self,
        screen: &mut Screen,
        call: usize,
        offers_whole: bool,
    ) -> io::Result<Option<WholeOutput>> {
        let whole = self.fold.finish(screen, call, offers_whole)?;
        for terminal in &mut self.terminals {
            if let Some((exit, is_good)) = terminal.exit.take() {
                screen.coloured(if is_good { "2" } else { "31" }, &format!("  {exit}"))?;
            }
        }
        Ok(whole)
    }
}

/// Output of a terminal.
pub(super) enum TerminalText<'a> {
    /// What follows the output before.
    More(&'a str),
    /// All of it, or the last part.
    Whole(&'a str),
}

/// What was shown of the tool calls, by their indices in the conversation.
#[derive(Default)]
pub(super) struct CallOutputs {
    /// Whether all of an output is kept until it is shown.
    keeps_whole: bool,
    calls: HashMap<usize, CallOutput>,
    /// The oldest first.
    order: VecDeque<usize>,
}

impl CallOutputs {
    pub(super) fn new(keeps_whole: bool) -> Self {
        Self { keeps_whole, ..Self::default() }
    }

    pub(super) fn get(&mut self, call: usize) -> &mut CallOutput {
        if !self.calls.contains_key(&call) {
            if self.order.len() >= CALLS {
                self.drop_oldest();
            }
            self.order.push_back(call);
        }
        let fold = Fold::new(self.keeps_whole);
        self.calls.entry(call).or_insert_with(|| CallOutput { fold, ..CallOutput::default() })
    }

    pub(super) fn find(&mut self, call: usize) -> Option<&mut CallOutput> {
        self.calls.get_mut(&call)
    }

    /// The calls that have not ended.
    pub(super) fn running(&self) -> Vec<usize> {
        let runs = |call: &&usize| self.calls.get(*call).is_some_and(|output| !output.has_ended);
        self.order.iter().filter(runs).copied().collect()
    }

    fn drop_oldest(&mut self) {
        let ended = self.order.iter().position(|call| self.calls[call].has_ended);
        if let Some(call) = self.order.remove(ended.unwrap_or(0)) {
            self.calls.remove(&call);
        }
    }
}

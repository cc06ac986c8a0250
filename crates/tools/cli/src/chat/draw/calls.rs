//! Remembers the shown parts of tool calls, within bounds.

use std::collections::{HashMap, VecDeque};
use std::io;

use agentwire_acp_schema::v1::TerminalId;

use super::fold::{Fold, WholeOutput};
use super::shown_texts::ShownTexts;
use crate::terminal::{Mark, Screen};

/// The most tool calls whose shown parts are remembered. Parts of an older one may be shown again.
const CALLS: usize = 64;

/// The most changes of files of a call, and the most of its terminals, that are remembered.
const PIECES: usize = 200;

/// The longest id of our terminals, in bytes. We make the ids, so all of them are short.
const TERMINAL_ID: usize = 256;

/// The most memory that the whole outputs of running calls take: 4 MiB. Beyond it the oldest calls give theirs up.
const WHOLE_OUTPUTS: usize = 4 << 20;

/// The shown parts of a tool call.
#[derive(Default)]
pub(super) struct CallOutput {
    /// The current mark and title.
    pub(super) headline: Option<(Mark, String)>,
    /// The mark and title that were shown last.
    pub(super) shown: Option<(Mark, String)>,
    /// The number of left-out pieces of its content that was last reported.
    left_out: usize,
    /// Hashes of the changes of files.
    changes: Vec<u64>,
    pub(super) terminals: Vec<CallTerminal>,
    fold: Fold,
    pub(super) has_ended: bool,
}

/// The shown output of a terminal of a tool call.
pub(super) struct CallTerminal {
    /// A hash of its id.
    pub(super) key: u64,
    /// Its id, if it may be one of our terminals.
    pub(super) own_id: Option<TerminalId>,
    /// Where the output that was not shown begins.
    pub(super) position: u64,
    /// The end of its command as text, and whether the command succeeded.
    pub(super) exit: Option<(String, bool)>,
}

impl CallOutput {
    /// Records how many pieces of the content are left out. Returns whether the number has to be reported.
    pub(super) fn is_new_count(&mut self, left_out: usize) -> bool {
        left_out > 0 && std::mem::replace(&mut self.left_out, left_out) != left_out
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

    /// Records a terminal by a hash of its id. Returns its index if it is new.
    pub(super) fn add_terminal(&mut self, key: u64, id: &TerminalId) -> Option<usize> {
        if self.terminals.len() >= PIECES || self.terminals.iter().any(|terminal| terminal.key == key) {
            return None;
        }
        let own_id = (id.as_str().len() <= TERMINAL_ID).then(|| id.clone());
        self.terminals.push(CallTerminal { key, own_id, position: 0, exit: None });
        Some(self.terminals.len() - 1)
    }

    /// Whether more output is shown when it arrives.
    pub(super) fn shows_more(&self) -> bool {
        self.fold.shows_more()
    }

    /// Whether something is shown when the output ends.
    pub(super) fn has_end(&self) -> bool {
        self.fold.has_end() || self.terminals.iter().any(|terminal| terminal.exit.is_some())
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
    /// The continuation of the output before.
    More(&'a str),
    /// All of it, or the last part.
    Whole(&'a str),
}

/// The shown parts of the tool calls, by their indices in the conversation.
#[derive(Default)]
pub(super) struct CallOutputs {
    /// Whether all of an output is kept until it is shown.
    keeps_whole: bool,
    calls: HashMap<usize, CallOutput>,
    /// The oldest first.
    order: VecDeque<usize>,
    /// The texts of the calls, by their calls and their sources: a place in the content, or a terminal.
    texts: ShownTexts<(usize, usize)>,
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

    /// Records a text of the content. Returns the part of it that was not shown.
    pub(super) fn new_text<'a>(&mut self, call: usize, place: usize, text: &'a str) -> &'a str {
        let is_first = self.texts.get((call, place)).is_none();
        let mut new = self.texts.replace((call, place), text);
        // An agent may send the output of a terminal as a text too.
        let terminals = if is_first { self.get(call).terminals.len() } else { 0 };
        for terminal in 0..terminals {
            if let Some(shown) = self.texts.get((call, terminal_source(terminal))) {
                new = shown.not_in(new);
            }
        }
        new
    }

    /// Records output of a terminal. Returns the part of it that was not shown.
    pub(super) fn new_output<'a>(&mut self, call: usize, source: usize, output: TerminalText<'a>) -> &'a str {
        match output {
            TerminalText::More(more) => {
                self.texts.add((call, source), more);
                more
            }
            TerminalText::Whole(whole) => self.texts.replace((call, source), whole),
        }
    }

    /// Shows new output of a call, or keeps it until the end of the call.
    pub(super) fn draw(
        &mut self,
        screen: &mut Screen,
        call: usize,
        source: usize,
        new: &str,
    ) -> io::Result<()> {
        self.get(call).fold.push(screen, call, source, new)?;
        let mut weight: usize = self.calls.values().map(|output| output.fold.weight()).sum();
        for oldest in &self.order {
            if weight <= WHOLE_OUTPUTS {
                break;
            }
            if let Some(output) = self.calls.get_mut(oldest) {
                weight -= output.fold.weight();
                output.fold.give_up_whole();
            }
        }
        Ok(())
    }

    /// The oldest call, if `call` displaces it.
    pub(super) fn displaced_by(&self, call: usize) -> Option<usize> {
        let has_room = self.calls.contains_key(&call) || self.order.len() < CALLS;
        if has_room { None } else { self.order.get(self.oldest()).copied() }
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
        if let Some(call) = self.order.remove(self.oldest()) {
            self.calls.remove(&call);
        }
    }

    /// The index in `order` of the oldest call that has ended, or else of the oldest one.
    fn oldest(&self) -> usize {
        self.order.iter().position(|call| self.calls[call].has_ended).unwrap_or(0)
    }
}

/// The source of the output of a terminal, which is not a place in the content.
pub(super) fn terminal_source(place: usize) -> usize {
    usize::MAX - place
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::draw::tests::Paper;
    use crate::terminal::Style;

    /// An agent runs many commands at once, and each writes much.
    #[test]
    fn the_outputs_of_many_calls_take_no_more_than_the_limit() {
        let paper = Paper::default();
        let mut screen = Screen::new(Box::new(paper.clone()), Style::default());
        let mut calls = CallOutputs::new(true);
        let text = "some words on each line\n".repeat(1 << 13);
        for _ in 0..3 {
            for call in 0..2 * CALLS {
                calls.draw(&mut screen, call, 0, &text).unwrap();
                let weights = calls.calls.values().map(|output| output.fold.weight());
                assert!(weights.sum::<usize>() <= WHOLE_OUTPUTS && calls.calls.len() <= CALLS);
            }
        }
        paper.text();
        let oldest = calls.order[0];
        let whole = calls.get(oldest).finish(&mut screen, oldest, true).unwrap().unwrap();
        let end = "  some words on each line\n".repeat(20);
        assert_eq!(paper.text(), format!("  … 8152 lines, :last shows the last of them\n{end}"));
        whole.draw(&mut screen).unwrap();
        assert_eq!(paper.text(), format!("  … {} bytes are not kept\n", text.len()));
    }
}

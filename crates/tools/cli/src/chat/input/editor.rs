//! The line editor, with history and completion. It can be interrupted to give up the terminal.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossterm::event::{KeyCode, KeyModifiers};
use reedline::{
    Completer, EditCommand, Emacs, MenuBuilder as _, PromptEditMode, PromptHistorySearch, Reedline,
    ReedlineEvent, ReedlineMenu, SearchDirection, SearchQuery, Signal, Span, Suggestion,
    default_emacs_keybindings,
};

use super::complete::Completions;
use super::edit_outcome::EditOutcome;
use crate::output::text::one_line;
use crate::terminal::Style;

const MENU: &str = "completion";

/// The timeout for the line editor to give up the terminal.
const INTERRUPT_TIMEOUT: Duration = Duration::from_secs(2);

/// Edits lines at the terminal.
pub(in crate::chat) struct Editor {
    /// `None` while a thread reads from the terminal.
    reedline: Option<Reedline>,
    completions: Completions,
    stop: Arc<AtomicBool>,
}

impl Editor {
    /// `None` in a build without the feature `editor`.
    pub(in crate::chat) fn open(completions: Completions) -> Option<Self> {
        let stop = Arc::<AtomicBool>::default();
        Some(Self { reedline: Some(reedline(completions.clone(), stop.clone())), completions, stop })
    }

    /// Adds text that was typed before the next read. An Enter in it does not send the line.
    pub(in crate::chat) fn add(&mut self, typed: &str) {
        let typed: String = typed
            .trim_end()
            .chars()
            .filter(|character| *character == '\n' || !character.is_control())
            .collect();
        if let Some(reedline) = self.reedline.as_mut().filter(|_| !typed.is_empty()) {
            reedline.run_edit_commands(&[EditCommand::InsertString(typed)]);
        }
    }

    /// Reads a line, until `interruption` completes. The editor has given up the terminal when this returns.
    pub(in crate::chat) async fn read(
        &mut self,
        interruption: impl Future<Output = ()>,
    ) -> io::Result<EditOutcome> {
        let Some(mut reedline) = self.reedline.take() else {
            return Err(io::Error::other("the editor is gone"));
        };
        self.stop.store(false, Ordering::Relaxed);
        // Reading blocks, so a thread does it.
        let mut reading = tokio::task::spawn_blocking(move || {
            let signal = reedline.read_line(&Prompt);
            (reedline, signal)
        });
        let read = tokio::select! {
            biased;
            read = &mut reading => read,
            () = interruption => {
                self.stop.store(true, Ordering::Relaxed);
                // Reading from a terminal that was hung up never ends.
                let gone = |_| io::Error::other("the terminal is gone");
                tokio::time::timeout(INTERRUPT_TIMEOUT, reading).await.map_err(gone)?
            }
        };
        let (reedline, signal) = read?;
        let outcome = match signal? {
            Signal::Success(line) => EditOutcome::Line(line),
            Signal::CtrlC => EditOutcome::Cleared,
            Signal::CtrlD => EditOutcome::End,
            Signal::HostCommand(_) => EditOutcome::Suspended,
            _ => EditOutcome::Interrupted,
        };
        self.reedline = Some(match outcome {
            EditOutcome::Suspended | EditOutcome::Interrupted => self.renewed(&reedline),
            _ => reedline,
        });
        Ok(outcome)
    }

    /// A new editor with the same text and history, whose prompt begins at the cursor. The old editor would draw its prompt at the
    /// old place, over a line that was written there since.
    fn renewed(&self, before: &Reedline) -> Reedline {
        let mut next = reedline(self.completions.clone(), self.stop.clone());
        let all = SearchQuery::everything(SearchDirection::Forward, None);
        for item in before.history().search(all).unwrap_or_default() {
            // This history has no file, so saving cannot fail.
            let _saved = next.history_mut().save(item);
        }
        let position = before.current_insertion_point();
        next.run_edit_commands(&[
            EditCommand::InsertString(before.current_buffer_contents().to_owned()),
            EditCommand::MoveToPosition { position, select: false },
        ]);
        next
    }
}

/// A line editor. `stop` interrupts it.
fn reedline(completions: Completions, stop: Arc<AtomicBool>) -> Reedline {
    let menu = reedline::ColumnarMenu::default().with_name(MENU);
    let mut keys = default_emacs_keybindings();
    let open = [ReedlineEvent::Menu(MENU.into()), ReedlineEvent::MenuNext];
    keys.add_binding(KeyModifiers::NONE, KeyCode::Tab, ReedlineEvent::UntilFound(open.into()));
    keys.add_binding(KeyModifiers::SHIFT, KeyCode::BackTab, ReedlineEvent::MenuPrevious);
    let newline = ReedlineEvent::Edit(vec![EditCommand::InsertNewline]);
    keys.add_binding(KeyModifiers::ALT, KeyCode::Enter, newline);
    // By default, this key undoes an edit.
    let suspend = ReedlineEvent::ExecuteHostCommand("".into());
    keys.add_binding(KeyModifiers::CONTROL, KeyCode::Char('z'), suspend);
    Reedline::create()
        .with_break_signal(stop)
        .with_ansi_colors(Style::of(true).colours)
        // Lines that are pasted together are one prompt.
        .use_bracketed_paste(true)
        .with_completer(Box::new(completions))
        .with_quick_completions(true)
        .with_partial_completions(true)
        .with_menu(ReedlineMenu::EngineCompleter(Box::new(menu)))
        .with_edit_mode(Box::new(Emacs::new(keys)))
}

impl Completer for Completions {
    fn complete(&mut self, line: &str, cursor: usize) -> Vec<Suggestion> {
        let typed = line.get(..cursor).unwrap_or(line);
        let candidates = Completions::complete(self, typed).into_iter();
        let suggestions = candidates.map(|candidate| Suggestion {
            value: candidate.text,
            description: candidate.about.map(|about| one_line(&about)),
            span: Span::new(candidate.start, cursor),
            append_whitespace: candidate.is_whole,
            ..Suggestion::default()
        });
        suggestions.collect()
    }
}

struct Prompt;

impl reedline::Prompt for Prompt {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        "".into()
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        "".into()
    }

    fn render_prompt_indicator(&self, _: PromptEditMode) -> Cow<'_, str> {
        "> ".into()
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        ". ".into()
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        format!("search {:?}: ", search.term).into()
    }
}

#[cfg(test)]
mod tests {
    use reedline::HistoryItem;

    use super::*;

    #[test]
    fn interrupted_editor_keeps_its_text_and_history() {
        let editor = Editor::open(Completions::default()).unwrap();
        let mut before = reedline(Completions::default(), editor.stop.clone());
        for line in ["first", "second\nline", "third"] {
            before.history_mut().save(HistoryItem::from_command_line(line)).unwrap();
        }
        before.run_edit_commands(&[
            EditCommand::InsertString("größer".into()),
            EditCommand::MoveLeft { select: false },
        ]);
        let next = editor.renewed(&before);
        assert_eq!(next.current_buffer_contents(), "größer");
        assert_eq!(next.current_insertion_point(), before.current_insertion_point());
        let all = SearchQuery::everything(SearchDirection::Forward, None);
        let lines: Vec<_> =
            next.history().search(all).unwrap().into_iter().map(|item| item.command_line).collect();
        assert_eq!(lines, ["first", "second\nline", "third"]);
    }
}

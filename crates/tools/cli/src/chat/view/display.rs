//! The display of a session: its conversation, drawn as it grows. The same for both versions of the protocol.

use std::hash::{BuildHasher as _, Hash, RandomState};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use agentwire_acp_schema::v1::{ContentBlock, StopReason};
use agentwire_acp_toolkit::{Applied, Change, Conversation, MessageKind, ShownOutput, Update};
use agentwire_sync::Mutex;

use super::update_text::{self, MessageText};
use crate::chat::draw::{OwnTerminals, Renderer};
use crate::chat::input::complete::Completions;
use crate::chat::session::per_session::{PerSession, SessionChange};
use crate::chat::settings;
use crate::terminal::{Screen, View};

/// The most memory of the conversation: 8 MiB. Messages are shown as they arrive, and are not kept.
const CONVERSATION_LIMIT: usize = 8 << 20;

/// The most lines of a prompt that are shown again.
const PROMPT_LINES: usize = 20;

/// The display of a session for a person.
pub(in crate::chat) struct Display {
    view: Arc<View>,
    completions: Completions,
    conversation: Mutex<PerSession<Conversation>>,
    renderer: Mutex<PerSession<Renderer>>,
    hasher: RandomState,
    /// Whether a turn runs or a session is being opened. Settings that change in this time are shown after it.
    in_flow: AtomicBool,
    in_turn: AtomicBool,
    /// Whether a session is being opened with the conversation of earlier turns.
    in_replay: AtomicBool,
    /// Whether something of an earlier turn was shown.
    has_replayed: AtomicBool,
    /// The number of parts of updates in this turn that were too large to be kept.
    omitted: AtomicUsize,
    options: DisplayOptions,
}

/// The parts that a display shows.
#[derive(Clone, Copy, Debug)]
pub(in crate::chat) struct DisplayOptions {
    /// Whether the conversation of earlier turns is shown.
    pub(in crate::chat) shows_replay: bool,
    /// Whether the person can type commands.
    pub(in crate::chat) is_interactive: bool,
}

impl Display {
    pub(in crate::chat) fn new(view: Arc<View>, completions: Completions, options: DisplayOptions) -> Self {
        let renderer = Renderer::new(view.is_quiet(), options.is_interactive);
        Self {
            view,
            completions,
            conversation: PerSession::new(Conversation::new().limit(CONVERSATION_LIMIT)).into(),
            renderer: PerSession::new(renderer).into(),
            hasher: RandomState::new(),
            in_flow: AtomicBool::default(),
            in_turn: AtomicBool::default(),
            in_replay: AtomicBool::default(),
            has_replayed: AtomicBool::default(),
            omitted: AtomicUsize::default(),
            options,
        }
    }

    /// Follows a change of the session: another one begins with an empty conversation.
    pub(in crate::chat) fn follow(&self, change: SessionChange) {
        let mut conversation = self.conversation.lock();
        conversation.follow(change, || Conversation::new().limit(CONVERSATION_LIMIT));
        settings::update_all_completions(&self.completions, &conversation);
        drop(conversation);
        let new = || Renderer::new(self.view.is_quiet(), self.options.is_interactive);
        self.renderer.lock().follow(change, new);
        if change == SessionChange::Fails {
            // Opening the session may have been interrupted.
            self.set_in_flow(false);
            self.set_in_replay(false);
        }
    }

    pub(in crate::chat) fn options(&self) -> DisplayOptions {
        self.options
    }

    /// Calls `look` with the current conversation.
    pub(in crate::chat) fn conversation<R>(&self, look: impl FnOnce(&mut Conversation) -> R) -> R {
        look(&mut self.conversation.lock())
    }

    /// Whether updates are not shown now, because they belong to earlier turns and `--no-replay` is given.
    pub(in crate::chat) fn hides(&self) -> bool {
        !self.options.shows_replay && self.in_replay.load(Ordering::Relaxed)
    }

    /// Called before a session is opened. With `replays`, the conversation of earlier turns may follow.
    pub(in crate::chat) fn opening_begins(&self, replays: bool) {
        self.set_in_flow(true);
        self.has_replayed.store(false, Ordering::Relaxed);
        self.set_in_replay(replays);
    }

    /// Called when the session is open, or cannot be opened. After a conversation of earlier turns a line marks its end.
    pub(in crate::chat) fn opening_ended(&self) -> io::Result<()> {
        self.set_in_flow(false);
        self.set_in_replay(false);
        self.draw(|renderer, screen| renderer.end_turn(screen, &self.conversation.lock(), &no_terminals))?;
        self.count_omitted()?;
        if self.has_replayed() {
            self.view.remark("── end of the earlier conversation ──")?;
        }
        Ok(())
    }

    fn set_in_replay(&self, in_replay: bool) {
        self.in_replay.store(in_replay, Ordering::Relaxed);
        self.renderer.lock().is_replay = in_replay;
    }

    /// Whether something of an earlier turn was shown.
    pub(in crate::chat) fn has_replayed(&self) -> bool {
        self.has_replayed.load(Ordering::Relaxed)
    }

    fn set_in_flow(&self, in_flow: bool) {
        self.in_flow.store(in_flow, Ordering::Relaxed);
    }

    /// Called when a turn begins. The agent's copies of the prompt are not shown.
    pub(in crate::chat) fn turn_begins(&self, prompt: Vec<ContentBlock>) {
        self.set_in_flow(true);
        // Opening a session may have been interrupted.
        self.set_in_replay(false);
        self.in_turn.store(true, Ordering::Relaxed);
        self.renderer.lock().is_in_turn = true;
        if !prompt.is_empty() {
            let _not_shown_again = self.conversation(|conversation| conversation.prompt(prompt));
        }
    }

    /// Called when a turn has ended. A failed turn counts as cancelled.
    pub(in crate::chat) fn turn_ended(&self, was_cancelled: bool, own: OwnTerminals<'_>) -> io::Result<()> {
        self.set_in_flow(false);
        self.in_turn.store(false, Ordering::Relaxed);
        let reason = if was_cancelled { StopReason::Cancelled } else { StopReason::EndTurn };
        let cancelled = self.conversation(|conversation| conversation.turn_ended(&reason));
        self.draw(|renderer, screen| {
            let conversation = self.conversation.lock();
            for index in cancelled {
                renderer.draw_cancelled(screen, &conversation, index)?;
            }
            renderer.is_in_turn = false;
            renderer.end_turn(screen, &conversation, own)
        })?;
        self.count_omitted()
    }

    /// Prints how many parts were left out after the first.
    fn count_omitted(&self) -> io::Result<()> {
        match self.omitted.swap(0, Ordering::Relaxed) {
            0 | 1 => Ok(()),
            count => self.view.tell(&format!("! {} more parts of updates are left out", count - 1)),
        }
    }

    /// Shows the settings that changed.
    pub(in crate::chat) fn show_settings(&self) -> io::Result<()> {
        self.draw(|renderer, screen| renderer.draw_settings(screen, &self.conversation.lock()))
    }

    /// Shows the new output of our terminals.
    pub(in crate::chat) fn show_running(&self, own: OwnTerminals<'_>) -> io::Result<()> {
        // Output between a question and its answer waits.
        if self.view.output().is_held() {
            return Ok(());
        }
        self.draw(|renderer, screen| renderer.draw_running(screen, &self.conversation.lock(), own))
    }

    /// Shows all of the last output that was shown in part.
    pub(in crate::chat) fn show_last(&self) -> io::Result<()> {
        let mut is_there = false;
        self.draw(|renderer, screen| {
            is_there = renderer.draw_last(screen)?;
            Ok(())
        })?;
        if is_there { Ok(()) } else { self.view.tell("No output was shown in part.") }
    }

    /// Records the initial settings of a session, so that they are not shown as changes.
    pub(in crate::chat) fn opened(&self, mut applied: Applied) -> io::Result<()> {
        if applied.change == Change::ConfigOptions {
            applied.change = Change::Settings;
        }
        self.show(&applied, &no_terminals)
    }

    /// Shows the changes of an update, and updates the completions.
    pub(in crate::chat) fn show(&self, applied: &Applied, own: OwnTerminals<'_>) -> io::Result<()> {
        settings::update_completions(&self.completions, &self.conversation.lock(), applied.change);
        if !self.hides() {
            let is_entry = applied.change.index().is_some();
            if is_entry && self.in_replay.load(Ordering::Relaxed) {
                self.has_replayed.store(true, Ordering::Relaxed);
            }
            self.draw(|renderer, screen| renderer.draw(screen, &self.conversation.lock(), applied, own))?;
        }
        if !self.in_flow.load(Ordering::Relaxed) {
            self.show_settings()?;
        }
        // Shows a person a note on the first part of a turn, and the number of the others at its end.
        let is_reported = |omitted| {
            omitted > 0 && (self.view.is_json() || self.omitted.fetch_add(1, Ordering::Relaxed) == 0)
        };
        match applied.omitted {
            bytes if is_reported(bytes) => self.view.not_stored(&format!(
                "a part of an update takes {bytes} bytes of memory, which is more than is kept: it is left out"
            )),
            _ => Ok(()),
        }
    }

    /// Applies and shows an update. The text of a message is shown and not kept. `has_whole_messages`: messages have ids and may
    /// be sent whole, as in version 2.
    pub(in crate::chat) fn update(
        &self,
        mut update: Update,
        has_whole_messages: bool,
        own: OwnTerminals<'_>,
    ) -> io::Result<()> {
        let in_turn = self.in_turn.load(Ordering::Relaxed);
        if has_whole_messages && in_turn && update_text::is_of_user(&update) {
            // The person's prompt is on the screen already.
            return Ok(());
        }
        update_text::remove_hidden_parts(&mut update);
        let text = update_text::take(&mut update, has_whole_messages);
        let applied = self.conversation(|conversation| conversation.apply(update));
        let Some(text) = text else { return self.show(&applied, own) };
        if self.hides() {
            return Ok(());
        }
        if self.in_replay.load(Ordering::Relaxed) {
            self.has_replayed.store(true, Ordering::Relaxed);
        }
        // The conversation knows which message a chunk without an id continues.
        let place = applied.change.index().filter(|_| text.id.is_none());
        let key = place.map_or_else(|| self.hash(&(text.kind, &text.id)), |index| index as u64);
        self.show_text(key, text)
    }

    /// Shows the text of a message: its continuation, or the new part of the whole.
    fn show_text(&self, key: u64, message: MessageText) -> io::Result<()> {
        let MessageText { kind, text, is_whole, may_be_whole, .. } = message;
        self.draw(|renderer, screen| {
            let text = match is_whole {
                true => renderer.new_part(key, &text),
                false => {
                    if may_be_whole {
                        renderer.add_to_message(key, &text);
                    }
                    text
                }
            };
            renderer.stream(screen, kind, key, text)
        })
    }

    fn hash(&self, id: &impl Hash) -> u64 {
        self.hasher.hash_one(id)
    }

    /// Shows the prompt of the new turn below an earlier conversation, up to [`PROMPT_LINES`] lines.
    pub(in crate::chat) fn show_prompt(&self, text: &str) -> io::Result<()> {
        let text = text.trim_end();
        let count = text.lines().count().saturating_sub(PROMPT_LINES);
        let shown: Vec<_> = text.lines().take(PROMPT_LINES).collect();
        self.draw(|renderer, screen| {
            renderer.stream(screen, MessageKind::User, u64::MAX, shown.join("\n"))?;
            screen.end_message()?;
            screen.more(count)
        })
    }

    fn draw(&self, draw: impl FnOnce(&mut Renderer, &mut Screen) -> io::Result<()>) -> io::Result<()> {
        self.view.on_screen(|screen| draw(&mut self.renderer.lock(), screen))
    }
}

/// The output of our terminals for a client without terminals.
pub(in crate::chat) fn no_terminals(_: &agentwire_acp_schema::v1::TerminalId, _: u64) -> Option<ShownOutput> {
    None
}

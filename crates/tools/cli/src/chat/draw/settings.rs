//! Draws the settings of a session: its mode, options, title and usage.

use std::io;

use agentwire_acp_schema::v1::{SessionConfigOption, SessionConfigOptionCategory, UsageUpdate};
use agentwire_acp_toolkit::{Change, Conversation};

use crate::chat::settings::current_value;
use crate::terminal::{MAX_ITEMS, Screen, ValueHashes, plain_title, short};

/// The settings that were drawn.
#[derive(Default)]
pub(super) struct Settings {
    /// The mode, shortened. An agent may report it as the mode and as an option.
    mode: Option<String>,
    /// The values of the current options, by their ids.
    options: ValueHashes,
    /// Whether the title has changed since it was shown.
    new_title: bool,
    /// Whether the usage has changed since it was shown.
    new_usage: bool,
    /// The usage, shortened.
    usage: Option<String>,
}

impl Settings {
    /// Draws a change of the settings, or records it for [`draw_later`](Self::draw_later).
    pub(super) fn draw(
        &mut self,
        screen: &mut Screen,
        conversation: &Conversation,
        change: Change,
    ) -> io::Result<()> {
        match change {
            Change::Mode => self.draw_mode(screen, conversation, true)?,
            Change::ConfigOptions => self.draw_options(screen, conversation, true)?,
            Change::Settings => {
                self.draw_mode(screen, conversation, false)?;
                self.draw_options(screen, conversation, false)?;
            }
            Change::Info { title } => self.new_title |= title,
            Change::Usage => self.new_usage = true,
            _ => {}
        }
        Ok(())
    }

    /// Shows the title and the usage of the context if they changed.
    pub(super) fn draw_later(&mut self, screen: &mut Screen, conversation: &Conversation) -> io::Result<()> {
        if std::mem::take(&mut self.new_title)
            && let Some(title) = conversation.title()
        {
            screen.dim(&format!("title: {}", short(&plain_title(title))))?;
        }
        if std::mem::take(&mut self.new_usage) {
            let usage = conversation.usage().map(usage_text);
            if usage != self.usage {
                if let Some(usage) = &usage {
                    screen.dim(usage)?;
                }
                self.usage = usage;
            }
        }
        screen.flush()
    }

    /// Records the mode, and shows it if it is new.
    fn draw_mode(&mut self, screen: &mut Screen, conversation: &Conversation, show: bool) -> io::Result<()> {
        let Some(mode) = conversation.current_mode().map(|mode| short(mode.as_str())) else { return Ok(()) };
        if show && self.mode.as_ref() != Some(&mode) {
            screen.dim(&format!("mode: {mode}"))?;
        }
        self.mode = Some(mode);
        Ok(())
    }

    /// Records the options, and shows those whose value is new.
    fn draw_options(
        &mut self,
        screen: &mut Screen,
        conversation: &Conversation,
        show: bool,
    ) -> io::Result<()> {
        let values = conversation.config_options().map(|option| (option.id.as_str(), current_value(option)));
        let mut new = self.options.replace(values).into_iter().peekable();
        let mut shown = 0;
        for (index, option) in conversation.config_options().enumerate() {
            if new.next_if_eq(&index).is_none() {
                continue;
            }
            let Some(value) = current_value(option) else { continue };
            if is_mode(option) && self.mode.replace(short(value)).as_deref() == Some(&*short(value)) {
                continue;
            }
            shown += usize::from(show);
            if show && shown <= MAX_ITEMS {
                screen.dim(&format!("{}: {}", short(&option.name), short(value)))?;
            }
        }
        screen.more(shown.saturating_sub(MAX_ITEMS))
    }
}

fn is_mode(option: &SessionConfigOption) -> bool {
    option.category == Some(SessionConfigOptionCategory::Mode)
}

fn usage_text(usage: &UsageUpdate) -> String {
    let cost = usage.cost.as_ref().map(|cost| format!(", {:.2} {}", cost.amount, short(&cost.currency)));
    let cost = cost.unwrap_or_default();
    match (u128::from(usage.used) * 100).checked_div(u128::from(usage.size)) {
        Some(part) => format!("context: {part} % of {} tokens{cost}", usage.size),
        None => format!("context: {} tokens{cost}", usage.used),
    }
}

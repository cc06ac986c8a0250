//! Output for people and programs, and questions to the person at the terminal.

mod diagnostics;
mod diff;
mod form;
mod keyboard;
mod lines;
mod markdown;
mod modes;
mod screen;
mod shown;
mod stderr;
mod style;
mod user;
mod view;

pub(crate) use self::keyboard::TypedInput;
pub(crate) use self::modes::{TerminalModes, is_dumb};
pub(crate) use self::screen::{MAX_ITEMS, Mark, Screen, StreamedMessage};
pub(crate) use self::shown::{ValueHashes, plain_title, short};
pub(crate) use self::style::Format;
pub(crate) use self::user::User;
pub(crate) use self::view::View;
#[allow(unused_imports, reason = "only parts behind features use them")]
pub(crate) use self::{modes::drop_unread_input, style::Style};

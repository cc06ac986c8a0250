//! The control sequences that a stream supports, and the requested form of the output.

use std::env;

use clap::ValueEnum;

use super::modes::is_dumb;

/// The form of the output of `chat`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// The answer on stdout, and what the agent does on the terminal or on stderr
    #[default]
    Text,
    /// The answer alone
    Quiet,
    /// One JSON object a line on stdout
    Json,
}

/// The control sequences that a stream supports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Style {
    /// Colours, and drawn Markdown.
    pub(crate) colours: bool,
    /// Lines that are redrawn.
    pub(crate) redraws: bool,
}

impl Style {
    /// The style of a stream, by the variables `TERM` and `NO_COLOR` if it is a terminal. See <https://no-color.org>.
    pub(crate) fn of(is_terminal: bool) -> Self {
        let redraws = is_terminal && !is_dumb();
        let has_colours = env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Self { colours: redraws && has_colours, redraws }
    }
}

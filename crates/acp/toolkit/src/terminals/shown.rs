//! The output of a terminal since a position, for views.

use agentwire_acp_schema::v1::{TerminalExitStatus, TerminalId};

use super::{Terminals, last_bytes};

/// The output of a terminal since a position. [`Terminals::shown_since`] returns it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ShownOutput {
    /// The text from the position on, or the part of it that is kept.
    pub output: String,
    /// The position of its end, for the next call. A position counts the bytes of all output as text.
    pub position: u64,
    /// How the command ended, if it has.
    pub exit_status: Option<TerminalExitStatus>,
}

impl ShownOutput {
    /// Makes output whose end has this position.
    pub fn new(output: impl Into<String>, position: u64) -> Self {
        Self { output: output.into(), position, exit_status: None }
    }

    /// Sets how the command ended.
    #[must_use]
    pub fn exit_status(mut self, exit_status: TerminalExitStatus) -> Self {
        self.exit_status = Some(exit_status);
        self
    }
}

impl Terminals {
    /// Returns the output of a terminal since a position, which is 0 at first, also after the release. A view of a running
    /// command so copies only new output. `None` for an unknown terminal, or if the output was dropped over the limit.
    ///
    /// ```no_run
    /// # fn show(terminals: &agentwire_acp_toolkit::Terminals, id: agentwire_acp_schema::v1::TerminalId) {
    /// let mut position = 0;
    /// while let Some(shown) = terminals.shown_since(&id, position) {
    ///     print!("{}", shown.output);
    ///     position = shown.position;
    /// #   break;
    /// }
    /// # }
    /// ```
    pub fn shown_since(&self, id: &TerminalId, position: u64) -> Option<ShownOutput> {
        match self.terminal(id) {
            Ok(terminal) => {
                let (output, end, exit_status) = terminal.output_since(position);
                Some(ShownOutput { output, position: end, exit_status })
            }
            Err(_) => {
                let released = self.released();
                let (kept, end) = released.output(id)?;
                let start = end - kept.output.len() as u64;
                let offset = usize::try_from(position.saturating_sub(start)).unwrap_or(usize::MAX);
                let output = last_bytes(&kept.output, kept.output.len().saturating_sub(offset)).to_owned();
                Some(ShownOutput { output, position: end, exit_status: kept.exit_status.clone() })
            }
        }
    }
}

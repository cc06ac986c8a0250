//! Escapes and shortens text of a peer for a terminal.

use std::fmt;

use agentwire_jsonrpc::Printable;

/// The most characters of a text that are shown.
const LENGTH: usize = 500;

/// The beginning of a text, escaped so that it cannot control a terminal.
pub(crate) struct Shown<'a>(pub(crate) &'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.char_indices().nth(LENGTH) {
            Some((end, _)) => write!(f, "{}…", Printable::one_line(&self.0[..end])),
            None => write!(f, "{}", Printable::one_line(self.0)),
        }
    }
}

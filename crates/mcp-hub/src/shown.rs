use std::fmt;

use agentwire_jsonrpc::Printable;

/// Shows what may hold the words of a server, or of a model, so that they steer no terminal.
pub(crate) struct Shown<T>(pub(crate) T);

impl<T: fmt::Display> fmt::Display for Shown<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Printable::new(&self.0.to_string()).fmt(f)
    }
}

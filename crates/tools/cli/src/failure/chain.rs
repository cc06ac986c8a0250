//! Walks through an error and its causes.

use std::error::Error;

use agentwire_jsonrpc::Printable;
pub(super) use agentwire_transport::chain;

use crate::output::text::beginning;

/// The most bytes of an error's text that are shown. The other side's text may have any length.
pub(super) const TEXT_LIMIT: usize = 16 << 10;

/// An error and its causes as one text, each once, with escapes: a cause from another crate may have a peer's text unescaped.
pub(super) fn causes(error: &(dyn Error + 'static)) -> String {
    let mut all = String::new();
    for cause in chain(error).map(|cause| beginning(Printable::display(cause), TEXT_LIMIT)) {
        if all.is_empty() {
            all = cause;
        } else if !all.contains(&cause) {
            all = format!("{all}: {cause}");
        }
    }
    all
}

/// The result of `explain` for an error of its type.
pub(super) fn of_type<E: Error + 'static, R>(
    error: &(dyn Error + 'static),
    explain: impl FnOnce(&E) -> Option<R>,
) -> Option<R> {
    error.downcast_ref().and_then(explain)
}

//! An error and its causes.

use std::error::Error;

use crate::text::beginning;

/// How many bytes of an error's text are shown. The text may be the other side's, of any length.
pub(super) const TEXT_LIMIT: usize = 16 << 10;

/// The error, and each of its causes.
pub(super) fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

/// An error with its causes as a text that has each once.
pub(super) fn causes(error: &(dyn Error + 'static)) -> String {
    let mut all = String::new();
    for cause in chain(error).map(|cause| beginning(cause, TEXT_LIMIT)) {
        if all.is_empty() {
            all = cause;
        } else if !all.contains(&cause) {
            all = format!("{all}: {cause}");
        }
    }
    all
}

//! An error and its causes.

use std::error::Error;

/// The error, and each of its causes.
pub(super) fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

/// An error with its causes as a text that has each once.
pub(super) fn causes(error: &(dyn Error + 'static)) -> String {
    let mut all = String::new();
    for cause in chain(error).map(ToString::to_string) {
        if all.is_empty() {
            all = cause;
        } else if !all.contains(&cause) {
            all = format!("{all}: {cause}");
        }
    }
    all
}

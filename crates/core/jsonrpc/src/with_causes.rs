//! The text of an error with its causes.

use std::error::Error;
use std::fmt;
use std::iter::successors;

use crate::Printable;

/// Displays an error and its [sources](Error::source) as `message: cause: its cause`.
///
/// `Display` of an error in these crates is its own text, without those of its sources. Use this to show an error to a person.
/// A cause that the text before it already contains is left out, because some errors of other crates display their sources
/// themselves. [`Printable`] escapes what could steer a terminal; [`plain`](Self::plain) does not.
///
/// ```
/// use std::fmt;
/// use std::io;
///
/// use agentwire_jsonrpc::WithCauses;
///
/// #[derive(Debug)]
/// struct Unreadable(io::Error);
///
/// impl fmt::Display for Unreadable {
///     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
///         f.write_str("the settings cannot be read")
///     }
/// }
///
/// impl std::error::Error for Unreadable {
///     fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
///         Some(&self.0)
///     }
/// }
///
/// let error = Unreadable(io::Error::other("the disk is gone"));
/// assert_eq!(WithCauses::new(&error).to_string(), "the settings cannot be read: the disk is gone");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct WithCauses<'a>(&'a (dyn Error + 'static));

impl<'a> WithCauses<'a> {
    /// Shows this error.
    pub fn new(error: &'a (dyn Error + 'static)) -> Self {
        Self(error)
    }

    /// The same text without escapes: for a program or a model, not for a terminal.
    pub fn plain(self) -> String {
        let mut text = String::new();
        for error in successors(Some(self.0), |error| (*error).source()) {
            let cause = error.to_string();
            // An error may have escaped the text of its cause.
            if text.contains(&cause) || shown(&text).contains(&shown(&cause)) {
                continue;
            }
            if !text.is_empty() {
                text.push_str(": ");
            }
            text.push_str(&cause);
        }
        text
    }
}

impl fmt::Display for WithCauses<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Printable::new(&self.plain()), f)
    }
}

fn shown(text: &str) -> String {
    Printable::new(text).to_string()
}

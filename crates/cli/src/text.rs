//! What people read.

use std::io::{self, Write};

/// Prints a line to stdout, without what would steer the terminal.
pub(crate) fn line(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}", printable(text))?;
    out.flush()
}

/// Says a line on stderr, without what would steer the terminal. If nobody is there to read it, nobody is told.
pub(crate) fn note(text: &str) {
    let _nobody = writeln!(io::stderr().lock(), "{}", printable(text));
}

/// What others wrote, without what would steer the terminal.
pub(crate) fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}

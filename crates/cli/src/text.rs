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

/// What others wrote, without what would steer the terminal or turn the order of what is read around.
pub(crate) fn printable(text: &str) -> String {
    let steers = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    let turns = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().filter(|c| !steers(*c) && !turns(*c)).collect()
}

/// The same where there is one line for it: what follows a line break must not pass for a line of ours.
pub(crate) fn one_line(text: &str) -> String {
    printable(text).replace(['\n', '\t'], " ")
}

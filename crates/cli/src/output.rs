//! What programs read: one JSON object a line, each written out at once.

use std::io::{self, Write};

use serde::{Serialize, Serializer};

/// Prints JSON to stdout, a line at a time.
#[derive(Debug, Default)]
pub(crate) struct JsonLines;

impl JsonLines {
    pub(crate) fn print<T: Serialize>(&mut self, value: &T) -> io::Result<()> {
        json_line(&mut io::stdout().lock(), value)
    }
}

/// Writes an object as one line.
pub(crate) fn json_line<T: Serialize>(out: &mut impl Write, value: &T) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    out.write_all(&line)?;
    out.flush()
}

/// An object with one member, whose value keeps the order in which it writes its own.
pub(crate) struct Member<'a, T>(pub(crate) &'a str, pub(crate) &'a T);

impl<T: Serialize> Serialize for Member<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([(self.0, self.1)])
    }
}

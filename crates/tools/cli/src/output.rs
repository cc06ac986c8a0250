//! Output for programs: one JSON object a line.

pub(crate) mod list_line;
pub(crate) mod local_time;
pub(crate) mod output_queue;
pub(crate) mod pretty;
pub(crate) mod schema_reference;
pub(crate) mod signature;
pub(crate) mod text;

use std::io::{self, BufWriter, Write};

use agentwire_jsonrpc::Printable;
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

/// The buffer of stdout: 64 KiB.
const BUFFER: usize = 64 << 10;

/// Prints an object to stdout as one line, and flushes stdout.
pub(crate) fn print_json<T: Serialize>(value: &T) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(BUFFER, io::stdout().lock());
    json_line(&mut out, value)
}

/// Writes an object as one line, and flushes. Characters that control a terminal are escaped. The line is written in small
/// pieces, because it can be three times as long as the value; `out` should have a buffer.
pub(crate) fn json_line<T: Serialize>(out: &mut dyn Write, value: &T) -> io::Result<()> {
    serde_json::to_writer(EscapingWriter(out), value)?;
    out.write_all(b"\n")?;
    out.flush()
}

/// Writes JSON with spaces for line breaks, and with an escape for each other character that is not printable.
struct EscapingWriter<'a>(&'a mut dyn Write);

impl Write for EscapingWriter<'_> {
    /// Takes whole characters, as `serde_json` writes them.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text =
            str::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        write!(self.0, "{}", Printable::one_line(text).json())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// The object `{name: value}`.
pub(crate) struct Member<'a, T>(pub(crate) &'a str, pub(crate) &'a T);

impl<T: Serialize> Serialize for Member<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([(self.0, self.1)])
    }
}

/// An update of a session: the object `{"update": update, "sessionId": session}`.
pub(crate) struct SessionUpdateLine<'a, T> {
    pub(crate) update: &'a T,
    pub(crate) session: &'a str,
}

impl<T: Serialize> Serialize for SessionUpdateLine<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_map(Some(2))?;
        members.serialize_entry("update", self.update)?;
        members.serialize_entry("sessionId", self.session)?;
        members.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_takes_one_line_and_is_escaped() {
        let text = "\u{1b}[2J\u{9b}m\u{7f}\u{202e}\u{2028}\u{e0041}\r\nред 漢字";
        let mut line = Vec::new();
        json_line(&mut line, &Member("text", &text)).unwrap();
        let line = String::from_utf8(line).unwrap();
        let escapes = r#"{"text":"\u001b[2J\u009bm\u007f\u202e\u2028\udb40\udc41\r\nред 漢字"}"#;
        assert_eq!(line, format!("{escapes}\n"));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&line).unwrap()["text"], text);
        // A peer's raw JSON is unchanged but for line breaks.
        let raw = serde_json::value::RawValue::from_string("{\n\t\"a\":\r\n1}".into()).unwrap();
        let mut line = Vec::new();
        json_line(&mut line, &raw).unwrap();
        assert_eq!(line, b"{  \"a\":  1}\n");
    }
}

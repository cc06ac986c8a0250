//! What programs read: one JSON object a line, each written out at once.

use std::io::{self, BufWriter, Write};

use agentwire_jsonrpc::Printable;
use serde::{Serialize, Serializer};

/// Prints JSON to stdout, a line at a time.
#[derive(Debug, Default)]
pub(crate) struct JsonLines;

impl JsonLines {
    pub(crate) fn print<T: Serialize>(&mut self, value: &T) -> io::Result<()> {
        let mut out = BufWriter::with_capacity(BUFFER, io::stdout().lock());
        json_line(&mut out, value)
    }
}

/// How many bytes are written to stdout at once.
const BUFFER: usize = 64 << 10;

/// Writes an object as one line, in which whatever would steer a terminal is escaped. It never holds the whole line: that
/// can be three times as long as what it is about. What writes many small pieces slowly needs a buffer.
pub(crate) fn json_line<T: Serialize>(out: &mut impl Write, value: &T) -> io::Result<()> {
    serde_json::to_writer(Escaping(&mut *out), value)?;
    out.write_all(b"\n")?;
    out.flush()
}

/// Writes JSON without line breaks, and with an escape for each other character that is not shown as itself.
struct Escaping<W>(W);

impl<W: Write> Escaping<W> {
    fn write_text(&mut self, mut rest: &str) -> io::Result<()> {
        loop {
            let plain = Printable::one_line(rest).plain_start();
            self.0.write_all(plain.as_bytes())?;
            let mut characters = rest[plain.len()..].chars();
            let Some(character) = characters.next() else { return Ok(()) };
            rest = characters.as_str();
            match character {
                // Raw text of others may have white space between its members; a string cannot hold these.
                '\0'..=' ' => self.0.write_all(b" ")?,
                character => {
                    for unit in character.encode_utf16(&mut [0; 2]) {
                        write!(self.0, "\\u{unit:04x}")?;
                    }
                }
            }
        }
    }
}

impl<W: Write> Write for Escaping<W> {
    /// Takes whole characters, as `serde_json` writes them.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text =
            str::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        self.write_text(text)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// An object with one member, whose value keeps the order in which it writes its own.
pub(crate) struct Member<'a, T>(pub(crate) &'a str, pub(crate) &'a T);

impl<T: Serialize> Serialize for Member<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([(self.0, self.1)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_json_is_one_line_and_steers_nothing() {
        let text = "\u{1b}[2J\u{9b}m\u{7f}\u{202e}\u{2028}\u{e0041}\r\nред 漢字";
        let mut line = Vec::new();
        json_line(&mut line, &Member("text", &text)).unwrap();
        let line = String::from_utf8(line).unwrap();
        let escapes = r#"{"text":"\u001b[2J\u009bm\u007f\u202e\u2028\udb40\udc41\r\nред 漢字"}"#;
        assert_eq!(line, format!("{escapes}\n"));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&line).unwrap()["text"], text);
        // What others wrote is passed on as they wrote it, but for its lines.
        let raw = serde_json::value::RawValue::from_string("{\n\t\"a\":\r\n1}".into()).unwrap();
        let mut line = Vec::new();
        json_line(&mut line, &raw).unwrap();
        assert_eq!(line, b"{  \"a\":  1}\n");
    }
}

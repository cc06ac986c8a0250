//! Finds the lines on a child's stdout that are not JSON-RPC, such as a log, and passes them to a function.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures::AsyncRead;

use crate::input_output::Input;

/// The most bytes of such a line that the function gets.
const MAX_LINE: usize = 500;

/// The function that gets each such line.
pub(super) type ReportLine = Arc<dyn Fn(&str) + Send + Sync>;

/// A child's stdout.
#[derive(Debug)]
pub(super) struct Stdout {
    input: Input,
    text: Option<TextLines>,
}

impl Stdout {
    /// Passes the lines that are not JSON-RPC to `report`, and all bytes to the reader.
    pub(super) fn new(input: Input, report: Option<ReportLine>) -> Self {
        Self { input, text: report.map(TextLines::new) }
    }
}

impl AsyncRead for Stdout {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let count = ready!(Pin::new(&mut this.input).poll_read(cx, buffer))?;
        if let Some(text) = &mut this.text {
            match count {
                0 => text.end(),
                count => text.take(&buffer[..count]),
            }
        }
        Poll::Ready(Ok(count))
    }
}

/// The line that is read at present.
#[derive(Debug)]
enum Line {
    /// Only white space so far.
    Start,
    /// A JSON object or an array.
    Json,
    /// Anything else, with its beginning.
    Text(Vec<u8>),
}

struct TextLines {
    line: Line,
    report: ReportLine,
}

impl TextLines {
    fn new(report: ReportLine) -> Self {
        Self { line: Line::Start, report }
    }

    fn take(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let [first, after @ ..] = rest {
            if matches!(self.line, Line::Start) {
                match first {
                    b' ' | b'\t' | b'\r' | b'\n' => {
                        rest = after;
                        continue;
                    }
                    b'{' | b'[' => self.line = Line::Json,
                    _ => self.line = Line::Text(Vec::new()),
                }
            }
            let end = rest.iter().position(|byte| *byte == b'\n');
            let (line, after) = rest.split_at(end.unwrap_or(rest.len()));
            if let Line::Text(text) = &mut self.line {
                text.extend_from_slice(&line[..line.len().min(MAX_LINE - text.len())]);
            }
            if end.is_some() {
                self.end();
            }
            rest = after;
        }
    }

    fn end(&mut self) {
        if let Line::Text(text) = std::mem::replace(&mut self.line, Line::Start) {
            let text = String::from_utf8_lossy(&text);
            let without_mark = text.trim_start_matches('\u{feff}');
            let is_json =
                without_mark.len() < text.len() && without_mark.trim_start().starts_with(['{', '[']);
            if !is_json {
                (self.report)(text.trim_end());
            }
        }
    }
}

impl fmt::Debug for TextLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TextLines").field("line", &self.line).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    fn reported(pieces: &[&str]) -> Vec<String> {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let copy = lines.clone();
        let mut text = TextLines::new(Arc::new(move |line: &str| copy.lock().unwrap().push(line.to_owned())));
        for piece in pieces {
            text.take(piece.as_bytes());
        }
        text.end();
        std::mem::take(&mut lines.lock().unwrap())
    }

    #[test]
    fn lines_that_begin_as_json_are_left_out() {
        let all = ["{\"a\":1}\nServer runs\r\n\n  [1]\nhalf", " a line\n", "{", "\"b\"\n", "the end"];
        assert_eq!(reported(&all), ["Server runs", "half a line", "the end"]);
        assert_eq!(
            reported(&["\u{feff}{\"a\"", ":1}\n\u{feff}\u{feff} [2]\n", "\u{feff}text\n"]),
            ["\u{feff}text"]
        );
        let long = "x".repeat(2 * MAX_LINE);
        assert_eq!(reported(&[&long, &long, "\n"]), ["x".repeat(MAX_LINE)]);
    }
}

//! The encoding of a record in a file.
//!
//! ```text
//! 0000002f 8d40f9c1 {"sessionUpdate":"agent_message_chunk", …}⏎
//! │        │        └ the record: JSON without line ends
//! │        └ the CRC-32 of the texts of all records up to this one
//! └ the length of the text in bytes; both in eight digits of lower-case hexadecimal
//! ```
//!
//! A process that is killed leaves the beginning of its last write, so bytes behind the last line end are a torn write. A
//! power cut may lose any page that was not synced, and keep later ones. So a complete line with a wrong checksum is damage
//! only within the durable bytes, which the header's file counts; behind them a power cut has left it. Because the checksum
//! covers all records before, it also detects lines that are lost, doubled or moved.

use std::io::{self, BufRead, Write as _};

use crc32fast::Hasher;

/// The two numbers and the two spaces in front of the text.
const PREFIX: usize = 18;

/// Appends the line of a record to `out`, and returns the checksum up to it. `checksum` is that of the record before.
///
/// # Errors
///
/// When the text is longer than 4 GiB, which eight digits cannot hold.
pub(super) fn write(out: &mut Vec<u8>, checksum: u32, text: &str) -> io::Result<u32> {
    let length = u32::try_from(text.len())
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "a record of more than 4 GiB"))?;
    let checksum = advance(checksum, text.as_bytes());
    write!(out, "{length:08x} {checksum:08x} ")?;
    out.extend_from_slice(text.as_bytes());
    out.push(b'\n');
    Ok(checksum)
}

/// Returns the checksum of all texts up to and including this one.
fn advance(checksum: u32, text: &[u8]) -> u32 {
    let mut hasher = Hasher::new_with_initial(checksum);
    hasher.update(text);
    hasher.finalize()
}

/// The content of a file at an offset.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A record.
    Record(String),
    /// The end of the file.
    End,
    /// A write of this many bytes that was cut off.
    Torn(u64),
    /// Bytes that no store has written.
    Damaged(String),
}

/// Reads the lines of a file.
#[derive(Debug)]
pub(super) struct Lines<R> {
    input: R,
    offset: u64,
    checksum: u32,
    line: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, offset: 0, checksum: 0, line: Vec::new() }
    }

    /// Returns the end of the valid records so far.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the checksum up to there.
    pub(super) fn checksum(&self) -> u32 {
        self.checksum
    }

    /// Reads the next line. Stays behind the last record after anything else.
    pub(super) fn next(&mut self) -> io::Result<Line> {
        self.line.clear();
        let read = self.input.read_until(b'\n', &mut self.line)? as u64;
        if self.line.is_empty() {
            return Ok(Line::End);
        }
        let ended = self.line.last() == Some(&b'\n');
        if !ended {
            // A complete text with another byte in place of the line end: no torn write leaves that.
            let (_, most) = self.line.split_last().expect("is not empty");
            let damaged = check(self.checksum, most).is_ok();
            return Ok(if damaged {
                Line::Damaged("a line without its end".to_owned())
            } else {
                Line::Torn(read)
            });
        }
        self.line.pop();
        match check(self.checksum, &self.line) {
            Err(reason) => Ok(Line::Damaged(reason.to_owned())),
            Ok((text, checksum)) => {
                let text = text.to_owned();
                self.checksum = checksum;
                self.offset += read;
                Ok(Line::Record(text))
            }
        }
    }
}

/// Returns the text of a line, without its line end, and the checksum up to it.
pub(super) fn check(checksum: u32, line: &[u8]) -> Result<(&str, u32), &'static str> {
    let Some((prefix, text)) = line.split_at_checked(PREFIX) else {
        return Err("a line that is too short");
    };
    let checksum = advance(checksum, text);
    // Compared as text, so that a record has one valid encoding only.
    let (length, sum) = (format!("{:08x} ", text.len()), format!("{checksum:08x} "));
    if prefix[..9] != *length.as_bytes() {
        return Err("a record of another length than its line says");
    }
    if prefix[9..] != *sum.as_bytes() {
        return Err("a record that its checksum does not fit");
    }
    let text = std::str::from_utf8(text).map_err(|_| "a record that is no text")?;
    Ok((text, checksum))
}

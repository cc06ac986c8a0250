//! How a record stands in a file.
//!
//! ```text
//! 0000002f 8d40f9c1 {"sessionUpdate":"agent_message_chunk", …}⏎
//! │        │        └ the record: JSON, which on one line holds no byte that a line could end with
//! │        └ the CRC-32 of this record's text and of all before it in the file, one after the other
//! └ the length of the text in bytes; both in eight digits of lower-case hexadecimal
//! ```
//!
//! A process that is killed leaves a beginning of what it was to write: what is behind the last end of a line is a torn
//! write. A power cut may take any page that was not synced, and leave later ones. So a line that has its end and does not
//! check is damage only within what is known to be durable, which the header's file says; behind that it is what a power cut
//! has left. As the checksum goes on from record to record, a line that was lost, doubled or moved does not check.

use std::io::{self, BufRead, Write as _};

use crc32fast::Hasher;

/// The two numbers and the two spaces in front of the text.
const PREFIX: usize = 18;

/// Adds a record's line to `out`, and gives the checksum up to here; `checksum` is the one up to the record before.
///
/// # Errors
///
/// When the text is longer than eight digits can say.
pub(super) fn write(out: &mut Vec<u8>, checksum: u32, text: &str) -> io::Result<u32> {
    let length = u32::try_from(text.len())
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "a record of more than 4 GiB"))?;
    let checksum = advance(checksum, text.as_bytes());
    write!(out, "{length:08x} {checksum:08x} ")?;
    out.extend_from_slice(text.as_bytes());
    out.push(b'\n');
    Ok(checksum)
}

/// The checksum of all text up to and with this.
fn advance(checksum: u32, text: &[u8]) -> u32 {
    let mut hasher = Hasher::new_with_initial(checksum);
    hasher.update(text);
    hasher.finalize()
}

/// What stands at a place in a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A record.
    Record(String),
    /// Nothing: the file ends here.
    End,
    /// So many bytes of a write that was cut off.
    Torn(u64),
    /// What was never written like this.
    Damaged(String),
}

/// Reads records one after the other.
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

    /// Where the next record begins, if all so far were good.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// The checksum up to there.
    pub(super) fn checksum(&self) -> u32 {
        self.checksum
    }

    /// Reads what comes next. Does not go on behind anything but a record.
    pub(super) fn next(&mut self) -> io::Result<Line> {
        self.line.clear();
        let read = self.input.read_until(b'\n', &mut self.line)? as u64;
        if self.line.is_empty() {
            return Ok(Line::End);
        }
        let ended = self.line.last() == Some(&b'\n');
        if !ended {
            // The text is whole, and only the end of its line is another byte: no write leaves that behind.
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

/// The text of a line, given without its end, and the checksum up to there.
pub(super) fn check(checksum: u32, line: &[u8]) -> Result<(&str, u32), &'static str> {
    let Some((prefix, text)) = line.split_at_checked(PREFIX) else {
        return Err("a line that is too short");
    };
    let checksum = advance(checksum, text);
    // Compared as text, so that there is one way to write a record only.
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

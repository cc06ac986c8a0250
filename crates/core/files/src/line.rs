//! Writes and reads lines with a length and a checksum, so that cut-off writes and damage are detected.
//!
//! ```text
//! 0000002f 8d40f9c1 {"end":{"session":"…","stream":7}}⏎
//! │        │        └ the text
//! │        └ the CRC-32 of all texts up to this one
//! └ the length of the text in bytes; both in eight digits of lower-case hexadecimal
//! ```
//!
//! A killed process leaves the first part of its last write; after a power cut, zeros may follow it. Invalid bytes behind the valid
//! lines are such a *torn* write in two cases: the file ends before the end of a line by its length, and the bytes contain no further
//! line; or the prefix or the checksum is wrong, and no line end follows. All other invalid bytes are *damage*, such as a changed
//! byte, or unsynced pages that a power cut has lost. A text may contain line ends. The checksum covers all lines up to its own, so it
//! also detects lost, doubled and moved lines.

use std::io::{self, BufRead, Read as _, Write as _};

use crc32fast::Hasher;

/// The longest text, in bytes: 1 GiB. A larger length in a line counts as damage, and nothing is allocated for it.
pub const TEXT_LIMIT: usize = 1 << 30;

/// The two numbers and the two spaces in front of the text.
const PREFIX: usize = 18;

/// Appends the line of a text to `out`, and returns its checksum. `checksum` is that of the line before, or 0.
///
/// # Errors
///
/// If the text is longer than [`TEXT_LIMIT`]. `out` is then unchanged.
pub fn write(out: &mut Vec<u8>, checksum: u32, text: &[u8]) -> io::Result<u32> {
    if text.len() > TEXT_LIMIT {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a text of more than 1 GiB"));
    }
    let checksum = advance(checksum, text);
    write!(out, "{:08x} {checksum:08x} ", text.len())?;
    out.extend_from_slice(text);
    out.push(b'\n');
    Ok(checksum)
}

fn advance(checksum: u32, text: &[u8]) -> u32 {
    let mut hasher = Hasher::new_with_initial(checksum);
    hasher.update(text);
    hasher.finalize()
}

/// The result of reading a line.
#[derive(Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a reader that ignores an end would lose what follows")]
pub enum Line {
    /// The text of a valid line.
    Text(Vec<u8>),
    /// The end of the file.
    End,
    /// A write that was cut off.
    Torn,
    /// Bytes that are neither a valid line nor a cut-off write, with the fault.
    Damaged(String),
}

impl Line {
    fn damaged(reason: &str) -> Self {
        Self::Damaged(reason.to_owned())
    }
}

/// Reads the lines of a file.
#[derive(Debug)]
pub struct Lines<R> {
    input: R,
    offset: u64,
    checksum: u32,
}

impl<R: BufRead> Lines<R> {
    /// Reads from the beginning of a file.
    pub fn new(input: R) -> Self {
        Self { input, offset: 0, checksum: 0 }
    }

    /// Returns the offset of the end of the lines read so far.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the checksum of the lines read so far.
    pub fn checksum(&self) -> u32 {
        self.checksum
    }

    /// Reads the next line. Must not be called again after any result but [`Line::Text`].
    pub fn read(&mut self) -> io::Result<Line> {
        let mut line = self.take(PREFIX)?;
        if line.is_empty() {
            return Ok(Line::End);
        }
        let Some((length, expected)) = prefix(&line) else {
            return self.invalid(line, "a line without its length and its checksum");
        };
        line = self.take(length + 1)?;
        if line.len() <= length {
            let is_torn = !self.has_other_length(&line, expected);
            return Ok(if is_torn { Line::Torn } else { Line::damaged(OTHER_LENGTH) });
        }
        let has_end = line.last() == Some(&b'\n');
        let checksum = advance(self.checksum, &line[..length]);
        match (checksum == expected, has_end) {
            (true, true) => {
                line.pop();
                self.offset += (PREFIX + length + 1) as u64;
                self.checksum = checksum;
                Ok(Line::Text(line))
            }
            (true, false) => Ok(Line::damaged("a line without its end")),
            (false, _) => self.invalid(line, "a text that its checksum does not fit"),
        }
    }

    /// Reads `count` bytes, or fewer at the end of the file.
    fn take(&mut self, count: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.input.by_ref().take(count as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Returns whether a line has a wrong length, and so is not torn: the bytes after its prefix contain another line, or the
    /// checksum matches them without the last byte.
    fn has_other_length(&self, text: &[u8], expected: u32) -> bool {
        let is_followed = text
            .iter()
            .enumerate()
            .filter(|(_, byte)| **byte == b'\n')
            .filter_map(|(end, _)| text.get(end + 1..end + 1 + PREFIX))
            .any(|next| prefix(next).is_some());
        let is_complete = |(_, text): (&u8, &[u8])| advance(self.checksum, text) == expected;
        is_followed || text.split_last().is_some_and(is_complete)
    }

    /// Returns whether an invalid line, which begins with `rest`, is torn or damaged.
    fn invalid(&mut self, mut rest: Vec<u8>, reason: &str) -> io::Result<Line> {
        if !rest.contains(&b'\n') {
            rest.clear();
            self.input.by_ref().take(TEXT_LIMIT as u64).read_until(b'\n', &mut rest)?;
        }
        Ok(if rest.contains(&b'\n') { Line::damaged(reason) } else { Line::Torn })
    }
}

const OTHER_LENGTH: &str = "a text of another length than its line says";

/// Returns the text of the first line of a file, which is passed without its line end. `None` if the line is damaged.
pub fn parse_first(line: &[u8]) -> Option<&[u8]> {
    let (numbers, text) = line.split_at_checked(PREFIX)?;
    (prefix(numbers)? == (text.len(), advance(0, text))).then_some(text)
}

/// The length and the checksum of a line. They are compared as text, so that a line has only one valid encoding.
fn prefix(prefix: &[u8]) -> Option<(usize, u32)> {
    let text = std::str::from_utf8(prefix).ok()?;
    let (length, checksum) = text.strip_suffix(' ')?.split_once(' ')?;
    let number = |text| u32::from_str_radix(text, 16).ok().filter(|number| format!("{number:08x}") == text);
    let length = usize::try_from(number(length)?).ok().filter(|length| *length <= TEXT_LIMIT)?;
    Some((length, number(checksum)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(bytes: &[u8]) -> (Vec<Vec<u8>>, Line, u64) {
        let (mut lines, mut texts) = (Lines::new(bytes), Vec::new());
        loop {
            match lines.read().unwrap() {
                Line::Text(text) => texts.push(text),
                end => return (texts, end, lines.offset()),
            }
        }
    }

    #[test]
    fn every_cut_is_torn_and_every_changed_byte_is_found() {
        let (mut lines, mut checksum) = (Vec::new(), 0);
        let texts = [&b"first"[..], b"", b"third\nwith a line end"];
        for text in texts {
            checksum = write(&mut lines, checksum, text).unwrap();
        }
        assert_eq!(read_all(&lines), (texts.map(<[u8]>::to_vec).to_vec(), Line::End, lines.len() as u64));
        let ends: Vec<usize> =
            texts.iter().scan(0, |end, text| Some((*end += PREFIX + text.len() + 1, *end).1)).collect();
        for cut in 0..lines.len() {
            let (whole, end, offset) = read_all(&lines[..cut]);
            let expected = ends.iter().filter(|end| **end <= cut).count();
            assert_eq!(whole.len(), expected, "{cut}");
            let at = expected.checked_sub(1).map_or(0, |last| ends[last]);
            assert_eq!((end, offset), (if at == cut { Line::End } else { Line::Torn }, at as u64), "{cut}");
        }
        for place in 0..lines.len() {
            let mut changed = lines.clone();
            changed[place] ^= 1;
            let (whole, end, _) = read_all(&changed);
            let before = ends.iter().filter(|end| **end <= place).count();
            assert_eq!(whole.len(), before, "{place}");
            assert!(matches!(end, Line::Damaged(_)), "{place}: {end:?}");
        }
    }

    #[test]
    fn zeros_after_a_cut_are_torn_and_lines_after_them_are_damage() {
        let mut lines = Vec::new();
        let checksum = write(&mut lines, 0, b"first").unwrap();
        let end = lines.len();
        write(&mut lines, checksum, b"second").unwrap();
        // With the whole text there is a line without its end, which is damage.
        for cut in end..lines.len() - 1 {
            for zeros in [1, 7, 100] {
                let torn = [&lines[..cut], &vec![0; zeros]].concat();
                assert_eq!(
                    read_all(&torn),
                    (vec![b"first".to_vec()], Line::Torn, end as u64),
                    "{cut} {zeros}"
                );
                let (_, damaged, offset) = read_all(&[&torn, &lines[..]].concat());
                assert!(matches!(damaged, Line::Damaged(_)) && offset == end as u64, "{cut} {zeros}");
            }
        }
    }

    #[test]
    fn first_line_is_parsed_without_its_end() {
        let mut line = Vec::new();
        write(&mut line, 0, b"first").unwrap();
        line.pop();
        assert_eq!(parse_first(&line), Some(&b"first"[..]));
        for place in 0..line.len() {
            let mut changed = line.clone();
            changed[place] ^= 1;
            assert_eq!(parse_first(&changed), None, "{place}");
            assert_eq!(parse_first(&line[..place]), None, "{place}");
        }
    }
}

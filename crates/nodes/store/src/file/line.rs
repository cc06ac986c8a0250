//! The encoding of a change in the journal.
//!
//! ```text
//! 0000002f 8d40f9c1 {"end":{"session":"…","stream":7}}⏎
//! │        │        └ the text of a change
//! │        └ the CRC-32 of the texts of all changes up to this one
//! └ the length of the text in bytes; both in eight digits of lower-case hexadecimal
//! ```
//!
//! A process that is killed leaves the beginning of its last write. Because the checksum covers all changes before, it also
//! detects lines that are lost, doubled or moved. The journals of `acp-sessions` have the same lines.

use std::io::{self, Read, Write as _};

use crc32fast::Hasher;

/// The two numbers and the two spaces in front of the text.
const PREFIX: usize = 18;

/// The longest text that is read, in bytes: a larger number is damage, not a reason to allocate.
const LONGEST: usize = 1 << 30;

/// Appends the line of a text to `out`, and returns the checksum up to it. `checksum` is that of the line before.
pub(super) fn write(out: &mut Vec<u8>, checksum: u32, text: &[u8]) -> u32 {
    let checksum = advance(checksum, text);
    write!(out, "{:08x} {checksum:08x} ", text.len()).expect("a vector takes every write");
    out.extend_from_slice(text);
    out.push(b'\n');
    checksum
}

fn advance(checksum: u32, text: &[u8]) -> u32 {
    let mut hasher = Hasher::new_with_initial(checksum);
    hasher.update(text);
    hasher.finalize()
}

/// What ends the valid lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The end of the file.
    Complete,
    /// A line that is cut off.
    Torn,
    /// Bytes that no store has written there.
    Damaged,
}

/// Calls a function with the text of each valid line. Returns what ends them, and its offset.
pub(super) fn read<E: From<io::Error>>(
    mut input: impl Read,
    mut each: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(End, u64), E> {
    let (mut offset, mut checksum) = (0, 0);
    let mut text = Vec::new();
    loop {
        text.clear();
        input.by_ref().take(PREFIX as u64).read_to_end(&mut text)?;
        if text.len() < PREFIX {
            return Ok((if text.is_empty() { End::Complete } else { End::Torn }, offset));
        }
        let Some((length, expected)) = prefix(&text) else { return Ok((End::Damaged, offset)) };
        text.clear();
        input.by_ref().take(length as u64 + 1).read_to_end(&mut text)?;
        if text.len() <= length {
            return Ok((End::Torn, offset));
        }
        let ended = text.pop() == Some(b'\n');
        checksum = advance(checksum, &text);
        if !ended || checksum != expected {
            return Ok((End::Damaged, offset));
        }
        each(&text)?;
        offset += (PREFIX + length + 1) as u64;
    }
}

/// The length and the checksum of a line.
fn prefix(prefix: &[u8]) -> Option<(usize, u32)> {
    let text = std::str::from_utf8(prefix).ok()?;
    let (length, checksum) = text.strip_suffix(' ')?.split_once(' ')?;
    let number = |text| u32::from_str_radix(text, 16).ok().filter(|number| format!("{number:08x}") == text);
    let length = usize::try_from(number(length)?).ok().filter(|length| *length <= LONGEST)?;
    Some((length, number(checksum)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(bytes: &[u8]) -> (Vec<Vec<u8>>, End, u64) {
        let mut texts = Vec::new();
        let each = |text: &[u8]| {
            texts.push(text.to_vec());
            Ok::<_, io::Error>(())
        };
        let (end, offset) = read(bytes, each).unwrap();
        (texts, end, offset)
    }

    #[test]
    fn every_cut_is_torn_and_every_other_byte_is_damage() {
        let (mut lines, mut checksum) = (Vec::new(), 0);
        let texts = [&b"first"[..], b"", b"third\nwith a line end"];
        for text in texts {
            checksum = write(&mut lines, checksum, text);
        }
        assert_eq!(read_all(&lines), (texts.map(<[u8]>::to_vec).to_vec(), End::Complete, lines.len() as u64));
        let ends: Vec<usize> =
            texts.iter().scan(0, |end, text| Some((*end += PREFIX + text.len() + 1, *end).1)).collect();
        for cut in 0..lines.len() {
            let (whole, end, offset) = read_all(&lines[..cut]);
            let expected = ends.iter().filter(|end| **end <= cut).count();
            assert_eq!(whole.len(), expected, "{cut}");
            let at = expected.checked_sub(1).map_or(0, |last| ends[last]);
            assert_eq!(
                (end, offset),
                (if at == cut { End::Complete } else { End::Torn }, at as u64),
                "{cut}"
            );
        }
        for place in 0..lines.len() {
            let mut changed = lines.clone();
            changed[place] ^= 1;
            let (whole, end, _) = read_all(&changed);
            let before = ends.iter().filter(|end| **end <= place).count();
            assert_eq!(whole.len(), before, "{place}");
            assert_ne!(end, End::Complete, "{place}");
        }
    }
}

//! Selects lines of a text, decodes UTF-8 from a reader, and measures the text as JSON.

use std::io::{ErrorKind, Read};

use super::error::FileError;

/// How many bytes of a file are read at a time.
const CHUNK: usize = 64 * 1024;

/// Selects lines of a text that arrives in pieces.
#[derive(Debug)]
pub(super) struct Lines {
    /// How many lines are still to be skipped.
    skip: u32,
    /// How many lines are still to be kept. `None` for all.
    wanted: Option<u32>,
    text: String,
    /// The length of the kept text in JSON, in bytes.
    bytes: u64,
    /// The limit of that length. A longer text is counted but not kept.
    limit: u64,
}

impl Lines {
    /// Keeps the lines from `line` on, at most `wanted` of them. `size` is the expected length of the text, in bytes.
    pub(super) fn new(line: Option<u32>, wanted: Option<u32>, size: u64, limit: u64) -> Self {
        let skip = line.unwrap_or(1).saturating_sub(1);
        let room = if skip == 0 && wanted.is_none() && size <= limit { size } else { 0 };
        let text = String::with_capacity(usize::try_from(room).unwrap_or(0));
        Self { skip, wanted, text, bytes: 0, limit }
    }

    /// Selects lines of the next piece of the text.
    pub(super) fn push(&mut self, piece: &str) {
        let rest = &piece[end_of_lines(piece, &mut self.skip)..];
        let taken = match &mut self.wanted {
            _ if self.skip > 0 => "",
            Some(wanted) => &rest[..end_of_lines(rest, wanted)],
            None => rest,
        };
        self.bytes += json_length(taken);
        if self.bytes <= self.limit {
            self.text.push_str(taken);
        } else {
            self.text = String::new();
        }
    }

    /// Reads a text of at most `size` bytes to its end.
    pub(super) fn read(&mut self, mut reader: impl Read, size: u64) -> Result<(), FileError> {
        let mut buffer = vec![0; CHUNK];
        // `held` bytes of the buffer are an incomplete character; the buffer begins at offset `at` of the text.
        let (mut held, mut at) = (0, 0);
        loop {
            let count = match reader.read(&mut buffer[held..]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                count => count?,
            };
            let filled = held + count;
            if (at + filled) as u64 > size {
                return Err(FileError::TooLarge { limit: size });
            }
            // An empty text has no chunk.
            let chunk = buffer[..filled].utf8_chunks().next();
            let (valid, invalid) = chunk.map_or(("", &[][..]), |chunk| (chunk.valid(), chunk.invalid()));
            let is_cut = valid.len() + invalid.len() == filled
                && std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
            if !invalid.is_empty() && (count == 0 || !is_cut) {
                return Err(FileError::NotText { at: at + valid.len() });
            }
            self.push(valid);
            at += valid.len();
            let valid = valid.len();
            buffer.copy_within(valid..filled, 0);
            held = filled - valid;
            if count == 0 {
                return Ok(());
            }
        }
    }

    /// Returns the selected lines, unless they are too long for an answer.
    pub(super) fn finish(self) -> Result<String, FileError> {
        if self.bytes > self.limit {
            return Err(FileError::TooLong { bytes: self.bytes, limit: self.limit });
        }
        Ok(self.text)
    }
}

/// Returns the end of the first `count` lines, or of the text. Decreases `count` by the lines that have ended.
fn end_of_lines(text: &str, count: &mut u32) -> usize {
    let mut end = 0;
    while *count > 0 {
        match text[end..].find('\n') {
            Some(line) => end += line + 1,
            None => return text.len(),
        }
        *count -= 1;
    }
    end
}

/// Returns the length of a text as a JSON string, without its quotes, in bytes.
fn json_length(text: &str) -> u64 {
    let more = |byte: u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 1,
        0..0x20 => 5,
        _ => 0,
    };
    text.len() as u64 + text.bytes().map(more).sum::<u64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, line: impl Into<Option<u32>>, limit: impl Into<Option<u32>>, expected: &str) {
        let (line, limit) = (line.into(), limit.into());
        for size in 1..=text.len().max(1) {
            let mut lines = Lines::new(line, limit, text.len() as u64, 99);
            text.as_bytes().chunks(size).for_each(|piece| lines.push(std::str::from_utf8(piece).unwrap()));
            assert_eq!(lines.finish().unwrap(), expected, "{size}");
        }
    }

    #[test]
    fn fs_04_lines_count_from_one_and_keep_their_ends() {
        let text = "one\r\ntwo\n\nfour";
        check(text, None, None, text);
        check(text, 1, None, text);
        check(text, 0, 1, "one\r\n");
        check(text, None, 2, "one\r\ntwo\n");
        check(text, 2, 1, "two\n");
        check(text, 3, 1, "\n");
        check(text, 4, 1, "four");
        check(text, 4, 100, "four");
        check(text, 5, None, "");
        check(text, 5, 1, "");
        check(text, 2, 0, "");
        check("a\n", 2, None, "");
        check("", 1, 1, "");
        check(text, u32::MAX, u32::MAX, "");
    }

    /// A reader of a few bytes at a time.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let count = self.1.min(self.0.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    #[test]
    fn characters_may_be_cut_anywhere() {
        let whole = "aä€😀\nb".as_bytes();
        let cases: [(&[u8], Result<&str, usize>); 5] = [
            (whole, Ok("aä€😀\nb")),
            (&whole[..whole.len() - 4], Err(6)),
            (b"", Ok("")),
            (b"ab\xff\xf0\x9f", Err(2)),
            (b"ab\xf0\x9fc", Err(2)),
        ];
        for (bytes, expected) in cases {
            for size in 1..=bytes.len().max(1) {
                let mut lines = Lines::new(None, None, 0, 99);
                let read = lines.read(Slow(bytes, size), 99).and_then(|()| lines.finish());
                match (read, expected) {
                    (Ok(text), Ok(expected)) => assert_eq!(text, expected),
                    (Err(FileError::NotText { at }), Err(expected)) => assert_eq!(at, expected, "{size}"),
                    (read, expected) => panic!("{read:?}, and not {expected:?}, by {size}"),
                }
            }
        }
    }

    #[test]
    fn line_that_is_too_long_is_counted_and_not_kept() {
        let mut lines = Lines::new(Some(2), None, 0, 10);
        for _ in 0..1000 {
            lines.push("0123456789\n");
            assert!(lines.text.capacity() <= 20);
        }
        assert!(matches!(lines.finish(), Err(FileError::TooLong { bytes: 11_988, limit: 10 })));
    }

    #[test]
    fn json_length_matches_the_serializer() {
        let ascii: String = (0..=0x7f_u8).map(char::from).collect();
        for text in [&*ascii, "", "ä€😀"] {
            assert_eq!(json_length(text) + 2, serde_json::to_string(text).unwrap().len() as u64, "{text:?}");
        }
    }
}

//! The last part of a command's output, decoded as text.

/// How many bytes over the limit are buffered before the front is dropped, so that not every piece moves the text.
const SLACK: usize = 64 * 1024;

/// The last of a command's output.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Output {
    text: String,
    limit: usize,
    slack: usize,
    /// How many bytes of text were dropped at the front.
    dropped: u64,
    /// The beginning of an incomplete character: three bytes at most.
    partial: Vec<u8>,
}

impl Output {
    pub(crate) fn new(limit: usize) -> Self {
        Self::with_slack(limit, SLACK)
    }

    /// Keeps `limit` bytes of text, and buffers `slack` bytes more before the front is dropped.
    pub(crate) fn with_slack(limit: usize, slack: usize) -> Self {
        Self { text: String::new(), limit, slack, dropped: 0, partial: Vec::new() }
    }

    /// Returns how many bytes of memory the text takes.
    pub(crate) fn weight(&self) -> usize {
        self.text.capacity()
    }

    /// Returns the position of the end. A position counts the bytes of all text since the beginning.
    pub(crate) fn end(&self) -> u64 {
        self.dropped + self.text.len() as u64
    }

    /// Returns the kept text from a position on.
    pub(crate) fn since(&self, position: u64) -> &str {
        let offset = usize::try_from(position.saturating_sub(self.dropped)).unwrap_or(usize::MAX);
        let offset = offset.min(self.text.len()).max(self.start());
        last_bytes(&self.text, self.text.len() - offset)
    }

    /// Returns whether `whole` begins with all output so far, compared as far as it is kept.
    pub(crate) fn is_continued_by(&self, whole: &str) -> bool {
        let dropped = usize::try_from(self.dropped).ok();
        dropped.and_then(|dropped| whole.get(dropped..)).is_some_and(|rest| rest.starts_with(&self.text))
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if self.partial.is_empty() {
            self.decode(bytes);
        } else {
            let mut joined = std::mem::take(&mut self.partial);
            joined.extend_from_slice(bytes);
            self.decode(&joined);
        }
        if self.text.len() > self.most() {
            let start = self.start();
            self.text.drain(..start);
            self.dropped += start as u64;
        }
    }

    /// Records that no output follows.
    pub(crate) fn finish(&mut self) {
        if !std::mem::take(&mut self.partial).is_empty() {
            self.text.push(char::REPLACEMENT_CHARACTER);
        }
    }

    /// Returns the output, and whether its beginning was dropped.
    pub(super) fn snapshot(&self) -> (String, bool) {
        let start = self.start();
        (self.text[start..].to_owned(), self.dropped > 0 || start > 0)
    }

    /// Returns where the text within the limit begins.
    fn start(&self) -> usize {
        self.text.len() - last_bytes(&self.text, self.limit).len()
    }

    /// Returns how many bytes are buffered before those in front are dropped.
    fn most(&self) -> usize {
        self.limit.saturating_add(self.limit / 4).saturating_add(self.slack)
    }

    /// Reserves memory for a piece, no more than the buffer can use: plain doubling could reserve twice as much.
    fn reserve(&mut self, bytes: usize) {
        let needed = self.text.len().saturating_add(bytes);
        if needed > self.text.capacity() {
            let room = self.text.capacity().saturating_mul(2).min(self.most()).max(needed);
            self.text.reserve_exact(room - self.text.len());
        }
    }

    fn decode(&mut self, bytes: &[u8]) {
        self.reserve(bytes.len());
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            self.text.push_str(chunk.valid());
            let invalid = chunk.invalid();
            let begins = |invalid| str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
            if chunks.peek().is_none() && begins(invalid) {
                self.partial = invalid.to_vec();
            } else if !invalid.is_empty() {
                self.text.push(char::REPLACEMENT_CHARACTER);
            }
        }
    }
}

/// Returns the last `limit` bytes of a text, or fewer so that no character is cut. A client cuts the output of a
/// [terminal](https://agentclientprotocol.com/protocol/v1/terminals) in this way.
pub fn last_bytes(text: &str, limit: usize) -> &str {
    let mut start = text.len().saturating_sub(limit);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(limit: usize, pieces: &[&[u8]], expected: &str, truncated: bool) {
        let mut output = Output::new(limit);
        pieces.iter().for_each(|piece| output.push(piece));
        output.finish();
        assert_eq!(output.snapshot(), (expected.to_owned(), truncated));
    }

    #[test]
    fn the_front_is_cut_between_characters() {
        check(5, &["äöü".as_bytes()], "öü", true);
        check(6, &["äöü".as_bytes()], "äöü", false);
        check(3, &["€€".as_bytes()], "€", true);
        check(2, &["€".as_bytes()], "", true);
        check(0, &[b"x"], "", true);
        check(0, &[], "", false);
    }

    #[test]
    fn every_way_to_cut_bytes_into_pieces_gives_the_same_text() {
        let bytes = b"a\xc3\xa4\xf0\x9f\xa6\x80\xff\xe2\x82b\xf0\x9f\xa6";
        let expected = String::from_utf8_lossy(bytes);
        for first in 0..=bytes.len() {
            for second in first..=bytes.len() {
                check(99, &[&bytes[..first], &bytes[first..second], &bytes[second..]], &expected, false);
            }
        }
    }

    #[test]
    fn a_position_is_the_same_after_the_front_was_dropped() {
        let mut output = Output::with_slack(4, 0);
        output.push(b"ab");
        let position = output.end();
        output.push(b"cd");
        assert_eq!((output.since(0), output.since(position)), ("abcd", "cd"));
        assert!(output.is_continued_by("abcde") && !output.is_continued_by("abxd"));
        output.push(b"efgh");
        assert_eq!((output.since(position), output.since(6), output.end()), ("efgh", "gh", 8));
        assert!(output.is_continued_by("abcdefgh!") && !output.is_continued_by("efgh"));
    }

    #[test]
    fn memory_is_bounded() {
        let mut output = Output::new(1000);
        for _ in 0..1000 {
            output.push(&[b'x'; 8192]);
            assert!(output.text.len() <= 1250 + SLACK + 8192);
            assert!(output.text.capacity() <= 1250 + SLACK + 8192);
        }
        assert_eq!(output.snapshot(), ("x".repeat(1000), true));
    }
}

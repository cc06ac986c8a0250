//! Finds the ends of tokens and values in JSON text. Text that is not JSON gives meaningless positions, never a panic.

/// The position of the first byte from `at` on that is not white space.
#[inline]
pub(crate) fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    // Mostly there is none.
    if bytes.get(at).is_some_and(|byte| *byte > b' ') {
        return at;
    }
    while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

/// The end of a string, and what it holds.
pub(crate) struct StringEnd {
    /// The position after the last quote.
    pub(crate) at: usize,
    /// Whether there are escapes in the string.
    pub(crate) escapes: bool,
}

/// The end of the string whose first quote is at `open`.
#[inline]
pub(crate) fn string_end(bytes: &[u8], open: usize) -> Option<StringEnd> {
    let mut at = open + 1;
    let mut escapes = false;
    loop {
        at = quote_or_backslash(bytes, at)?;
        if bytes[at] == b'"' {
            return Some(StringEnd { at: at + 1, escapes });
        }
        // A quotation mark after a backslash does not end the string.
        escapes = true;
        at += 2;
    }
}

/// Bytes of a string that are searched as numbers before `memchr` takes over; a multiple of eight.
const SHORT_STRING: usize = 64;

/// The position of the next quote or backslash. Eight bytes are compared together, as one number: most strings are short and
/// end before a vectorised search has begun. A long one is searched by [`memchr`], which is four times as fast.
fn quote_or_backslash(bytes: &[u8], mut at: usize) -> Option<usize> {
    const ONES: u64 = u64::MAX / 0xff;
    const QUOTES: u64 = ONES * b'"' as u64;
    const BACKSLASHES: u64 = ONES * b'\\' as u64;
    // Sets the highest bit of the lowest byte that is zero, and none below it.
    let found = |word: u64| {
        let (quote, backslash) = (word ^ QUOTES, word ^ BACKSLASHES);
        (quote.wrapping_sub(ONES) & !quote | backslash.wrapping_sub(ONES) & !backslash) & (ONES << 7)
    };
    let rest = bytes.get(at..)?;
    let (mut short, long) = rest.split_at(rest.len().min(SHORT_STRING));
    while let Some((eight, behind)) = short.split_first_chunk() {
        let found = found(u64::from_le_bytes(*eight));
        if found != 0 {
            return Some(at + found.trailing_zeros() as usize / 8);
        }
        (at, short) = (at + 8, behind);
    }
    if !long.is_empty() {
        return quote_or_backslash_in_long(long).map(|more| at + more);
    }
    let found = short.iter().position(|byte| matches!(byte, b'"' | b'\\'));
    found.map(|more| at + more)
}

#[inline(never)]
fn quote_or_backslash_in_long(rest: &[u8]) -> Option<usize> {
    memchr::memchr2(b'"', b'\\', rest)
}

/// The end of the value that begins at `start`.
pub(crate) fn value_end(bytes: &[u8], start: usize) -> Option<usize> {
    match bytes.get(start)? {
        b'"' => string_end(bytes, start).map(|end| end.at),
        b'{' | b'[' => nested_end(bytes, start),
        _ => {
            let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
            let length = bytes[start..].iter().position(ends);
            Some(length.map_or(bytes.len(), |length| start + length))
        }
    }
}

/// The end of the object or array that begins at `start`.
fn nested_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    let mut depth = 0_usize;
    loop {
        match bytes.get(at)? {
            b'"' => {
                at = string_end(bytes, at)?.at;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return Some(at);
        }
    }
}

/// The open objects, arrays and strings of text that comes in pieces. Each byte is read once: a peer may send them one by one.
#[derive(Debug, Default)]
pub(crate) struct Nesting {
    /// How many objects and arrays are open.
    depth: usize,
    in_string: bool,
    is_escaped: bool,
}

impl Nesting {
    /// Reads on, and returns whether all that was opened is closed.
    pub(crate) fn read(&mut self, bytes: &[u8]) -> bool {
        for byte in bytes {
            match byte {
                _ if std::mem::take(&mut self.is_escaped) => {}
                b'\\' => self.is_escaped = self.in_string,
                b'"' => self.in_string = !self.in_string,
                b'{' | b'[' if !self.in_string => self.depth += 1,
                b'}' | b']' if !self.in_string => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
        self.depth == 0
    }
}

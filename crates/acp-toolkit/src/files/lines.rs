/// The lines of `text` from `line` on, at most `limit` of them, as they stand.
pub(super) fn select(text: String, line: Option<u32>, limit: Option<u32>) -> String {
    let skipped = line.unwrap_or(1).saturating_sub(1);
    if skipped == 0 && limit.is_none() {
        return text;
    }
    let rest = &text[end_of_lines(&text, skipped)..];
    match limit {
        Some(limit) => rest[..end_of_lines(rest, limit)].to_owned(),
        None => rest.to_owned(),
    }
}

/// Where the first `count` lines end.
fn end_of_lines(text: &str, count: u32) -> usize {
    match count.checked_sub(1) {
        None => 0,
        Some(before) => {
            let mut ends = text.match_indices('\n');
            usize::try_from(before)
                .ok()
                .and_then(|before| ends.nth(before))
                .map_or(text.len(), |(end, _)| end + 1)
        }
    }
}

/// How many bytes a text has as a JSON string, without its quotes.
pub(super) fn written(text: &str) -> u64 {
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
        assert_eq!(select(text.to_owned(), line.into(), limit.into()), expected);
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

    #[test]
    fn a_text_is_as_long_as_it_is_written() {
        let ascii: String = (0..=0x7f_u8).map(char::from).collect();
        for text in [&*ascii, "", "ä€😀"] {
            assert_eq!(written(text) + 2, serde_json::to_string(text).unwrap().len() as u64, "{text:?}");
        }
    }
}

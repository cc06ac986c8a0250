//! Strips comments and trailing commas from JSON, which VS Code's files may have.

/// Replaces comments, and commas before a closing bracket, by spaces. Lines and columns stay as they are.
pub(super) fn without_comments(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut plain = bytes.to_vec();
    let (mut at, mut comma) = (0, None);
    while at < bytes.len() {
        let end = match (bytes[at], bytes.get(at + 1)) {
            (b'"', _) => string_end(bytes, at),
            (b'/', Some(b'/')) => blank(&mut plain, at, line_end(bytes, at)),
            (b'/', Some(b'*')) => blank(&mut plain, at, comment_end(bytes, at)),
            _ => at + 1,
        };
        match bytes[at] {
            _ if plain[at] == b' ' || bytes[at].is_ascii_whitespace() => {}
            b',' => comma = Some(at),
            closing => {
                if let (Some(comma), b'}' | b']') = (comma, closing) {
                    plain[comma] = b' ';
                }
                comma = None;
            }
        }
        at = end;
    }
    // Only whole comments and commas were replaced, so the text is still UTF-8.
    String::from_utf8(plain).unwrap_or_else(|_| text.to_owned())
}

/// Replaces a part by spaces, except line ends, and returns its end.
fn blank(plain: &mut [u8], start: usize, end: usize) -> usize {
    plain[start..end].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
    end
}

fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn line_end(bytes: &[u8], start: usize) -> usize {
    bytes[start..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |length| start + length)
}

fn comment_end(bytes: &[u8], start: usize) -> usize {
    let end = bytes[start + 2..].windows(2).position(|pair| pair == b"*/");
    end.map_or(bytes.len(), |length| start + 2 + length + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_trailing_commas_become_spaces() {
        let rows = [
            ("{\"a\": 1, // é\n}", "{\"a\": 1       \n}"),
            ("[1,/* a\nb */ 2, ]", "[1,    \n     2  ]"),
            (r#"["// no", "a,]", "\"/*", 1,]"#, r#"["// no", "a,]", "\"/*", 1 ]"#),
            ("[1, /* a */ ] // b", "[1          ]     "),
            ("[1,,]", "[1, ]"),
            ("/* open", "       "),
            ("\"open // \\", "\"open // \\"),
            ("[/]", "[/]"),
        ];
        for (text, expected) in rows {
            assert_eq!(without_comments(text), expected, "{text}");
        }
    }
}

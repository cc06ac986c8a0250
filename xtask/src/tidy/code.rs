//! Rust source reduced to its code: comments, literals and inline test modules are blank, and every line keeps its number.

/// The code of a source file.
pub(super) fn code(text: &str) -> String {
    without_tests(&without_literals(text))
}

fn without_literals(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let (token, is_code) = token(rest);
        if is_code {
            code.push_str(token);
        } else {
            // Two words with a comment between them stay two words.
            code.push(' ');
            code.extend(token.chars().filter(|character| *character == '\n'));
        }
        rest = &rest[token.len()..];
    }
    code
}

/// The first token of a text that is not empty, and whether it is code. A comment and a literal are one token each.
fn token(text: &str) -> (&str, bool) {
    let until =
        |end: &str, from: usize| text[from..].find(end).map_or(text.len(), |at| from + at + end.len());
    let first = text.chars().next().unwrap_or_default();
    if text.starts_with("//") {
        let line = text.find('\n').unwrap_or(text.len());
        return (&text[..line], false);
    }
    if text.starts_with("/*") {
        return (&text[..until("*/", 2)], false);
    }
    match first {
        '"' => (&text[..string(text)], false),
        '\'' => {
            let mut after = text[1..].char_indices();
            match (after.next(), after.next()) {
                (Some((_, '\\')), _) => (&text[..until("'", 3)], false),
                (Some(_), Some((end, '\''))) => (&text[..end + 2], false),
                _ => (&text[..1], true),
            }
        }
        _ if first.is_alphanumeric() || first == '_' => {
            let word = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
            let hashes = text[word..].bytes().take_while(|byte| *byte == b'#').count();
            let is_raw = matches!(&text[..word], "r" | "br" | "cr") && text[word + hashes..].starts_with('"');
            if is_raw {
                let end = format!("\"{}", "#".repeat(hashes));
                (&text[..until(&end, word + hashes + 1)], false)
            } else {
                (&text[..word], true)
            }
        }
        _ => (&text[..first.len_utf8()], true),
    }
}

/// The length of a string literal, quotation marks included.
fn string(text: &str) -> usize {
    let mut escaped = true;
    for (at, character) in text.char_indices() {
        match character {
            '"' if !escaped => return at + 1,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

/// Blanks modules that are declared with a body under a `cfg` of `test`. Their end is a brace at the left edge.
fn without_tests(code: &str) -> String {
    let mut kept = String::with_capacity(code.len());
    let (mut after_cfg, mut in_tests) = (false, false);
    for line in code.lines() {
        in_tests |= after_cfg && line.contains("mod ") && line.ends_with('{');
        if !in_tests {
            kept.push_str(line);
        }
        kept.push('\n');
        in_tests &= line != "}";
        let is_attribute = line.starts_with("#[");
        after_cfg = is_attribute
            && (after_cfg
                || line.starts_with("#[cfg(") && line.contains("test") && !line.contains("not(test"));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::code;

    #[test]
    fn comments_and_literals_are_blank() {
        for (text, expected) in [
            ("a // b", "a  "),
            ("a/* b */c", "a c"),
            (r#"f("a \" b", c)"#, "f( , c)"),
            (r##"f(r#"a " b"#, c)"##, "f( , c)"),
            ("r#type", "r#type"),
            (r"('\'', 'x', '“', &'a T)", "( ,  ,  , &'a T)"),
            ("\"a\nb\" c", " \n c"),
        ] {
            assert_eq!(code(text).trim_end_matches('\n'), expected.trim_end_matches('\n'), "{text}");
        }
    }

    #[test]
    fn inline_test_modules_are_blank_and_lines_keep_their_numbers() {
        let text = "a\n#[cfg(test)]\nmod tests {\n    b\n}\n#[cfg(test)]\nmod other;\nc\n";
        assert_eq!(code(text), "a\n#[cfg(test)]\n\n\n\n#[cfg(test)]\nmod other;\nc\n");
    }
}

//! Formats JSON with line breaks and indentation, for people. Numbers keep their digits, and members their order.

use std::borrow::Cow;

/// The deepest indentation, in levels of two spaces. Deeper lines have the same, so that the text does not grow with the square
/// of its depth.
const INDENT_LIMIT: usize = 24;

/// The longest JSON that gets line breaks: 1 MiB. Longer JSON, of tiny values, would take many times its memory.
const LENGTH_LIMIT: usize = 1 << 20;

/// JSON text with a line for each member and element. Longer text than [`LENGTH_LIMIT`] stays as it is.
pub(crate) fn pretty(json: &str) -> Cow<'_, str> {
    if json.len() <= LENGTH_LIMIT { Cow::Owned(with_lines(json)) } else { Cow::Borrowed(json) }
}

fn with_lines(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let (mut depth, mut is_string, mut is_escaped) = (0_usize, false, false);
    let mut rest = json.chars().peekable();
    while let Some(c) = rest.next() {
        if is_string {
            out.push(c);
            is_string = is_escaped || c != '"';
            is_escaped = !is_escaped && c == '\\';
            continue;
        }
        match c {
            '"' => {
                is_string = true;
                out.push(c);
            }
            '{' | '[' => {
                out.push(c);
                while rest.next_if(|c| c.is_ascii_whitespace()).is_some() {}
                match rest.next_if(|c| matches!(c, '}' | ']')) {
                    Some(end) => out.push(end),
                    None => {
                        depth += 1;
                        new_line(&mut out, depth);
                    }
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut out, depth);
                out.push(c);
            }
            ',' => {
                out.push(c);
                new_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            c if c.is_ascii_whitespace() => {}
            c => out.push(c),
        }
    }
    out
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth.min(INDENT_LIMIT)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_and_elements_get_a_line_each() {
        let json = r#"{"b":[1.10 ,{ }, [ ]],"a \"}":{"x":null},"long":123456789012345678901234567890}"#;
        let expected = r#"{
  "b": [
    1.10,
    {},
    []
  ],
  "a \"}": {
    "x": null
  },
  "long": 123456789012345678901234567890
}"#;
        assert_eq!(pretty(json), expected);
        assert_eq!(pretty(r#""a\\""#), r#""a\\""#);
    }

    #[test]
    fn a_deep_value_does_not_grow_with_the_square_of_its_depth() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert!(pretty(&deep).len() < 60 * deep.len());
        let long = format!("[{}[]]", "[],".repeat(LENGTH_LIMIT / 3));
        assert_eq!(pretty(&long), long);
    }
}

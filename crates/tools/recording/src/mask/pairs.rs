//! Finds the values of secret names in text: `NAME=value`, `name: value`, `"name":"value"`, also with escapes around
//! them, and pairs.

use std::ops::Range;

use super::blocks::{block_values, section_values};
use super::boundary::{floor, last_bytes};
use super::forms::is_in_query;
use super::names::{
    is_common_name, is_count, is_pair_name, is_pair_value, is_secret_pair, is_secret_text_name,
    is_suspect_name, is_vague_pair, secret_in_query,
};
use super::patterns::Certainty;
use super::random::looks_generated;
use super::rules::PARSER_WORDS;
use super::values::{
    decoded, is_space, is_space_or_line_break, quoted, trim_gap, unquoted_length, without_last_gap,
    without_string_prefix,
};

/// A value after the name of a secret.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) range: Range<usize>,
    pub(super) certainty: Certainty,
}

/// The longest name that is searched before a `=`, `:` or `,`, in bytes. With the gap, it bounds how often a byte is read.
const LONGEST_NAME: usize = 80;

/// The most white space, and the most escapes, between a name and its `=` or `:`.
const LONGEST_GAP: usize = 24;

/// The values of secret names in a text.
pub(super) fn secret_values(text: &str) -> Vec<Value> {
    let mut values = section_values(text);
    let mut from = 0;
    while let Some(at) = text[from..].find(['=', ':', ',']) {
        let at = from + at;
        from = at + 1;
        let found = values.len();
        match text.as_bytes()[at] {
            b',' => values.extend(second_of_pair(text, at)),
            _ => values.extend(values_of(text, at)),
        }
        from = values[found..].iter().map(|value| value.range.end).fold(from, usize::max);
    }
    values
}

/// The operator between a name and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Colon,
    Assignment,
    /// A comparison or an arrow: only a literal behind it is a value.
    BeforeLiteral,
}

/// The operator at the beginning of a text, and the rest of the text.
fn operator(text: &str) -> Option<(Operator, &str)> {
    let rest = &text[1..];
    if text.starts_with(':') {
        return match rest.strip_prefix('=') {
            Some(rest) => Some((Operator::Assignment, rest)),
            None => (!rest.starts_with(':')).then_some((Operator::Colon, rest)),
        };
    }
    let literal = rest.strip_prefix("==").or_else(|| rest.strip_prefix(['=', '>']));
    Some(literal.map_or((Operator::Assignment, rest), |rest| (Operator::BeforeLiteral, rest)))
}

/// The reason to treat a value as a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    Name,
    Query,
    Pair,
    /// The name has other meanings, too. The value must look generated.
    Suspect,
}

/// A `=` or `:` in a text, with the name before it.
struct Candidate<'a> {
    text: &'a str,
    at: usize,
    name: Name,
    /// The name without escapes.
    word: String,
    operator: Operator,
    before: &'a str,
    behind: &'a str,
}

/// The values behind the `=` or `:` at a place, if the name before it is that of a secret. A block has several.
fn values_of(text: &str, at: usize) -> Vec<Value> {
    let Some((operator, behind)) = operator(&text[at..]) else { return Vec::new() };
    let name = Name::before(text, at);
    let before = &text[..name.range.start];
    let word = decoded(&text[name.range.clone()]);
    let candidate = Candidate { text, at, name, word, operator, before, behind };
    let Some(reason) = candidate.reason() else { return Vec::new() };
    if operator == Operator::Colon && !candidate.name.is_quoted && reason == Reason::Name {
        let block = block_values(text, before, text.len() - behind.len());
        if !block.is_empty() {
            return block;
        }
    }
    candidate.value(reason).into_iter().collect()
}

impl Candidate<'_> {
    fn reason(&self) -> Option<Reason> {
        let Self { word, before, behind, .. } = self;
        if is_secret_text_name(word) {
            return Some(Reason::Name);
        }
        let is_assigned = self.operator == Operator::Assignment;
        if secret_in_query(word).is_some_and(|query| is_in_query(query, is_assigned, before, behind)) {
            return Some(Reason::Query);
        }
        let is_quoted = self.name.is_quoted;
        match is_pair_value(word).then(|| is_in_secret_pair(word, is_quoted, before, behind)).flatten() {
            Some(true) => Some(Reason::Suspect),
            Some(false) => Some(Reason::Pair),
            None => is_suspect_name(word).then_some(Reason::Suspect),
        }
    }

    fn value(&self, reason: Reason) -> Option<Value> {
        let Self { text, at, ref name, ref word, operator, behind, .. } = *self;
        let mut value = trim_gap(behind, is_space_or_line_break);
        if name.is_quoted {
            // The first element of a list.
            value = value.strip_prefix('[').unwrap_or(value).trim_start();
        }
        value = without_string_prefix(value);
        let quoted = quoted(value);
        let mut must_look_generated = reason == Reason::Suspect;
        let length = match &quoted {
            Some(inner) => inner.len(),
            None => {
                let is_spaced = name.has_gap && behind.starts_with(is_space);
                value = match operator {
                    Operator::BeforeLiteral => return None,
                    Operator::Colon => value,
                    // Code assigns calls and names in this way, so the value must look generated.
                    Operator::Assignment if is_spaced || behind.starts_with(['\u{1b}', '\r', '\n']) => {
                        must_look_generated = true;
                        value
                    }
                    // White space right after the operator means an empty value.
                    Operator::Assignment => behind,
                };
                let start = head(value);
                if must_look_generated && !looks_generated(&start[..unquoted_length(start, word)]) {
                    return None;
                }
                unquoted_length(value, word)
            }
        };
        let start = text.len() - value.len() + quoted.as_ref().map_or(0, |inner| inner.start);
        let range = start..start + length;
        let secret = &text[range.clone()];
        let is_unquoted = quoted.is_none();
        let is_literal = is_unquoted && matches!(secret, "true" | "false" | "null");
        // The next line of a log is not a value, unless it is indented.
        must_look_generated |= is_unquoted && !name.is_quoted && text[at..start].ends_with('\n');
        // The next line may be a member or an item of a block.
        let is_of_block =
            is_unquoted && text[at..start].contains('\n') && (secret.ends_with(':') || secret == "-");
        if length == 0
            || is_literal
            || is_count(word, secret)
            || is_of_block
            || must_look_generated && !looks_generated(head(secret))
        {
            return None;
        }
        Some(Value { range, certainty: self.certainty(reason, is_unquoted) })
    }

    fn certainty(&self, reason: Reason, is_unquoted: bool) -> Certainty {
        let Self { name, word, operator, before, .. } = self;
        let is_token = ["token", "tokens"].iter().any(|token| word.eq_ignore_ascii_case(token));
        let is_plain = is_unquoted && *operator == Operator::Colon;
        if is_token && !name.is_quoted && (is_plain || follows_parser_word(before)) {
            return Certainty::Random;
        }
        match (!is_plain || name.is_quoted) && reason != Reason::Query {
            true => Certainty::Sure,
            false => Certainty::Perhaps,
        }
    }
}

/// The most bytes of a value that are read to see whether it looks generated: where it does not, the next value begins in it.
const LONGEST_GENERATED: usize = 256;

fn head(text: &str) -> &str {
    &text[..floor(text, LONGEST_GENERATED)]
}

/// Returns whether a text ends with a word that parsers write before `token`.
fn follows_parser_word(before: &str) -> bool {
    let end = last_bytes(before, LONGEST_GAP);
    let word = end.trim_end().rsplit(|c: char| !c.is_ascii_alphabetic()).next();
    word.is_some_and(|word| PARSER_WORDS.contains(&word.to_ascii_lowercase().as_str()))
}

/// The second element of a pair in a list or in a call: `("Authorization", "…")`.
fn second_of_pair(text: &str, at: usize) -> Option<Value> {
    if !text[..at].ends_with(['"', '\'']) {
        return None;
    }
    let name = Name::before(text, at);
    let before = text[..name.range.start].strip_suffix(['"', '\''])?.trim_end_matches('\\');
    let before = before.strip_suffix(['b', 'f', 'r', 'u']).unwrap_or(before);
    let word = decoded(&text[name.range.clone()]);
    if !before.ends_with(['(', '[', '{']) || !is_secret_text_name(&word) {
        return None;
    }
    let value = without_string_prefix(trim_gap(&text[at + 1..], is_space_or_line_break));
    let inner = quoted(value)?;
    let start = text.len() - value.len() + inner.start;
    let range = start..start + inner.len();
    let is_secret = !range.is_empty() && is_secret_pair(&word, &text[range.clone()]);
    is_secret.then_some(Value { range, certainty: Certainty::Perhaps })
}

/// The most bytes before a value in which the name of its pair is searched, and the longest such name.
const PAIR_WINDOW: usize = 120;

/// Returns whether the name of a pair, before or after its value, is vague, or `None` if it is not secret.
fn is_in_secret_pair(value_member: &str, is_quoted: bool, before: &str, behind: &str) -> Option<bool> {
    let is_mark = |c: char| c.is_whitespace() || "\"'\\:=,".contains(c);
    let is_in_name = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let pair = |member: &str, name: &str| {
        let is_secret = is_pair_name(member) && is_secret_text_name(name);
        is_secret.then(|| is_vague_pair(member, value_member) || !is_quoted && is_common_name(name))
    };
    let before = last_bytes(before, PAIR_WINDOW);
    let end = before.trim_end_matches(is_mark);
    let start = end.trim_end_matches(is_in_name);
    let member = start.trim_end_matches(is_mark);
    let member = &member[member.trim_end_matches(is_in_name).len()..];
    if let Some(is_vague) = pair(member, &end[start.len()..]) {
        return Some(is_vague);
    }
    // After the value and its quotation mark.
    let value = behind.trim_start();
    let length = match quoted(value) {
        Some(range) => range.end,
        None => {
            let window = &value[..floor(value, 2 * PAIR_WINDOW)];
            window.find(char::is_whitespace).unwrap_or(window.len())
        }
    };
    let rest = value[length..].trim_start_matches(is_mark);
    let member = &rest[..rest.find(|c| !is_in_name(c)).unwrap_or(rest.len()).min(PAIR_WINDOW)];
    let rest = rest[member.len()..].trim_start_matches(is_mark);
    let name = &rest[..rest.find(|c| !is_in_name(c)).unwrap_or(rest.len()).min(PAIR_WINDOW)];
    pair(member, name)
}

/// The name before a place.
struct Name {
    range: Range<usize>,
    is_quoted: bool,
    /// Whether white space or a colour code follows.
    has_gap: bool,
}

impl Name {
    /// The name before a place. It may be an index: `environ['NAME'] =`, `user[password]=`.
    fn before(text: &str, at: usize) -> Self {
        let mut end = at;
        while at - end < LONGEST_GAP
            && let Some(shorter) = without_last_gap(&text[..end])
        {
            end = shorter.len();
        }
        let has_gap = end < at;
        let is_index = text[..end].ends_with(']') && text[at..].starts_with('=');
        let end = end - usize::from(is_index);
        let trimmed = |end: usize, limit: usize, is_wanted: fn(u8) -> bool| {
            let bytes = text.as_bytes()[..end].iter().rev().take(limit);
            end - bytes.take_while(|byte| is_wanted(**byte)).count()
        };
        let before_quote = trimmed(end, 1, |byte| byte == b'"' || byte == b'\'');
        let is_quoted = before_quote < end;
        if is_index && has_gap && !is_quoted {
            return Self { range: end..end, is_quoted, has_gap };
        }
        let end = trimmed(before_quote, LONGEST_GAP, |byte| byte == b'\\');
        let is_in_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.%\\".contains(&byte);
        Self { range: trimmed(end, LONGEST_NAME, is_in_name)..end, is_quoted, has_gap }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_to_their_ends() {
        for (text, expected) in [
            ("DB_PASSWORD=\"two words\" x", "two words"),
            (r#"{"password":"ab'c\"d","n":1}"#, r#"ab'c\"d"#),
            (r#"{\"password\":\"ab\\\"c\",\"n\":1}"#, r#"ab\\\"c"#),
            (r#"{"p\u0061ssword":987}"#, "987"),
            (r#"x?acc%65ss_tok%65n=ab&b=c"#, "ab"),
            ("?sid=ab&b=c", "ab"),
            ("password: ab\"cd, x", "ab\"cd"),
            ("say \"password: ab\", x", "ab"),
            ("data: {\"password\": [ \"ab\"]}", "ab"),
            ("Authorization: ApiKey ab cd", "ApiKey ab"),
            ("-H 'Cookie: a=b; c=d' x", "a=b; c=d"),
            ("password = 'ab' x", "ab"),
            ("{\"password\":\"cut", "cut"),
            ("token=abc\\nnext", "abc"),
            ("code=ab&grant_type=x", "ab"),
            ("-d 'code=ab&x=y'", "ab"),
            ("code=SplxlOBeZQQYbYS6", "SplxlOBeZQQYbYS6"),
            ("/cb?code=ab1c", "ab1c"),
            ("headers: [(\"Authorization\", \"ab\")]", "ab"),
            ("{\\\"X-Api-Key\\\", \\\"ab\\\"}", "ab"),
            ("headers.insert('X-Api-Key', b'ab')", "ab"),
            ("config.set('password', 'Zq1vX7wPk1', 3)", "Zq1vX7wPk1"),
            ("env:\n  - name: DB_PASSWORD\n    value: ab\n", "ab"),
            ("env:\n  - value: ab\n    name: DB_PASSWORD\n", "ab"),
            ("<add key=\"ApiToken\" value=\"ab\"/>", "ab"),
            ("os.environ['GITHUB_TOKEN'] = 'ab'", "ab"),
            ("user[password]=ab", "ab"),
            ("token := \"ab\"", "ab"),
            (":token => 'ab'", "ab"),
            ("if password == 'ab' {", "ab"),
            ("password = Zq1vX7wPk1", "Zq1vX7wPk1"),
            ("\u{1b}[32mtoken\u{1b}[0m=\u{1b}[33mZq1vX7wPk1\u{1b}[0m", "Zq1vX7wPk1"),
            ("token\u{a0}=\u{a0}Zq1vX7wPk1", "Zq1vX7wPk1"),
            ("auth: Zq1vX7wPk1", "Zq1vX7wPk1"),
            ("password:\n  hunter2", "hunter2"),
            (r#"env {"name":"GITHUB_TOKEN","value":"ab"}, x"#, "ab"),
            (r#"env {"value": "ab", "name": "GITHUB_TOKEN"}, x"#, "ab"),
            (r#"{\"name\":\"X-Api-Key\",\"value\":\"ab\"}"#, "ab"),
        ] {
            let values: Vec<_> = secret_values(text).into_iter().map(|value| &text[value.range]).collect();
            assert_eq!(values, [expected], "{text}");
        }
        for text in [
            "token:",
            "exit code=1",
            "key=value",
            "\"name\":\"MODE\",\"value\":\"x\"",
            "token= x",
            "\"token\":null",
            "\"token\": {",
            "sid=ab",
            "maxTokens=7",
            "=:",
            "\"=",
            "code=200&status=ok",
            "code=SUCCESS_WITH_INFO_200&x=1",
            "state=open&page=2",
            "/issues?state=open&page=2",
            "key=arrow-left-key-0001",
            "auth: none",
            "rows: [[\"Secret\", \"Garden\"], [\"password\", \"reset page\"]]",
            "[\"a\", \"password\", \"b\"]",
            "let token = parser.getToken()",
            "if token == other {",
            "x::token::Kind y",
            "tokens[index] = 7",
            "name: MODE\nvalue: x",
            "- name: MODE\n  value: fast\n- name: DB_PASSWORD",
            "Password:\nConnected at 2026-12-01T10:00:00",
        ] {
            assert_eq!(secret_values(text), [], "{text}");
        }
    }

    #[test]
    fn token_of_a_parser_must_look_random() {
        for text in [
            "unexpected token: identifier",
            "Unexpected token: '<'",
            "unexpected token=EOF",
            "a token: a word",
        ] {
            let values = secret_values(text);
            assert!(values.iter().all(|value| value.certainty == Certainty::Random), "{text}: {values:?}");
        }
    }
}

//! Finds the secret values of JSON text by their places.

use std::collections::HashSet;

use super::rules::{
    PAIR_MEMBERS, SCHEMA_KEYWORDS, SCHEMA_PARENTS, SECRET_PLACES, is_secret_name, is_secret_text_name,
};
use crate::json_text::{Step, Token, rewrite};

/// The secret values of one JSON text: by the name of a member, below a member with such a name, as the value of a pair whose name
/// is secret, as a setting of an MCP server, or behind an option of a command line.
#[derive(Debug, Default)]
pub(super) struct SecretPlaces {
    /// The objects and arrays that are a pair whose name is secret. A value may stand before its name.
    pairs: HashSet<Vec<Step>>,
    /// The last value was an option such as `--token`, or the name of a header in a list of headers.
    follows_name: bool,
}

impl SecretPlaces {
    /// Looks for the pairs of a text.
    pub(super) fn of(json: &str) -> Self {
        let mut pairs = HashSet::new();
        rewrite(json, &mut |path, token| {
            if let (Token::Text(name), Some((last, pair))) = (token, path.split_last())
                && is_name_of_pair(last, pair)
                && is_secret_text_name(name)
            {
                pairs.insert(pair.to_vec());
            }
            None
        });
        Self { pairs, follows_name: false }
    }

    /// Whether a value of the text is secret. The values are asked for in their order.
    pub(super) fn is_secret(&mut self, path: &[Step], token: Token<'_>) -> bool {
        let is_element = matches!(path.last(), Some(Step::Index(_)));
        let (text, follows_name) = match token {
            Token::Text(text) => (text, std::mem::take(&mut self.follows_name) && is_element),
            Token::Plain(text) if is_number(text) => ("", false),
            Token::Name(_) | Token::Plain(_) => return false,
        };
        let option = text.strip_prefix("--").or_else(|| is_in_headers(path).then_some(text));
        self.follows_name = is_element && option.is_some_and(is_secret_name);
        // Numbers below a name in the plural are counts.
        let is_name = if text.is_empty() { is_secret_name } else { is_secret_text_name };
        follows_name || is_below_name(path, is_name) || self.is_in_pair(path) || is_setting(path)
    }

    fn is_in_pair(&self, path: &[Step]) -> bool {
        !self.pairs.is_empty()
            && (0..path.len()).any(|at| is_value_of_pair(&path[at]) && self.pairs.contains(&path[..at]))
    }
}

/// Whether the last step leads to the name of a pair: a member, or the first element of a list within a list.
fn is_name_of_pair(last: &Step, pair: &[Step]) -> bool {
    match last {
        Step::Member(name) => PAIR_MEMBERS.0.contains(&&*name.to_ascii_lowercase()),
        Step::Index(index) => *index == 0 && matches!(pair.last(), Some(Step::Index(_))),
    }
}

fn is_value_of_pair(step: &Step) -> bool {
    match step {
        Step::Member(name) => PAIR_MEMBERS.1.contains(&&*name.to_ascii_lowercase()),
        Step::Index(index) => *index > 0,
    }
}

/// Whether an element of a list of headers, where each value follows its name.
fn is_in_headers(path: &[Step]) -> bool {
    matches!(path, [.., Step::Member(list), Step::Index(_)] if list.to_ascii_lowercase().ends_with("headers"))
}

/// Whether a value is that of a member with the name of a secret, or stands below one. The description of such a member in a schema
/// does not, and the name of a pair does not.
fn is_below_name(path: &[Step], is_name: fn(&str) -> bool) -> bool {
    let is_member_of = |step: Option<&Step>, names: &[&str]| matches!(step, Some(Step::Member(name)) if names.contains(&&**name));
    (0..path.len()).any(|at| {
        let Step::Member(name) = &path[at] else { return false };
        let is_in_schema = at > 0
            && is_member_of(path.get(at - 1), SCHEMA_PARENTS)
            && is_member_of(path.get(at + 1), SCHEMA_KEYWORDS);
        is_name(name) && !is_in_schema && (at + 1 == path.len() || !is_member_of(path.last(), &["name"]))
    })
}

/// Whether a path leads to a setting of an MCP server or to a variable of a program. An entry is `{"name":…,"value":…}` in ACP, and
/// `NAME: value` in files of settings.
fn is_setting(path: &[Step]) -> bool {
    let is_one_of =
        |step: &Step, names: &[&str]| matches!(step, Step::Member(name) if names.contains(&&**name));
    let (lists, settings) = SECRET_PLACES;
    if let [.., list, Step::Index(_), value] = path
        && is_one_of(list, &["env"])
        && is_one_of(value, &["value"])
    {
        return true;
    }
    let Some(list) = path.iter().position(|step| is_one_of(step, lists)) else { return false };
    let Some(between) = path.get(list + 1..path.len() - 1) else { return false };
    let is_name = path.last().is_some_and(|step| is_one_of(step, &["name"]));
    !is_name && between.iter().any(|step| is_one_of(step, settings))
}

fn is_number(text: &str) -> bool {
    !matches!(text, "true" | "false" | "null")
}

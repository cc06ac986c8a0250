//! Finds the secret values of JSON text by their places.

use std::collections::HashMap;

use super::key_lines::KeyLines;
use super::names::{
    ends_with, is_count, is_pair_name, is_pair_value, is_secret_name, is_secret_pair, is_secret_text_name,
    is_suspect_name, is_vague_pair,
};
use super::random::looks_generated;
use super::rules::{KEY_MEMBERS, LOGIN_OPTIONS, SCHEMA_KEYWORDS, SCHEMA_PARENTS, SECRET_PLACES};
use crate::json_text::{Path, Step, Token, rewrite};

/// A value below more objects and arrays than this is secret, since the time for each value grows with their number.
const DEEPEST: usize = 256;

/// The secret values of one JSON text: by the name of a member, below a member with such a name, as the value of a pair
/// whose name is secret, as a setting of an MCP server, or behind an option of a command line.
#[derive(Debug, Default)]
pub(super) struct SecretPlaces {
    /// By their numbers, the objects and arrays that are a pair whose name is secret, or a JSON Web Key. A value may precede its name.
    pairs: HashMap<usize, Pair>,
    /// The last value was an option such as `--token`, or the name of a header in a list of headers.
    follows_name: bool,
    /// The last value was an option such as `--auth` or `-u`, behind which a generated value is secret.
    follows_suspect: bool,
    /// The private keys in the texts of a list of lines.
    key_lines: KeyLines,
}

/// An object or array with a secret value.
#[derive(Debug)]
enum Pair {
    /// The name, and the member that holds it. The member is empty for the first element of a list.
    Named {
        name: String,
        member: String,
    },
    Key,
}

impl Pair {
    /// Whether the value that a step leads to is secret. Below a name in the plural, numbers are counts.
    fn is_secret(&self, step: &Step, rest: &[Step], value: &str, is_plain: bool) -> bool {
        let Self::Named { name, member } = self else {
            return matches!(step, Step::Member(step) if KEY_MEMBERS.1.contains(&&**step));
        };
        let is_count = !is_secret_name(name) && (is_plain || value.bytes().all(|byte| byte.is_ascii_digit()));
        let is_value = match step {
            Step::Index(index) => *index > 0 && member.is_empty() && is_secret_pair(name, value),
            // A reference to a secret names it.
            Step::Member(step)
                if step.eq_ignore_ascii_case("valueFrom")
                    && matches!(rest.last(), Some(Step::Member(last)) if is_pair_name(last)) =>
            {
                false
            }
            Step::Member(step) => {
                is_pair_value(step) && (!is_vague_pair(member, step) || looks_generated(value))
            }
        };
        is_value && !is_count
    }
}

impl SecretPlaces {
    /// Looks for the pairs of a text.
    pub(super) fn of(json: &str) -> Self {
        let mut pairs = HashMap::new();
        rewrite(json, &mut |Path { steps, containers }, token| {
            if steps.len() <= DEEPEST
                && let (Token::Text(name), Some((last, pair))) = (token, steps.split_last())
            {
                let container = containers[containers.len() - 1];
                if let Some(member) = name_member(last, pair)
                    && is_secret_text_name(name)
                {
                    let found = Pair::Named { name: name.to_owned(), member: member.to_owned() };
                    // A name counts more than a label beside it.
                    match pairs.get_mut(&container) {
                        Some(known) if !is_vague_pair(member, "") => *known = found,
                        Some(_) => {}
                        None => drop(pairs.insert(container, found)),
                    }
                } else if matches!(last, Step::Member(member) if member == KEY_MEMBERS.0) {
                    pairs.entry(container).or_insert(Pair::Key);
                }
            }
            None
        });
        Self { pairs, ..Self::default() }
    }

    /// Returns whether a value of the text is secret. Must be called for all values in their order.
    pub(super) fn is_secret(&mut self, Path { steps: path, containers }: Path<'_>, token: Token<'_>) -> bool {
        let is_element = matches!(path.last(), Some(Step::Index(_)));
        let (text, value, follows_name) = match token {
            Token::Text(text) => (text, text, std::mem::take(&mut self.follows_name) && is_element),
            Token::Plain(text) if is_number(text) => ("", text, false),
            Token::Name(_) | Token::Plain(_) => return false,
        };
        if path.len() > DEEPEST {
            return true;
        }
        let option = text.strip_prefix("--").or_else(|| is_in_headers(path).then_some(text));
        let follows_suspect = std::mem::take(&mut self.follows_suspect) && is_element;
        self.follows_name = is_element && option.is_some_and(is_secret_name);
        self.follows_suspect =
            is_element && (option.is_some_and(is_suspect_name) || LOGIN_OPTIONS.contains(&text));
        let is_key_line = is_element && self.key_lines.has(text);
        // Numbers below a name in the plural are counts.
        let is_name = if text.is_empty() { is_secret_name } else { is_secret_text_name };
        follows_name
            || is_key_line && !text.trim().is_empty()
            || follows_suspect && text.rsplit(':').next().is_some_and(looks_generated)
            || is_below_name(path, |name| is_name(name) && !is_count(name, value))
            || self.is_in_pair(path, containers, value, text.is_empty())
            || is_setting(path)
            || looks_generated(text) && is_below_name(path, is_suspect_name)
    }

    fn is_in_pair(&self, path: &[Step], containers: &[usize], value: &str, is_plain: bool) -> bool {
        path.iter().zip(containers).enumerate().any(|(at, (step, container))| {
            let pair = self.pairs.get(container);
            pair.is_some_and(|pair| pair.is_secret(step, &path[at + 1..], value, is_plain))
        })
    }
}

/// The member that has the name of a pair, if the last step leads to one. It is empty for the first element of a list
/// that is the whole text or is inside a list.
fn name_member<'a>(last: &'a Step, pair: &[Step]) -> Option<&'a str> {
    match last {
        Step::Member(name) => is_pair_name(name).then_some(name),
        Step::Index(index) => {
            (*index == 0 && matches!(pair.last(), None | Some(Step::Index(_)))).then_some("")
        }
    }
}

/// Returns whether plain words are as common as secrets in such a place: `tokens` of a parser, and defaults of arguments.
pub(super) fn is_in_common_place(path: &[Step]) -> bool {
    let is_token = |name: &str| ["token", "tokens"].iter().any(|end| ends_with(name, end));
    let is_default = matches!(path.last(), Some(Step::Member(name)) if &**name == "default");
    is_default || path.iter().take(DEEPEST).any(|step| matches!(step, Step::Member(name) if is_token(name)))
}

/// Whether an element of a list of headers, where each value follows its name.
fn is_in_headers(path: &[Step]) -> bool {
    matches!(path, [.., Step::Member(list), Step::Index(_)] if ends_with(list, "headers"))
}

/// Returns whether a value belongs to a member with the name of a secret, or is below one. The description of such a
/// member in a schema and the name of a pair are exempt.
fn is_below_name(path: &[Step], is_name: impl Fn(&str) -> bool) -> bool {
    let is_member_of = |step: Option<&Step>, names: &[&str]| matches!(step, Some(Step::Member(name)) if names.contains(&&**name));
    (0..path.len()).any(|at| {
        let Step::Member(name) = &path[at] else { return false };
        let is_in_schema = at > 0
            && is_member_of(path.get(at - 1), SCHEMA_PARENTS)
            && is_member_of(path.get(at + 1), SCHEMA_KEYWORDS);
        is_name(name) && !is_in_schema && (at + 1 == path.len() || !is_member_of(path.last(), &["name"]))
    })
}

/// Whether a path leads to a setting of an MCP server or to a variable of a program. An entry is `{"name":…,"value":…}`
/// in ACP, and `NAME: value` in files of settings.
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

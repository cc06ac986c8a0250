//! Decides whether a field of a query or a form is secret.

use super::boundary::{floor, last_bytes};
use super::random::{consists_of_words, looks_generated};
use super::rules::QUERY_COMPANIONS;

/// The shortest value that makes a form without a second field.
const SHORTEST_LONE_VALUE: usize = 16;

/// The most digits of a status.
const LONGEST_STATUS: usize = 5;

/// The most bytes before and behind a value in which the other fields of a form are looked for.
const FORM_WINDOW: usize = 200;

/// Returns whether a value is a secret of a query or a form: after `?` or `&`, or in the first field of a form.
pub(super) fn is_in_query(query: &str, is_assigned: bool, before: &str, behind: &str) -> bool {
    let is_in_value = |byte: &u8| byte.is_ascii_alphanumeric() || b"%+-._~*/".contains(byte);
    let value = &behind[..behind.bytes().take_while(is_in_value).count()];
    let is_form = behind[value.len()..].starts_with('&') && !value.is_empty()
        || value.len() >= SHORTEST_LONE_VALUE && looks_generated(value);
    let begins_form =
        is_assigned && before.chars().next_back().is_none_or(|c| c.is_whitespace() || "\"'=".contains(c));
    if !(before.ends_with(['?', '&']) || begins_form && is_form) {
        return false;
    }
    // These two name other things as well: `code=200`, `state=open`.
    let is_status = value.bytes().all(|byte| byte.is_ascii_digit()) && value.len() <= LONGEST_STATUS
        || consists_of_words(value) && !value.bytes().any(|byte| byte.is_ascii_lowercase());
    let is_secret = match query {
        "code" => !is_status,
        "state" => looks_generated(value),
        _ => true,
    };
    is_secret || has_companion(query, before, behind)
}

/// Whether other fields around a value belong to OAuth.
fn has_companion(query: &str, before: &str, behind: &str) -> bool {
    let before = last_bytes(before, FORM_WINDOW);
    let behind = &behind[..floor(behind, FORM_WINDOW)];
    let has = |field: &str| before.contains(field) || behind.contains(field);
    QUERY_COMPANIONS.iter().any(|field| has(field)) || query == "state" && (has("?code=") || has("&code="))
}

//! Decides by a name whether its value is secret.

use super::random::looks_generated;
use super::rules::{
    ARGUMENT_HEADER, COMMON_NAMES, NAME_SUFFIXES, PAIR_MEMBERS, PUBLIC_MEMBERS, PUBLIC_VARIABLES,
    SECRET_HEADER_ENDS, SECRET_MEMBERS, SECRET_QUERY, SECRET_VARIABLE_ENDS, SUSPECT_ENDS, SUSPECT_MEMBERS,
    VAGUE_PAIR_MEMBERS,
};

/// The longest name that is looked at, in bytes.
const LONGEST_NAME: usize = 256;

/// Whether the value of a header, a member or a setting of this name is secret.
pub(super) fn is_secret_name(name: &str) -> bool {
    if name.len() > LONGEST_NAME {
        return false;
    }
    let lower_case = name.to_ascii_lowercase();
    if let Some(argument) = lower_case.strip_prefix(ARGUMENT_HEADER) {
        return is_secret_name(argument);
    }
    let plain = plain(name);
    let is_member = |plain: &str| {
        !PUBLIC_MEMBERS.contains(&plain) && SECRET_MEMBERS.iter().any(|end| plain.ends_with(end))
    };
    is_member(&plain)
        || is_member(stem(&plain))
        || is_secret_variable(name)
        || SECRET_HEADER_ENDS.iter().any(|end| lower_case.ends_with(end))
}

/// Whether a name has this end, in upper or lower case.
pub(super) fn ends_with(name: &str, end: &str) -> bool {
    let tail = name.len().checked_sub(end.len()).and_then(|at| name.get(at..));
    tail.is_some_and(|tail| tail.eq_ignore_ascii_case(end))
}

/// Whether a string behind this name is secret: the name may be in the plural.
pub(super) fn is_secret_text_name(name: &str) -> bool {
    let singular = |name: &str| name.strip_suffix(['s', 'S']).is_some_and(is_secret_name);
    is_secret_name(name)
        || singular(name)
        || singular(name.trim_end_matches(|c: char| "_-".contains(c) || c.is_ascii_digit()))
}

/// Whether a value behind this name is a number of tokens.
pub(super) fn is_count(name: &str, value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_digit()) && ends_with(name, "tokens") && !is_secret_name(name)
}

/// Whether a generated value behind this name is secret. The name has other meanings as well.
pub(super) fn is_suspect_name(name: &str) -> bool {
    if name.len() > LONGEST_NAME {
        return false;
    }
    let plain = plain(name);
    SUSPECT_MEMBERS.contains(&last_word(name).to_ascii_lowercase().as_str())
        || SUSPECT_ENDS.iter().any(|end| plain.ends_with(end))
}

/// Returns whether a name is a common word, which also occurs in tables and prose.
pub(super) fn is_common_name(name: &str) -> bool {
    let lower_case = name.to_ascii_lowercase();
    COMMON_NAMES.contains(&lower_case.strip_suffix('s').unwrap_or(&lower_case))
}

/// Whether the name of a pair makes this value a secret. A common word does so only with a generated value.
pub(super) fn is_secret_pair(name: &str, value: &str) -> bool {
    !is_common_name(name) || looks_generated(value)
}

/// Whether a member has the name of a pair.
pub(super) fn is_pair_name(member: &str) -> bool {
    let member = plain(member);
    PAIR_MEMBERS.0.contains(&&*member) || VAGUE_PAIR_MEMBERS.0.contains(&&*member)
}

/// Whether a member has the value of a pair.
pub(super) fn is_pair_value(member: &str) -> bool {
    let member = plain(member);
    PAIR_MEMBERS.1.contains(&&*member) || VAGUE_PAIR_MEMBERS.1.contains(&&*member)
}

/// Whether a pair of two such members may be something else, so that its value must look generated.
pub(super) fn is_vague_pair(name_member: &str, value_member: &str) -> bool {
    VAGUE_PAIR_MEMBERS.0.contains(&&*plain(name_member))
        || VAGUE_PAIR_MEMBERS.1.contains(&&*plain(value_member))
}

/// The last word of a name, such as `pass` of `db_pass`, `dbPass` and `db.pass`.
fn last_word(name: &str) -> &str {
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let start = name.rfind(['_', '-', '.', ' ']).map_or(0, |at| at + 1);
    let word = &name[start..];
    let is_lower = |at: usize| word.as_bytes()[at].is_ascii_lowercase();
    let hump = |(at, byte): &(usize, u8)| byte.is_ascii_uppercase() && is_lower(at - 1);
    &word[word.bytes().enumerate().skip(1).rfind(hump).map_or(0, |(at, _)| at)..]
}

/// A plain name without a number and without one of [`NAME_SUFFIXES`].
fn stem(plain: &str) -> &str {
    if let Some(stem) = NAME_SUFFIXES.iter().find_map(|suffix| plain.strip_suffix(suffix)) {
        return stem;
    }
    let stem = plain.trim_end_matches(|c: char| c.is_ascii_digit());
    if stem.len() < plain.len() { stem.strip_suffix('v').unwrap_or(stem) } else { stem }
}

/// Whether a name is that of a variable in capitals whose value is secret.
fn is_secret_variable(name: &str) -> bool {
    let is_variable = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('_');
    name.bytes().all(is_variable)
        && SECRET_VARIABLE_ENDS.iter().any(|end| stem.ends_with(end))
        && !PUBLIC_VARIABLES.iter().any(|public| stem.ends_with(public))
}

/// The plain form of a name in the query of a URL whose value may be secret.
pub(super) fn secret_in_query(name: &str) -> Option<&'static str> {
    if name.len() > LONGEST_NAME {
        return None;
    }
    let plain = plain(name);
    SECRET_QUERY.iter().find(|secret| **secret == plain).copied()
}

/// A name in lower case without the characters that part its words.
fn plain(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-' | '.' | ' ')).map(|c| c.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_decide_whether_values_are_secret() {
        for name in [
            "token",
            "access_token",
            "GITHUB_TOKEN",
            "apiKey",
            "api_key",
            "clientSecret",
            "code_verifier",
            "Mcp-Session-Id",
            "X-Custom-Token",
            "Mcp-Auth",
            "Mcp-Param-Password",
            "mcp-param-apikey",
            "password2",
            "token_1",
            "GITHUB_TOKEN_2",
            "newPasswordConfirmation",
            "secret_value",
            "accessTokenV2",
            "OPENAI_KEY",
            "DB_PASS_2",
            "SENTRY_DSN",
            "otp",
            "authorization_code",
            "authCode",
            "device_code",
            "user_code",
            "private_key_pem",
            "privateKeyData",
            "JSESSIONID",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "progressToken",
            "tokens",
            "maxTokens",
            "key",
            "passwordHint",
            "sessionId",
            "author",
            "Content-Type",
            "mcp-protocol-version",
            "mcp-param-name",
            "progressToken2",
            "tokenType",
            "sort_key",
            "PUBLIC_KEY",
            "SSH_AUTH_SOCK",
            "oauth2",
            "value",
            "forgotPassword",
            "CACHE_KEY",
            "ARROW_KEY",
            "auth",
            "pass",
            "bearer",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
        assert!(
            is_secret_text_name("tokens")
                && is_secret_text_name("tokens_2")
                && !is_secret_text_name("maxTokens")
        );
        assert!(secret_in_query("session_id").is_some() && secret_in_query("page").is_none());
    }

    #[test]
    fn names_with_other_meanings_are_suspect() {
        for name in ["auth", "pass", "db_pass", "dbPass", "PASS2", "pin", "bearer", "jwt"] {
            assert!(is_suspect_name(name), "{name}");
        }
        for name in ["compass", "bypass", "author", "authMethods", "spin", "password"] {
            assert!(!is_suspect_name(name), "{name}");
        }
        assert!(is_common_name("Secret") && is_common_name("tokens") && !is_common_name("X-Api-Key"));
        assert!(is_secret_pair("X-Api-Key", "abc") && !is_secret_pair("Secret", "Garden"));
    }
}

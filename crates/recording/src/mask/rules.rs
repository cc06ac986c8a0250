//! What is taken for a secret, as tables.

use regex_lite::Regex;

/// Headers whose value is a secret. Those that end with `-auth`, `-key`, `-secret`, `-session-id` or `-token` are as well.
pub const SECRET_HEADERS: &[&str] = &[
    "api-key",
    "authorization",
    "cookie",
    "proxy-authorization",
    "set-cookie",
    "set-cookie2",
    "x-api-key",
    "x-goog-api-key",
];

const SECRET_HEADER_ENDS: &[&str] = &["-auth", "-key", "-secret", "-session-id", "-token"];

/// The headers that carry arguments of a tool. What follows is the name of the argument.
const ARGUMENT_HEADER: &str = "mcp-param-";

/// The ends of the names of members whose value is a secret, in lower case and without `_` and `-`. A string is also a secret if
/// the name is in the plural; numbers are not, since `tokens` are counted. All strings below such a member are secrets.
pub const SECRET_MEMBERS: &[&str] = &[
    "accesskey",
    "accountkey",
    "apikey",
    "authorization",
    "clientassertion",
    "codeverifier",
    "connectionstring",
    "cookie",
    "credential",
    "credentials",
    "encryptionkey",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "pwd",
    "secret",
    "secretkey",
    "signingkey",
    "token",
];

/// The words that may follow such an end: `password2` and `tokenValue` name secrets as `password` and `token` do. A number with or without a
/// `v` may follow as well.
const NAME_SUFFIXES: &[&str] = &[
    "base64",
    "b64",
    "confirm",
    "confirmation",
    "current",
    "new",
    "old",
    "raw",
    "repeat",
    "string",
    "value",
];

/// The ends of the names of variables in capitals whose value is a secret. In lower case these ends mean other things: a `sort_key`.
pub const SECRET_VARIABLE_ENDS: &[&str] = &["_AUTH", "_CREDS", "_DSN", "_KEY", "_PASS", "_PAT", "_PW", "_SK"];

/// Variables with such an end whose value is not secret.
const PUBLIC_VARIABLES: &[&str] = &["FOREIGN_KEY", "PRIMARY_KEY", "PUBLIC_KEY"];

/// Names with such an end whose value is no secret: tokens that name a request, a page or a place.
pub const PUBLIC_MEMBERS: &[&str] = &[
    "progresstoken",
    "nextpagetoken",
    "pagetoken",
    "continuationtoken",
    "tokentype",
    "maxtoken",
    "cancellationtoken",
];

/// Further names of secrets in the query of a URL, in the same form.
pub const SECRET_QUERY: &[&str] =
    &["auth", "code", "key", "sessionid", "sid", "sig", "signature", "state", "xamzsignature"];

/// The names of credentials that follow one of these words and white space, in lower case.
pub const SCHEMES: &[&str] = &["apikey", "basic", "bearer", "digest", "dpop", "negotiate", "token"];

/// The lists of servers in messages and in files of settings, and the members of their entries whose values are secrets.
pub const SECRET_PLACES: (&[&str], &[&str]) =
    (&["context_servers", "mcpServers", "mcp_servers"], &["env", "headers", "http_headers"]);

/// The members of a pair that have its name, and those that have its value: `{"name":"GITHUB_TOKEN","value":…}`.
pub(super) const PAIR_MEMBERS: (&[&str], &[&str]) = (
    &["field", "header", "headername", "id", "k", "key", "name", "variable"],
    &["default", "headervalue", "v", "val", "value", "values"],
);

/// The members of JSON Schema that hold schemas by their names. Such a name describes a secret, and is not its value's.
pub(super) const SCHEMA_PARENTS: &[&str] =
    &["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];

/// The keywords of JSON Schema whose values are not secret. `const`, `default`, `enum` and `examples` may show one.
pub(super) const SCHEMA_KEYWORDS: &[&str] = &[
    "$comment",
    "$ref",
    "additionalProperties",
    "allOf",
    "anyOf",
    "description",
    "format",
    "items",
    "not",
    "oneOf",
    "pattern",
    "prefixItems",
    "properties",
    "required",
    "title",
    "type",
];

/// How sure it is that what a rule finds is a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "as sure as the table needs")]
pub enum Certainty {
    /// It is masked wherever it occurs.
    Sure,
    /// It is masked there, and elsewhere only if it looks random.
    Perhaps,
    /// It is masked only if it looks random: words of a language stand there, too.
    Random,
    /// It is the name of a user: masked in paths.
    Name,
}

/// A pattern of secrets within any text.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_structs, reason = "a row of a table")]
pub struct SecretPattern {
    /// A regular expression. Its last group is the secret.
    pub pattern: &'static str,
    /// Each match has one of these, in lower case. A text without them is not searched, because the search takes far longer.
    pub words: &'static [&'static str],
    /// How sure it is.
    pub certainty: Certainty,
}

const fn row(pattern: &'static str, words: &'static [&'static str], certainty: Certainty) -> SecretPattern {
    SecretPattern { pattern, words, certainty }
}

/// What the names of secrets have in them.
const NAMES: &[&str] = &["token", "apikey", "api-key", "api_key", "pass", "secret"];

/// Patterns of secrets within any text, beside values behind a name. None goes on behind its secret, so a search of a text takes
/// time in proportion to its length.
pub const PATTERNS: &[SecretPattern] = &[
    // The credentials of a header that stands in text.
    row(r"(?i)\b(?:bearer|basic)\s+([A-Za-z0-9._~+/\-]{8,}=*)", &["bearer", "basic"], Certainty::Random),
    // The user information of a URL: up to the last `@` of the authority, or up to the next one where a password has a `/`. Digits
    // before the `/` are a port.
    row(r#"://([^/?#\s"<>]*|[^/?#@:\s"<>]*:[0-9]*[^0-9/@\s"<>][^@\s"<>]*)@"#, &["://"], Certainty::Sure),
    // The argument behind an option of a command line.
    row(
        r#"(?i)--[\w-]*(?:token|api[-_]?key|password|passwd|secret)\s+["']?([^\s"'-][^\s"']*)"#,
        NAMES,
        Certainty::Perhaps,
    ),
    // An element of XML.
    row(r"(?i)<[\w.:\-]*(?:token|api[-_]?key|password|passwd|secret)>([^<]+)", NAMES, Certainty::Sure),
    // A part of a form.
    row(
        r#"(?i)name="[^"]*(?:token|api[-_]?key|password|passwd|secret)"\s*\n\s*([^\r\n]+)"#,
        NAMES,
        Certainty::Sure,
    ),
    // A private key in PEM or in the armor of OpenPGP, with its end or cut off before it.
    row(
        r"-----? ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-----?((?:-?[^-])+)",
        &["private key"],
        Certainty::Sure,
    ),
    // JSON Web Tokens. Other tokens that their form shows are in `TOKEN_FORMS`.
    row(r"(?:\b|_)(eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]+\.[A-Za-z0-9_\-]*)", &["eyj"], Certainty::Sure),
    // Home folders of any user.
    row(r#"(?:/home/|[\\/]Users[\\/]+)([^/\\\s"':«»]+)"#, &["/home/", "users"], Certainty::Name),
];

/// What the messages of the protocols consist of.
const PROTOCOL_WORDS: &str = include_str!("protocol_words.txt");

/// Whether a text is a word of the protocols, or a part of one.
pub(super) fn is_protocol_word(text: &str) -> bool {
    PROTOCOL_WORDS.contains(text)
}

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Pattern {
    pub(super) regex: Regex,
    words: &'static [&'static str],
    pub(super) certainty: Certainty,
}

impl Pattern {
    /// A pattern of the user's.
    pub(super) fn own(regex: Regex) -> Self {
        Self { regex, words: &[], certainty: Certainty::Sure }
    }

    /// Whether a text, in lower case, may have a match.
    pub(super) fn may_match(&self, lower_case: &str) -> bool {
        self.words.is_empty() || self.words.iter().any(|word| lower_case.contains(word))
    }
}

/// The patterns of the table, compiled.
pub(super) fn patterns() -> Vec<Pattern> {
    let compiled = PATTERNS.iter().map(|row| Pattern {
        regex: Regex::new(row.pattern).expect("a test compiles each pattern of the table"),
        words: row.words,
        certainty: row.certainty,
    });
    compiled.collect()
}

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
    let plain = plain(&lower_case);
    let is_member = |plain: &str| {
        !PUBLIC_MEMBERS.contains(&plain) && SECRET_MEMBERS.iter().any(|end| plain.ends_with(end))
    };
    is_member(&plain)
        || is_member(stem(&plain))
        || is_secret_variable(name)
        || SECRET_HEADERS.contains(&&*lower_case)
        || SECRET_HEADER_ENDS.iter().any(|end| lower_case.ends_with(end))
}

/// Whether a string behind this name is secret: the name may be in the plural.
pub(super) fn is_secret_text_name(name: &str) -> bool {
    let singular = |name: &str| name.strip_suffix(['s', 'S']).is_some_and(is_secret_name);
    is_secret_name(name)
        || singular(name)
        || singular(name.trim_end_matches(|c: char| "_-".contains(c) || c.is_ascii_digit()))
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

/// Whether the value of this name in the query of a URL is secret.
pub(super) fn is_secret_in_query(name: &str) -> bool {
    name.len() <= LONGEST_NAME && SECRET_QUERY.contains(&&*plain(&name.to_ascii_lowercase()))
}

/// A name in lower case without the characters that part its words.
fn plain(lower_case: &str) -> String {
    lower_case.chars().filter(|c| !matches!(c, '_' | '-' | '.' | ' ')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_is_secret() {
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
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
        assert!(
            is_secret_text_name("tokens")
                && is_secret_text_name("tokens_2")
                && !is_secret_text_name("maxTokens")
        );
        assert!(is_secret_in_query("session_id") && !is_secret_in_query("page"));
        assert_eq!(patterns().len(), PATTERNS.len());
    }

    #[test]
    fn words_of_the_protocols_are_in_the_table() {
        for word in ["client", "message", "essage", "secret", "tools/call", "2025-06-18"] {
            assert!(is_protocol_word(word), "{word}");
        }
        assert!(!is_protocol_word("swordfish"));
    }
}

//! What is taken for a secret, as tables.

use regex_lite::Regex;

/// Headers whose value is a secret. Those that end with `-token`, `-secret`, `-key` or `-session-id` are as well.
pub const SECRET_HEADERS: &[&str] = &[
    "api-key",
    "authorization",
    "cookie",
    "proxy-authorization",
    "set-cookie",
    "set-cookie2",
    "x-api-key",
    "x-auth",
    "x-goog-api-key",
];

const SECRET_HEADER_ENDS: &[&str] = &["-key", "-secret", "-session-id", "-token"];

/// The ends of the names of members whose value is a secret, in lower case and without `_` and `-`.
pub const SECRET_MEMBERS: &[&str] = &[
    "accesskey",
    "apikey",
    "authorization",
    "clientassertion",
    "codeverifier",
    "cookie",
    "credential",
    "credentials",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "pwd",
    "secret",
    "secretkey",
    "token",
];

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

/// Lists of servers, and the members of their entries whose values are secrets.
pub const SECRET_PLACES: (&str, &[&str]) = ("mcpServers", &["env", "headers"]);

/// How sure it is that what a pattern finds is a secret.
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

/// What the names of secrets end with.
const NAMES: &[&str] =
    &["token", "apikey", "api_key", "pass", "secret", "privatekey", "private_key", "code_verifier"];

/// Patterns of secrets within any text. None goes on behind its secret, so a search of a text takes time in proportion to its length.
pub const PATTERNS: &[SecretPattern] = &[
    // The credentials of a header that stands in text.
    row(r"(?i)\b(?:bearer|basic)\s+([A-Za-z0-9._~+/\-]{8,}=*)", &["bearer", "basic"], Certainty::Random),
    // The user information of a URL.
    row(r#"://([^/\s:@"'<>]*(?::[^/\s@"'<>]*)?)@"#, &["://"], Certainty::Sure),
    // Sessions and codes in the query of a URL.
    row(
        r#"(?i)[?&](?:session_?id|code|state|sig|signature|x-amz-signature)=([^&\s"'#<>]+)"#,
        &["id=", "code=", "state=", "sig=", "signature="],
        Certainty::Perhaps,
    ),
    // A name that says secret, and its value: in JSON within text, in forms, in environment files. In JSON it ends at the
    // quotation mark.
    row(
        r#"(?i)(?:token|api_?key|password|passwd|passphrase|secret|secret_?key|private_?key|code_verifier)\\?["']\s*:\s*\\?["']([^"'\\]+)"#,
        NAMES,
        Certainty::Sure,
    ),
    row(
        r#"(?i)(?:token|api_?key|password|passwd|passphrase|secret|secret_?key|private_?key|code_verifier)=["']?([^\s"'&,;<>\\]+)"#,
        NAMES,
        Certainty::Sure,
    ),
    row(
        r#"(?i)(?:token|api_?key|password|passwd|passphrase|secret|secret_?key|private_?key|code_verifier):\s*["']?([^\s"'&,;<>\\{}\[\]]+)"#,
        NAMES,
        Certainty::Perhaps,
    ),
    // Headers in text.
    row(
        r"(?i)\b(?:mcp-session-id|x-api-key|cookie):\s*([^\r\n]+)",
        &["mcp-session-id:", "x-api-key:", "cookie:"],
        Certainty::Perhaps,
    ),
    // Secrets that their form shows.
    row(r"\b(sk-[A-Za-z0-9_\-]{16,})", &["sk-"], Certainty::Sure),
    row(
        r"\b(gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
        Certainty::Sure,
    ),
    row(r"\b(xox[abeprs]-[A-Za-z0-9\-]{10,})", &["xox"], Certainty::Sure),
    row(r"\b(AKIA[0-9A-Z]{16})\b", &["akia"], Certainty::Sure),
    row(r"\b(eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]+\.[A-Za-z0-9_\-]*)", &["eyj"], Certainty::Sure),
    // Home folders of any user.
    row(r#"(?:/home/|[\\/]Users[\\/]+)([^/\\\s"':«»]+)"#, &["/home/", "users"], Certainty::Name),
];

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Pattern {
    pub(super) regex: Regex,
    words: &'static [&'static str],
    pub(super) certainty: Certainty,
}

impl Pattern {
    /// Whether a text, in lower case, may have a match.
    pub(super) fn may_match(&self, lower_case: &str) -> bool {
        self.words.iter().any(|word| lower_case.contains(word))
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

/// Whether the values of a header are secret.
pub(super) fn is_secret_header(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_HEADERS.contains(&&*name) || SECRET_HEADER_ENDS.iter().any(|end| name.ends_with(end))
}

/// Whether the value of a member is secret.
pub(super) fn is_secret_member(name: &str) -> bool {
    // A name of a header may be that of a member.
    if name.len() > 256 {
        return false;
    }
    let plain: String = name.chars().filter(|c| !matches!(c, '_' | '-' | '.' | ' ')).collect();
    let plain = plain.to_ascii_lowercase();
    let is_public = PUBLIC_MEMBERS.contains(&&*plain);
    !is_public && (SECRET_MEMBERS.iter().any(|end| plain.ends_with(end)) || is_secret_header(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_is_secret() {
        for name in
            ["token", "access_token", "GITHUB_TOKEN", "apiKey", "api_key", "clientSecret", "code_verifier"]
        {
            assert!(is_secret_member(name), "{name}");
        }
        for name in ["progressToken", "tokens", "maxTokens", "key", "passwordHint", "sessionId", "author"] {
            assert!(!is_secret_member(name), "{name}");
        }
        assert!(is_secret_header("Mcp-Session-Id") && is_secret_header("X-Custom-Token"));
        assert!(!is_secret_header("Content-Type") && !is_secret_header("mcp-protocol-version"));
        assert_eq!(patterns().len(), PATTERNS.len());
    }
}

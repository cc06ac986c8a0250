//! Patterns of secrets within text, as a table.

use regex_lite::Regex;

/// The certainty that a match of a rule is a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "as sure as the table needs")]
pub enum Certainty {
    /// It is masked wherever it occurs.
    Sure,
    /// It is masked in that place, and elsewhere only if it looks random.
    Perhaps,
    /// It is masked only if it looks random: such places also contain plain words.
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
    /// Each match contains one of these, in lower case. A text without them is not searched, because the search takes far
    /// longer.
    pub words: &'static [&'static str],
    /// The certainty of a match.
    pub certainty: Certainty,
}

const fn row(pattern: &'static str, words: &'static [&'static str], certainty: Certainty) -> SecretPattern {
    SecretPattern { pattern, words, certainty }
}

/// Parts of the names of secrets.
const NAMES: &[&str] = &["token", "apikey", "api-key", "api_key", "pass", "secret"];

/// Parts of the names of variables that hold secrets.
const VARIABLES: &[&str] = &["token", "apikey", "api-key", "api_key", "pass", "secret", "_key"];

/// Patterns of secrets within any text, beside values behind a name. No pattern continues after its secret, so a search
/// takes time in proportion to the length of the text.
pub const PATTERNS: &[SecretPattern] = &[
    // The credentials of a header within text.
    row(r"(?i)\b(?:bearer|basic)\s+([A-Za-z0-9._~+/\-]{8,}=*)", &["bearer", "basic"], Certainty::Random),
    // The user information of a URL: up to the last `@` of the authority, or up to the next one where a password has a
    // `/`. Digits before the `/` are a port.
    row(r#"://([^/?#\s"<>]*|[^/?#@:\s"<>]*:[0-9]*[^0-9/@\s"<>][^@\s"<>]*)@"#, &["://"], Certainty::Sure),
    // The argument behind an option of a command line.
    row(
        r#"(?i)--[\w-]*(?:token|api[-_]?key|password|passwd|secret)\s+["']?([^\s"'-][^\s"']*)"#,
        NAMES,
        Certainty::Perhaps,
    ),
    // The variable that a command sets, and the words behind a login of netrc.
    row(
        r#"(?i)\b(?:set|setenv|setx|env|arg)\s+(?:-\w+\s+)*\w*(?:token|api_?key|password|passwd|secret|_key|_pass)\s+["']?([^\s"';&|]+)"#,
        VARIABLES,
        Certainty::Random,
    ),
    row(
        r"(?i)\b(?:machine\s+\S+|default)\s+login\s+\S+\s+(?:account\s+\S+\s+)?password\s+(\S+)",
        &["password"],
        Certainty::Perhaps,
    ),
    // The credentials of programs that take them behind a short option. A variable of the shell is not a secret.
    row(
        r#"\bcurl\b[^\n|;&]*?\s(?:-[a-zA-Z]*[uU]|--user|--proxy-user)[ =]?["']?[^\s"':]+:([^\s"'$][^\s"']*)"#,
        &["curl"],
        Certainty::Perhaps,
    ),
    row(
        r#"\bcurl\b[^\n|;&]*?\s(?:-b|--cookie)[ =]?["']?[^\s"'=]+=([^\s"'$][^\s"']*)"#,
        &["curl"],
        Certainty::Perhaps,
    ),
    row(
        r#"\b(?:sshpass|(?:docker|podman|buildah|nerdctl|skopeo|registry)\s+login\b[^\n|;&]*?)\s+-p[ =]?["']?([^\s"'$\-][^\s"']*)"#,
        &["sshpass", "login"],
        Certainty::Perhaps,
    ),
    row(
        r#"\b(?:redis|valkey)-cli\b[^\n|;&]*?\s-a[ =]?["']?([^\s"'$\-][^\s"']*)"#,
        &["-cli"],
        Certainty::Perhaps,
    ),
    // An element of XML.
    row(
        r"(?i)<[\w.:\-]*(?:token|api[-_]?key|password|passwd|secret)(?:\s[^<>]*)?>([^<]+)",
        NAMES,
        Certainty::Sure,
    ),
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
    // A private key of PuTTY.
    row(r"Private-Lines: ?[0-9]+\s+((?:[A-Za-z0-9+/=]+(?:\s+|$))+)", &["private-lines"], Certainty::Sure),
    // The end of a private key, and base64 of one.
    row(
        r"((?:[A-Za-z0-9+/=]{16,}\s+)+)-----END [A-Z0-9 ]{0,40}PRIVATE KEY",
        &["private key"],
        Certainty::Sure,
    ),
    row(
        r"(LS0tLS1CRUdJTi(?:BQUklWQVRFIEtFW|BSU0EgUFJJVkFURSBLRVk|BFQyBQUklWQVRFIEtFW|BPUEVOU1NIIFBSSVZBVEUgS0VZ|BFTkNSWVBURUQgUFJJVkFURSBLRVk)[A-Za-z0-9+/=_\-]+)",
        &["ls0tls1crudjti"],
        Certainty::Sure,
    ),
    // A declaration with a type, a call that sets a secret, and a property list.
    row(
        r#"(?i)(?:token|api[-_]?key|password|passwd|secret)\s*:\s*[\w<>\[\]|? ]{1,40}=\s*["']([^"'\s]+)["']"#,
        NAMES,
        Certainty::Random,
    ),
    row(
        r#"(?i)\bset\w*(?:token|api[-_]?key|password|passwd|secret)\(\s*["']([^"'\s]+)["']"#,
        NAMES,
        Certainty::Random,
    ),
    row(
        r"(?i)<key>[^<]*(?:token|api[-_]?key|password|passwd|secret)</key>\s*<string>([^<]+)",
        &["<key>"],
        Certainty::Random,
    ),
    // Statements of SQL, and settings of npm.
    row(
        r"(?i)\b(?:identified\s+by|(?:with|encrypted)\s+password)\s+'([^'\s]+)'",
        &["identified", "password"],
        Certainty::Perhaps,
    ),
    row(r#"_(?:authToken|password|auth)\s+["']?([^\s"'=]+)"#, &["_auth", "_password"], Certainty::Random),
    // The password of a client of MySQL.
    row(
        r#"\b(?:mysql|mariadb|mysqldump|mysqladmin|mariadb-dump)\s(?:[^\n|;&]*?\s)?-p([^\s"'$\-][^\s"']*)"#,
        &["mysql", "mariadb"],
        Certainty::Random,
    ),
    // A client secret of Azure, and a token of HCP Terraform.
    row(r"\b([A-Za-z0-9_~.\-]{3}8Q~[A-Za-z0-9_~.\-]{31,34})", &["8q~"], Certainty::Sure),
    row(r"\b([A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_\-=]{60,70})", &[".atlasv1."], Certainty::Sure),
    // A field of a URL within a URL.
    row(
        r"(?i)%(?:25)?(?:3F|26)[\w\-]*(?:token|api[-_]?key|password|passwd|secret)%(?:25)?3D([A-Za-z0-9._~\-]+)",
        NAMES,
        Certainty::Random,
    ),
    // JSON Web Tokens. Other tokens that their form shows are in `TOKEN_FORMS`.
    // Encrypted ones have five parts, of which the second may be empty.
    row(
        r"(?:\b|_)(eyJ[A-Za-z0-9_\-]{8,}\.(?:[A-Za-z0-9_\-]+\.[A-Za-z0-9_\-]*|\.[A-Za-z0-9_\-]+)(?:\.[A-Za-z0-9_\-]+){0,2})",
        &["eyj"],
        Certainty::Sure,
    ),
    // The tokens of Telegram's bots.
    row(r"\b([0-9]{8,12}:AA[A-Za-z0-9_\-]{30,40})", &[":aa"], Certainty::Sure),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pattern_compiles_and_has_words_in_lower_case() {
        assert_eq!(patterns().len(), PATTERNS.len());
        assert!(PATTERNS.iter().flat_map(|row| row.words).all(|word| *word == word.to_ascii_lowercase()));
    }
}

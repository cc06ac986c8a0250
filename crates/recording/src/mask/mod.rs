//! Masks secrets, by the rules of a table, before anything is written.

mod paths;
mod rules;
mod secrets;

use std::env;

use agentwire_jsonrpc::RawJson;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytestring::ByteString;
use regex_lite::Regex;

pub use self::rules::{
    Certainty, PATTERNS, PUBLIC_MEMBERS, SECRET_HEADERS, SECRET_MEMBERS, SECRET_PLACES, SecretPattern,
};
pub use self::secrets::{SHORTEST_SOUGHT, Secrets};

use self::paths::Names;
use self::rules::{Pattern, is_secret_header, is_secret_member, patterns};
use crate::json_text::{Replacement, Step, Token, rewrite};

/// Replaces secrets by masks. Equal secrets have equal masks, such as `«secret 1»`.
///
/// What it has once taken for a secret it masks in every later text as well, except what is shorter than [`SHORTEST_SOUGHT`] bytes.
#[derive(Debug)]
pub struct Masker {
    patterns: Vec<Pattern>,
    own: Vec<Regex>,
    names: Names,
    secrets: Secrets,
    /// How many strings that are JSON themselves are around the text.
    depth: usize,
}

/// How deep JSON is looked into that stands in strings of JSON.
const NESTED_LIMIT: usize = 3;

/// A pattern of the user's that is no regular expression.
#[derive(Debug, thiserror::Error)]
#[error("`{pattern}` is no regular expression: {error}")]
#[non_exhaustive]
pub struct InvalidPattern {
    /// The pattern.
    pub pattern: String,
    /// What is wrong.
    pub error: regex_lite::Error,
}

impl Masker {
    /// The rules of the tables.
    pub fn new() -> Self {
        Self {
            patterns: patterns(),
            own: Vec::new(),
            names: Names::default(),
            secrets: Secrets::default(),
            depth: 0,
        }
    }

    /// The same, with the home folder, the user and the host that the environment names.
    pub fn from_env() -> Self {
        let mut masker = Self::new();
        let variable = |name: &str| env::var(name).ok();
        for home in ["HOME", "USERPROFILE"].into_iter().filter_map(variable) {
            masker = masker.home(&home);
        }
        for user in ["USER", "LOGNAME", "USERNAME"].into_iter().filter_map(variable) {
            masker = masker.user(&user);
        }
        for host in ["HOSTNAME", "COMPUTERNAME"].into_iter().filter_map(variable) {
            masker = masker.host(&host);
        }
        masker
    }

    /// Masks a home folder as `«home»`.
    #[must_use]
    pub fn home(mut self, path: &str) -> Self {
        self.names.add_home(path);
        self
    }

    /// Masks the name of a user in paths as `«user»`.
    #[must_use]
    pub fn user(mut self, name: &str) -> Self {
        Names::add(&mut self.names.users, name);
        self
    }

    /// Masks the name of a machine in paths as `«host»`.
    #[must_use]
    pub fn host(mut self, name: &str) -> Self {
        Names::add(&mut self.names.hosts, name);
        self
    }

    /// Masks what a regular expression matches: its first group, or all of the match where it has none.
    ///
    /// # Errors
    ///
    /// When it is no regular expression.
    pub fn pattern(mut self, pattern: &str) -> Result<Self, InvalidPattern> {
        let regex = Regex::new(pattern).map_err(|error| InvalidPattern { pattern: pattern.into(), error })?;
        self.own.push(regex);
        Ok(self)
    }

    /// Masks the secrets of JSON text.
    pub fn message(&mut self, json: &str) -> String {
        self.masked_json(json).0
    }

    /// Masks the secrets of a text, which may be JSON itself.
    pub fn text(&mut self, text: &str) -> String {
        if self.depth < NESTED_LIMIT && text.trim_start().starts_with(['{', '[']) {
            let json = RawJson::parse(ByteString::from(text));
            if json.is_ok() {
                self.depth += 1;
                let (masked, has_changed) = self.masked_json(text);
                self.depth -= 1;
                return if has_changed { masked } else { text.to_owned() };
            }
        }
        self.plain_text(text)
    }

    /// Masked JSON text, and whether anything of it changed.
    fn masked_json(&mut self, json: &str) -> (String, bool) {
        // First all of it is looked at: a secret may be named after a text that has it.
        rewrite(json, &mut |path, token| {
            self.learn(path, token);
            None
        });
        let mut has_changed = false;
        let masked = rewrite(json, &mut |path, token| {
            let replacement = self.masked_token(path, token);
            has_changed |= replacement.is_some();
            replacement
        });
        (masked, has_changed)
    }

    fn plain_text(&mut self, text: &str) -> String {
        let mut text = text.to_owned();
        // The user's patterns see the text before anything of it is masked.
        let own = std::mem::take(&mut self.own);
        for regex in &own {
            text = self.masked_matches(&text, regex, Certainty::Sure);
        }
        self.own = own;
        if let Some(replaced) = self.secrets.replace(&text) {
            text = replaced;
        }
        if let Some(replaced) = self.names.replace(&text) {
            text = replaced;
        }
        let patterns = std::mem::take(&mut self.patterns);
        // What a pattern masks adds no word of another's.
        let lower_case = text.to_ascii_lowercase();
        for pattern in patterns.iter().filter(|pattern| pattern.may_match(&lower_case)) {
            text = self.masked_matches(&text, &pattern.regex, pattern.certainty);
        }
        self.patterns = patterns;
        // What a later pattern has taught may stand before it.
        self.secrets.replace(&text).unwrap_or(text)
    }

    /// Masks the secrets of bytes. Bytes that are no UTF-8 and have secrets become text.
    pub fn bytes(&mut self, bytes: &[u8]) -> Vec<u8> {
        let text = String::from_utf8_lossy(bytes);
        let masked = self.text(&text);
        if masked == text { bytes.to_vec() } else { masked.into_bytes() }
    }

    /// Masks the value of a header: all of a secret one, behind the name of its scheme.
    pub fn header(&mut self, name: &str, value: &str) -> String {
        if is_secret_header(name) { self.credentials(value) } else { self.text(value) }
    }

    /// How often a secret was found that has to be looked for in what was masked before.
    pub(crate) fn generation(&self) -> usize {
        self.secrets.generation()
    }

    /// Masks the known secrets of a line that was masked before. None if it has none.
    pub(crate) fn line_again(&self, line: &str) -> Option<String> {
        if !self.secrets.occurs_in(line) {
            return None;
        }
        Some(rewrite(line, &mut |_, token| match token {
            Token::Name(text) | Token::Text(text) => self.secrets.replace(text).map(Replacement::Text),
            Token::Plain(text) => self.secrets.replace(text).map(Replacement::Text),
        }))
    }

    /// Remembers the secrets that a token shows.
    fn learn(&mut self, path: &[Step], token: Token<'_>) {
        match token {
            Token::Text(text) if is_secret(path) => {
                self.credentials(text);
            }
            Token::Plain(number) if is_secret(path) && is_number(number) => self.secrets.seek(number),
            Token::Text(text) if text.len() >= SHORTEST_SOUGHT => {
                self.text(text);
            }
            Token::Text(_) | Token::Name(_) | Token::Plain(_) => {}
        }
    }

    fn masked_token(&mut self, path: &[Step], token: Token<'_>) -> Option<Replacement> {
        let masked = match token {
            Token::Text(text) if is_secret(path) => self.credentials(text),
            Token::Text(text) => self.text(text),
            Token::Name(name) => self.secrets.replace(name)?,
            Token::Plain(number) if is_secret(path) && is_number(number) => {
                self.secrets.mask("secret", number)
            }
            Token::Plain(number) => self.secrets.replace(number)?,
        };
        let (Token::Text(text) | Token::Name(text) | Token::Plain(text)) = token;
        (masked != text).then_some(Replacement::Text(masked))
    }

    /// Masks credentials: all of them, or what follows the scheme.
    fn credentials(&mut self, text: &str) -> String {
        if text.is_empty() || is_mask(text) {
            return text.to_owned();
        }
        let scheme = text.split_once(' ').filter(|(scheme, rest)| {
            ["basic", "bearer", "digest", "dpop", "token"].contains(&&*scheme.to_ascii_lowercase())
                && !rest.trim().is_empty()
        });
        let Some((scheme, secret)) = scheme else {
            self.secrets.seek(text);
            return self.secrets.mask("secret", text);
        };
        let secret = secret.trim();
        if is_mask(secret) {
            return text.to_owned();
        }
        self.secrets.seek(secret);
        if scheme.eq_ignore_ascii_case("basic") {
            self.seek_password(secret);
        }
        format!("{scheme} {}", self.secrets.mask("secret", secret))
    }

    /// Looks for the password of Basic authentication as well.
    fn seek_password(&mut self, credentials: &str) {
        let decoded = STANDARD.decode(credentials).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        if let Some((_, password)) = decoded.as_deref().and_then(|text| text.split_once(':')) {
            self.secrets.seek(password);
        }
    }

    /// The text with masks in the places of what a pattern's last group matches.
    fn masked_matches(&mut self, text: &str, regex: &Regex, certainty: Certainty) -> String {
        let mut out = String::new();
        let mut start = 0;
        for captures in regex.captures_iter(text) {
            let group = captures.iter().skip(1).flatten().last().or_else(|| captures.get(0));
            let Some(group) = group.filter(|group| !group.is_empty() && group.start() >= start) else {
                continue;
            };
            let secret = group.as_str();
            if secret.contains('«') || certainty == Certainty::Random && !looks_random(secret) {
                continue;
            }
            out.push_str(&text[start..group.start()]);
            out.push_str(&match certainty {
                Certainty::Name => self.secrets.mask("user", secret),
                Certainty::Sure | Certainty::Perhaps | Certainty::Random => {
                    if certainty == Certainty::Sure || looks_random(secret) {
                        self.secrets.seek(secret);
                        // The password of a URL's user information.
                        if let Some((_, password)) = secret.split_once(':') {
                            self.secrets.seek(password);
                        }
                    }
                    self.secrets.mask("secret", secret)
                }
            });
            start = group.end();
        }
        if start == 0 { text.to_owned() } else { out + &text[start..] }
    }
}

impl Default for Masker {
    fn default() -> Self {
        Self::new()
    }
}

/// Whether the value at a path is a secret: by the name of its member, or as a setting of an MCP server.
fn is_secret(path: &[Step]) -> bool {
    let mut names = path.iter().rev().filter_map(|step| match step {
        Step::Member(name) => Some(name.as_str()),
        Step::Index(_) => None,
    });
    let (name, parent) = (names.next().unwrap_or_default(), names.next().unwrap_or_default());
    // The members of a list of secrets have no names of their own. The schema of a tool may have a property named `token`.
    if is_secret_member(name) && !matches!(parent, "properties" | "$defs" | "definitions") {
        return true;
    }
    let (list, settings) = SECRET_PLACES;
    let is_member = |step: &Step, wanted: &str| matches!(step, Step::Member(name) if name == wanted);
    let Some(list) = path.iter().position(|step| is_member(step, list)) else { return false };
    let in_settings = path[list + 1..path.len() - 1]
        .iter()
        .any(|step| settings.iter().any(|settings| is_member(step, settings)));
    // An entry is `{"name":…,"value":…}` in ACP, and `NAME: value` in files of settings.
    in_settings && name != "name"
}

fn is_number(text: &str) -> bool {
    !matches!(text, "true" | "false" | "null")
}

fn is_mask(text: &str) -> bool {
    text.starts_with('«') && text.ends_with('»')
}

/// Whether a word is rather a secret than a word of a language.
fn looks_random(text: &str) -> bool {
    text.len() >= SHORTEST_SOUGHT && (text.len() >= 20 || text.bytes().any(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests;

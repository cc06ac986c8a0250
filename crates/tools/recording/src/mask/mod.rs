//! Masks secrets, by the rules of a table, before anything is written.

mod blocks;
mod boundary;
mod event;
mod forms;
mod key_lines;
mod names;
mod pairs;
mod paths;
mod patterns;
mod places;
mod random;
mod rules;
mod secrets;
mod spans;
mod values;

use std::env;
use std::ops::Range;

use agentwire_jsonrpc::RawJson;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytestring::ByteString;
use regex_lite::Regex;

pub use self::patterns::{Certainty, PATTERNS, SecretPattern};
pub use self::rules::{
    PUBLIC_MEMBERS, SCHEMES, SECRET_HEADERS, SECRET_MEMBERS, SECRET_PLACES, SECRET_QUERY,
    SECRET_VARIABLE_ENDS,
};
pub use self::secrets::{SHORTEST_SOUGHT, Secrets};
pub use crate::mask::rules::token_forms::{TOKEN_FORMS, TokenForm};

use self::key_lines::KeyLines;
use self::names::is_secret_name;
use self::pairs::secret_values;
use self::paths::Names;
use self::patterns::{Pattern, patterns};
use self::places::{SecretPlaces, is_in_common_place};
use self::random::{consists_of_words, is_plain_word, looks_random};
use self::secrets::LONGEST_SOUGHT;
use self::spans::{Mask, Span, masked};
use self::values::{decoded, split_scheme};
use crate::json_text::{Replacement, Step, Token, rewrite};
use crate::mask::rules::token_forms::tokens;

/// Replaces secrets by masks. Equal secrets have equal masks, such as `«secret 1»`.
///
/// A secret that was found once is masked in every later text too, unless it is shorter than [`SHORTEST_SOUGHT`] bytes.
#[derive(Debug)]
pub struct Masker {
    patterns: Vec<Pattern>,
    own: Vec<Pattern>,
    names: Names,
    secrets: Secrets,
    /// The private keys in the lines of the text and of the stderr.
    key_lines: [KeyLines; 2],
    /// The last lines of the text and of the stderr, which may contain the name of a secret on the next line.
    last_lines: [String; 2],
}

/// The most levels of JSON within strings of JSON that are searched.
const NESTED_LIMIT: usize = 3;

/// The shortest text that counts as found, in bytes. A user's pattern may match less.
const SHORTEST_FOUND: usize = 3;

/// The most parts of credentials that are searched for separately.
const PART_LIMIT: usize = 64;

/// A pattern of the user's that is not a regular expression.
#[derive(Debug, thiserror::Error)]
#[error("`{pattern}` is not a regular expression: {error}")]
#[non_exhaustive]
pub struct InvalidPattern {
    /// The pattern.
    pub pattern: String,
    /// The fault.
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
            key_lines: Default::default(),
            last_lines: Default::default(),
        }
    }

    /// The rules of the tables, with the home folder, the user and the host of the environment.
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

    /// Masks the matches of a regular expression: its first group, or the whole match if it has no group.
    ///
    /// # Errors
    ///
    /// When it is not a regular expression.
    pub fn pattern(mut self, pattern: &str) -> Result<Self, InvalidPattern> {
        let regex = Regex::new(pattern).map_err(|error| InvalidPattern { pattern: pattern.into(), error })?;
        self.own.push(Pattern::own(regex));
        Ok(self)
    }

    /// Masks the secrets of JSON text.
    pub fn message(&mut self, json: &str) -> String {
        // The whole message is read first: a text may contain a secret that is named only later.
        self.learn_json(json, 0);
        self.masked_json(json, 0).0
    }

    /// Masks the secrets of a text, which may be JSON itself.
    pub fn text(&mut self, text: &str) -> String {
        self.learn_text(text, 0);
        self.masked_text(text, 0, Vec::new()).unwrap_or_else(|| text.to_owned())
    }

    /// Masks the secrets of bytes. Bytes that are not UTF-8 and have secrets become text.
    pub fn bytes(&mut self, bytes: &[u8]) -> Vec<u8> {
        let text = String::from_utf8_lossy(bytes);
        self.learn_text(&text, 0);
        self.masked_text(&text, 0, Vec::new()).map_or_else(|| bytes.to_vec(), String::into_bytes)
    }

    /// Returns a line with masks, or `None` if it contains no secret. `lines` precede it, and may contain the name of its
    /// secret.
    fn masked_line_after(&mut self, lines: &str, text: &str) -> Option<String> {
        let mut spans = Vec::new();
        if !lines.is_empty() && nested(text, 0).is_none() {
            let all = format!("{lines}{text}");
            for value in secret_values(&all) {
                // A secret before the line is looked for from now on, so it is masked when the recording is finished.
                let (start, span) = (value.range.start, self.span(&all, value.range, value.certainty));
                if let Some(Span { range, mask }) = span
                    && start >= lines.len()
                {
                    spans.push(Span { range: start - lines.len()..range.end - lines.len(), mask });
                }
            }
        }
        self.learn_text(text, 0);
        self.masked_text(text, 0, spans)
    }

    /// Masks the value of a header: the whole of a secret one, without the name of its scheme.
    pub fn header(&mut self, name: &str, value: &str) -> String {
        if is_secret_name(name) { self.credentials(value) } else { self.text(value) }
    }

    /// The size of the sought secrets. It grows with each secret that has to be sought in earlier lines again.
    pub(crate) fn generation(&self) -> usize {
        self.secrets.generation()
    }

    /// Remembers the secrets of JSON text, within `depth` strings of JSON.
    fn learn_json(&mut self, json: &str, depth: usize) {
        let mut places = SecretPlaces::of(json);
        rewrite(json, &mut |path, token| {
            match token {
                Token::Text(text) | Token::Plain(text) if places.is_secret(path, token) => {
                    self.placed(path.steps, text);
                }
                Token::Text(text) => self.learn_text(text, depth),
                Token::Name(_) | Token::Plain(_) => {}
            }
            None
        });
    }

    /// Masked JSON text, and whether it has changed.
    fn masked_json(&mut self, json: &str, depth: usize) -> (String, bool) {
        let mut places = SecretPlaces::of(json);
        let mut has_changed = false;
        let masked = rewrite(json, &mut |path, token| {
            let masked = match token {
                Token::Text(text) | Token::Plain(text) if places.is_secret(path, token) => {
                    Some(self.placed(path.steps, text))
                }
                Token::Text(text) => self.masked_text(text, depth, Vec::new()),
                Token::Name(text) | Token::Plain(text) => {
                    let spans = self.secrets.spans(text);
                    masked(text, spans, |user| self.secrets.mask("user", user))
                }
            };
            has_changed |= masked.is_some();
            masked.map(Replacement::Text)
        });
        (masked, has_changed)
    }

    fn learn_text(&mut self, text: &str, depth: usize) {
        match nested(text, depth) {
            Some(json) => self.learn_json(json, depth + 1),
            None => drop(self.found(text)),
        }
    }

    /// The text with masks, also in the `known` places. `None` if it has no secret.
    fn masked_text(&mut self, text: &str, depth: usize, known: Vec<Span>) -> Option<String> {
        if let Some(json) = nested(text, depth) {
            let (masked, has_changed) = self.masked_json(json, depth + 1);
            return has_changed.then_some(masked);
        }
        let mut spans = known;
        spans.extend(self.found(text));
        spans.extend(self.names.spans(text));
        spans.extend(self.secrets.spans(text));
        masked(text, spans, |user| self.secrets.mask("user", user))
    }

    /// The places where the rules find secrets in a text. The secrets are remembered.
    fn found(&mut self, text: &str) -> Vec<Span> {
        let mut spans = Vec::new();
        if text.len() < SHORTEST_FOUND {
            return spans;
        }
        let lower_case = text.to_ascii_lowercase();
        let (own, patterns) = (std::mem::take(&mut self.own), std::mem::take(&mut self.patterns));
        for pattern in own.iter().chain(&patterns).filter(|pattern| pattern.may_match(&lower_case)) {
            for captures in pattern.regex.captures_iter(text) {
                let group = captures.iter().skip(1).flatten().last().or_else(|| captures.get(0));
                spans.extend(group.and_then(|group| self.span(text, group.range(), pattern.certainty)));
            }
        }
        (self.own, self.patterns) = (own, patterns);
        for value in secret_values(text) {
            spans.extend(self.span(text, value.range, value.certainty));
        }
        for token in tokens(text) {
            spans.extend(self.span(text, token, Certainty::Sure));
        }
        spans
    }

    /// Returns the span of a match, or `None` if the match is not a secret.
    fn span(&mut self, text: &str, range: Range<usize>, certainty: Certainty) -> Option<Span> {
        let secret = &text[range.clone()];
        let is_random = looks_random(secret);
        let is_found = match certainty {
            Certainty::Random => is_random && !consists_of_words(secret),
            Certainty::Sure | Certainty::Perhaps | Certainty::Name => !secret.is_empty(),
        };
        if !is_found {
            return None;
        }
        let mask = match certainty {
            Certainty::Name => Mask::User,
            Certainty::Sure => {
                let mask = self.credentials(secret);
                // The password of a URL's user information.
                if let Some((_, password)) = secret.split_once(':') {
                    self.secrets.seek(password);
                }
                Mask::Text(mask)
            }
            Certainty::Perhaps if !is_random => Mask::Text(self.secrets.mask("secret", secret)),
            Certainty::Perhaps | Certainty::Random => Mask::Text(self.credentials(secret)),
        };
        Some(Span { range, mask })
    }

    /// Masks a secret that was found by its place in JSON. A plain word is masked only there if plain words are common in
    /// such places.
    fn placed(&mut self, path: &[Step], text: &str) -> String {
        if is_plain_word(text) && is_in_common_place(path) {
            return self.secrets.mask("secret", text);
        }
        self.credentials(text)
    }

    /// Masks credentials: all of them, or the part after the scheme.
    fn credentials(&mut self, text: &str) -> String {
        let (scheme, secret) = split_scheme(text);
        if secret.is_empty() {
            return text.to_owned();
        }
        let secret = secret.trim_end();
        self.seek(secret);
        format!("{scheme}{}", self.secrets.mask("secret", secret))
    }

    /// Adds a secret to the sought ones, and its parts that are secrets by themselves.
    fn seek(&mut self, secret: &str) {
        if secret.len() > LONGEST_SOUGHT {
            return;
        }
        let decoded = decoded(secret);
        for secret in [&*decoded, secret] {
            self.secrets.seek(secret);
        }
        // The password of Basic authentication.
        let basic = STANDARD.decode(secret).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        if let Some((_, password)) = basic.as_deref().and_then(|text| text.split_once(':')) {
            self.secrets.seek(password);
        }
        // Credentials behind the name of a scheme, cookies, and the lines of a private key.
        let parts = secret.split([' ', '\t', '\n', '\r', ';', ',']).take(PART_LIMIT);
        let values = parts.flat_map(|part| [part, part.split_once('=').map_or("", |(_, value)| value)]);
        for part in values.map(|part| part.trim_matches('"')).filter(|part| looks_random(part)) {
            self.secrets.seek(part);
        }
    }
}

impl Default for Masker {
    fn default() -> Self {
        Self::new()
    }
}

/// The text if it is JSON, unless it is nested in too many strings of JSON.
fn nested(text: &str, depth: usize) -> Option<&str> {
    let json = text.trim_start_matches('\u{feff}').trim_start();
    let is_json = depth < NESTED_LIMIT
        && json.starts_with(['{', '['])
        && RawJson::parse(ByteString::from(json)).is_ok();
    is_json.then_some(json)
}

#[cfg(test)]
mod tests;

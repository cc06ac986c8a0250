//! Keeps the secrets of a recording with their masks, and finds them in texts.

use std::collections::{BTreeMap, HashMap};
use std::ops::{Bound, Range};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};

use super::rules::is_protocol_word;
use super::spans::{Mask, Span, masked, masks};
use crate::json_text::encoded;

/// The shortest secret that is sought in other places, in bytes. A shorter one, such as `1` or `true`, would be found in places
/// where it has another meaning.
pub const SHORTEST_SOUGHT: usize = 6;

/// The most secrets with separate masks. Further ones have the mask `«secret»`, and are not sought elsewhere.
const SECRET_LIMIT: usize = 1000;

/// The longest secret that is sought: 8 KiB. A longer one has the mask `«secret»`.
pub(super) const LONGEST_SOUGHT: usize = 8 << 10;

/// The longest form of a secret: each byte escaped twice takes up to 7.
const LONGEST_FORM: usize = 8 * LONGEST_SOUGHT;

/// The most bytes of the sought forms of all secrets: 1 MiB.
const SOUGHT_LIMIT: usize = 1 << 20;

/// The known secrets, and their masks.
#[derive(Debug, Default)]
pub struct Secrets {
    /// The numbers of secrets with separate masks.
    numbers: HashMap<String, usize>,
    sought: Sought,
}

/// The sought forms of secrets, each with the number of its secret. A text is searched for all of them in one pass.
#[derive(Debug)]
struct Sought {
    forms: BTreeMap<Vec<u8>, usize>,
    /// For each pair of bytes, whether a form begins with it. Most places of a text are skipped by this.
    beginnings: Vec<bool>,
    /// The total length of all forms, in bytes.
    size: usize,
}

impl Default for Sought {
    fn default() -> Self {
        Self { forms: BTreeMap::new(), beginnings: vec![false; 1 << 16], size: 0 }
    }
}

impl Sought {
    /// Adds a form, unless there is no room left.
    fn add(&mut self, form: String, number: usize) {
        let form = form.into_bytes();
        if self.size + form.len() <= SOUGHT_LIMIT && !self.forms.contains_key(&form) {
            self.size += form.len();
            self.beginnings[beginning(&form)] = true;
            self.forms.insert(form, number);
        }
    }

    /// The places of forms in a text, with their numbers, from the left. The longest form counts where several begin.
    fn find<'a>(&'a self, text: &'a str) -> impl Iterator<Item = (Range<usize>, usize)> + 'a {
        let bytes = text.as_bytes();
        let mut at = 0;
        std::iter::from_fn(move || {
            while at + SHORTEST_SOUGHT <= bytes.len() {
                let start = at;
                at += 1;
                if self.beginnings[beginning(&bytes[start..])]
                    && let Some((length, number)) = self.longest_at(&bytes[start..])
                {
                    at = start + length;
                    return Some((start..at, number));
                }
            }
            None
        })
    }

    /// The longest form that a text begins with.
    fn longest_at(&self, text: &[u8]) -> Option<(usize, usize)> {
        let mut text = &text[..text.len().min(LONGEST_FORM)];
        loop {
            let not_behind = (Bound::Unbounded, Bound::Included(text));
            let (form, number) = self.forms.range::<[u8], _>(not_behind).next_back()?;
            let common = common_length(form, text);
            if common == form.len() {
                return Some((common, *number));
            }
            if common < SHORTEST_SOUGHT {
                return None;
            }
            // A form that the text begins with is a beginning of this one, too.
            text = &text[..common];
        }
    }
}

/// The length of the common beginning of two texts. Blocks are compared first, which is ten times as fast.
fn common_length(one: &[u8], other: &[u8]) -> usize {
    const BLOCK: usize = 32;
    let blocks = one.chunks_exact(BLOCK).zip(other.chunks_exact(BLOCK));
    let start = BLOCK * blocks.take_while(|(one, other)| one == other).count();
    start + one[start..].iter().zip(&other[start..]).take_while(|(one, other)| one == other).count()
}

/// The first two bytes as a number.
fn beginning(bytes: &[u8]) -> usize {
    usize::from(bytes[0]) << 8 | usize::from(bytes[1])
}

impl Secrets {
    /// The mask of a secret, which `kind` names: `«secret 1»`.
    pub(super) fn mask(&mut self, kind: &str, secret: &str) -> String {
        match self.number(secret) {
            Some(number) => format!("«{kind} {number}»"),
            None => format!("«{kind}»"),
        }
    }

    /// The number of a secret. `None` if it is too long, or if there are too many.
    fn number(&mut self, secret: &str) -> Option<usize> {
        let known = self.numbers.get(secret).or_else(|| self.sought.forms.get(secret.as_bytes()));
        if let Some(number) = known {
            return Some(*number);
        }
        let next = self.numbers.len() + 1;
        if next > SECRET_LIMIT || secret.len() > LONGEST_SOUGHT {
            return None;
        }
        self.numbers.insert(secret.to_owned(), next);
        Some(next)
    }

    /// Adds a secret and its forms in JSON, in URLs and in base64 to the sought ones, unless it is shorter than
    /// [`SHORTEST_SOUGHT`]. A word of the protocols is not sought: a peer could name one as a secret to make the recording
    /// unreadable.
    pub fn seek(&mut self, secret: &str) {
        let is_sought = (SHORTEST_SOUGHT..=LONGEST_SOUGHT).contains(&secret.len());
        if !is_sought || self.sought.forms.contains_key(secret.as_bytes()) || is_protocol_word(secret) {
            return;
        }
        let Some(number) = self.number(secret) else { return };
        for form in forms(secret) {
            self.sought.add(form, number);
        }
    }

    /// The size of the sought forms, which grows with each secret.
    pub(super) fn generation(&self) -> usize {
        self.sought.size
    }

    /// Whether a text has a secret.
    pub(super) fn occur_in(&self, text: &str) -> bool {
        self.sought.find(text).next().is_some()
    }

    /// The text with masks in the places of the secrets. `None` if it has no secrets.
    pub fn replace(&self, text: &str) -> Option<String> {
        masked(text, self.spans(text), str::to_owned)
    }

    /// The places of secrets in a text.
    pub(super) fn spans(&self, text: &str) -> Vec<Span> {
        let found = self.sought.find(text);
        found.map(|(range, number)| Span { range, mask: Mask::Text(format!("«secret {number}»")) }).collect()
    }

    /// The places of secrets in a text that has masks. The masks stay.
    pub(super) fn spans_outside_masks(&self, text: &str) -> Vec<Span> {
        let mut spans = self.spans(text);
        if !spans.is_empty() {
            let masks = masks(text);
            spans.retain(|span| {
                let before = masks.partition_point(|mask| mask.start <= span.range.start);
                before.checked_sub(1).is_none_or(|at| span.range.end > masks[at].end)
            });
        }
        spans
    }
}

/// The forms of a secret in other places.
fn forms(secret: &str) -> [String; 10] {
    let escaped = escaped(secret);
    let in_url = percent_encoded(secret);
    [
        secret.to_owned(),
        self::escaped(&escaped),
        escaped,
        in_url.replace("%20", "+"),
        lower_case_digits(&in_url),
        in_url,
        STANDARD.encode(secret),
        STANDARD_NO_PAD.encode(secret),
        URL_SAFE.encode(secret),
        URL_SAFE_NO_PAD.encode(secret),
    ]
}

/// The secret as a string of JSON.
fn escaped(secret: &str) -> String {
    let json = encoded(secret);
    json[1..json.len() - 1].to_owned()
}

fn percent_encoded(secret: &str) -> String {
    let mut text = String::with_capacity(secret.len());
    for byte in secret.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => text.push(byte.into()),
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

/// The same percent-encoded text with hexadecimal digits in lower case.
fn lower_case_digits(percent_encoded: &str) -> String {
    let mut digits = 0;
    let lower = percent_encoded.chars().map(|c| {
        digits = if c == '%' { 3 } else { usize::saturating_sub(digits, 1) };
        if digits > 0 { c.to_ascii_lowercase() } else { c }
    });
    lower.collect()
}

//! The secrets of a recording, each with its mask.

use std::collections::HashMap;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};

use super::rules::is_protocol_word;
use super::spans::{Mask, Span, masks};
use crate::json_text::encoded;

/// The shortest secret that is looked for in other places, in bytes. A shorter one, such as `1` or `true`, would be found in
/// places where it means something else.
pub const SHORTEST_SOUGHT: usize = 6;

/// How many secrets have masks of their own. Further ones have the mask `«secret»`, and are not looked for elsewhere.
const SECRET_LIMIT: usize = 1000;

/// The longest secret that is looked for: 16 KiB. A longer one has the mask `«secret»`.
pub(super) const LONGEST_SOUGHT: usize = 16 << 10;

/// How many bytes the forms of all secrets may have that are looked for: 1 MiB.
const SOUGHT_LIMIT: usize = 1 << 20;

/// Secrets and their masks.
#[derive(Debug, Default)]
pub(super) struct Secrets {
    /// The numbers of secrets and of their forms.
    numbers: HashMap<String, Number>,
    count: usize,
    /// Forms that are looked for from the next text on.
    new: Vec<Form>,
    /// Each has more forms than all behind it together, so that a form is built into few of them.
    searches: Vec<Search>,
    /// The bytes of all forms.
    size: usize,
}

#[derive(Clone, Copy, Debug)]
struct Number {
    number: usize,
    is_sought: bool,
}

/// A form of a secret, and the secret's number.
type Form = (String, usize);

/// Finds some of the forms in one pass.
#[derive(Debug)]
struct Search {
    automaton: AhoCorasick,
    forms: Vec<Form>,
}

impl Search {
    fn new(forms: Vec<Form>) -> Self {
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            // The default takes 100 times as much memory for a long secret.
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(forms.iter().map(|(form, _)| form))
            .expect("an automaton has room for 1 MiB of forms");
        Self { automaton, forms }
    }
}

impl Secrets {
    /// The mask of a secret, which `kind` names: `«secret 1»`.
    pub(super) fn mask(&mut self, kind: &str, secret: &str) -> String {
        match self.number(secret) {
            Some(number) => format!("«{kind} {number}»"),
            None => format!("«{kind}»"),
        }
    }

    /// The number of a secret. None if it is too long, or there are too many.
    fn number(&mut self, secret: &str) -> Option<usize> {
        if let Some(known) = self.numbers.get(secret) {
            return Some(known.number);
        }
        if self.count >= SECRET_LIMIT || secret.len() > LONGEST_SOUGHT {
            return None;
        }
        self.count += 1;
        self.numbers.insert(secret.to_owned(), Number { number: self.count, is_sought: false });
        Some(self.count)
    }

    /// Looks for a secret, and for its forms in JSON, in URLs and in base64, from now on. A word of the protocols is not looked
    /// for: a peer could name one as a secret so that no message of the recording can be read.
    pub(super) fn seek(&mut self, secret: &str) {
        let is_sought = (SHORTEST_SOUGHT..=LONGEST_SOUGHT).contains(&secret.len());
        if !is_sought
            || self.numbers.get(secret).is_some_and(|known| known.is_sought)
            || is_protocol_word(secret)
        {
            return;
        }
        let Some(number) = self.number(secret) else { return };
        for form in forms(secret) {
            let known = self.numbers.get(&form).is_some_and(|known| known.is_sought);
            if known || self.size + form.len() > SOUGHT_LIMIT {
                continue;
            }
            self.size += form.len();
            self.numbers.entry(form.clone()).or_insert(Number { number, is_sought: true }).is_sought = true;
            self.new.push((form, number));
        }
    }

    /// The bytes of what is looked for. They grow with each secret.
    pub(super) fn generation(&self) -> usize {
        self.size
    }

    /// Builds the search for new forms, together with earlier searches that are no larger.
    fn build(&mut self) {
        if self.new.is_empty() {
            return;
        }
        let mut forms = std::mem::take(&mut self.new);
        while let Some(last) = self.searches.pop() {
            if last.forms.len() > forms.len() {
                self.searches.push(last);
                break;
            }
            forms.extend(last.forms);
        }
        self.searches.push(Search::new(forms));
    }

    /// Whether a text has a secret.
    pub(super) fn occur_in(&mut self, text: &str) -> bool {
        self.build();
        self.searches.iter().any(|search| search.automaton.is_match(text))
    }

    /// The places of secrets in a text.
    pub(super) fn spans(&mut self, text: &str) -> Vec<Span> {
        self.build();
        let mut spans = Vec::new();
        for search in &self.searches {
            spans.extend(search.automaton.find_iter(text).map(|found| {
                let (_, number) = &search.forms[found.pattern().as_usize()];
                Span { range: found.range(), mask: Mask::Text(format!("«secret {number}»")) }
            }));
        }
        spans
    }

    /// The places of secrets in a text that has masks. The masks stay.
    pub(super) fn spans_outside_masks(&mut self, text: &str) -> Vec<Span> {
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

/// A secret as it may stand in other places.
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

/// The secret as it stands in a string of JSON.
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

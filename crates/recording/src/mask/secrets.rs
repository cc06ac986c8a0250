//! The secrets of a recording, each with its mask.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::json_text::encoded;

/// The shortest secret that is looked for in other places, in bytes. A shorter one, such as `1` or `true`, would be found in
/// places where it means something else.
pub const SHORTEST_SOUGHT: usize = 6;

/// How many secrets have masks of their own. Further ones have the mask `«secret»`, and are not looked for elsewhere.
const SECRET_LIMIT: usize = 1000;

/// The longest secret that is looked for, in bytes.
const LONGEST_SOUGHT: usize = 64 << 10;

/// Secrets that are known, and their masks.
#[derive(Debug, Default)]
pub struct Secrets {
    numbers: HashMap<String, usize>,
    /// What is looked for, with the mask of each. The longest come first, so that no secret is masked as a part of another.
    sought: Vec<(String, String)>,
    /// How many secrets were added to `sought`.
    generation: usize,
}

impl Secrets {
    /// The mask of a secret, which `kind` names: `«secret 1»`.
    pub(super) fn mask(&mut self, kind: &str, secret: &str) -> String {
        let next = self.numbers.len() + 1;
        match self.numbers.get(secret) {
            Some(number) => format!("«{kind} {number}»"),
            None if next > SECRET_LIMIT => format!("«{kind}»"),
            None => {
                self.numbers.insert(secret.to_owned(), next);
                format!("«{kind} {next}»")
            }
        }
    }

    /// Looks for a secret, and for its forms in JSON, in URLs and in base64, from now on. One of less than [`SHORTEST_SOUGHT`]
    /// bytes is not looked for.
    pub fn seek(&mut self, secret: &str) {
        let is_sought = (SHORTEST_SOUGHT..=LONGEST_SOUGHT).contains(&secret.len());
        if !is_sought
            || self.numbers.contains_key(secret) && self.sought.iter().any(|(known, _)| known == secret)
        {
            return;
        }
        let mask = self.mask("secret", secret);
        if !self.numbers.contains_key(secret) {
            return;
        }
        let mut forms =
            vec![secret.to_owned(), escaped(secret), escaped(&escaped(secret)), percent_encoded(secret)];
        forms.extend([STANDARD.encode(secret)]);
        forms.dedup();
        for form in forms {
            if self.sought.iter().all(|(known, _)| *known != form) {
                self.sought.push((form, mask.clone()));
            }
        }
        self.sought.sort_by_key(|(secret, _)| std::cmp::Reverse(secret.len()));
        self.generation += 1;
    }

    /// How often something was added that is looked for.
    pub(super) fn generation(&self) -> usize {
        self.generation
    }

    /// Whether the bytes have a secret.
    pub(super) fn occurs_in(&self, text: &str) -> bool {
        self.sought.iter().any(|(secret, _)| text.contains(secret.as_str()))
    }

    /// The text with masks in the places of the secrets. None if it has none.
    pub fn replace(&self, text: &str) -> Option<String> {
        let mut replaced: Option<String> = None;
        for (secret, mask) in &self.sought {
            let current = replaced.as_deref().unwrap_or(text);
            if current.contains(secret.as_str()) {
                replaced = Some(current.replace(secret.as_str(), mask));
            }
        }
        replaced
    }
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

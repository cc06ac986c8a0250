//! Maps recorded values to those of the live side, and puts these into the messages to send.

use std::collections::HashMap;

use crate::json_text::{Path, Replacement, Step, Token, encoded, rewrite};
use crate::replay::volatile::VolatileTable;

/// The shortest recorded value that is replaced wherever it occurs, in bytes. A shorter one is replaced in volatile members only.
const SHORTEST_ANYWHERE: usize = 8;

/// The live values of recorded ones, and the texts of masks.
#[derive(Clone, Debug, Default)]
pub(super) struct Values {
    /// The live value of each recorded one; both are scalars as JSON text.
    live: HashMap<String, String>,
    /// Masks, each with the text that is sent in its place.
    masks: Vec<(String, String)>,
}

impl Values {
    pub(super) fn new(masks: Vec<(String, String)>) -> Self {
        Self { live: HashMap::new(), masks }
    }

    /// The live value for a recorded scalar, both as JSON text.
    pub(super) fn get(&self, recorded: &str) -> Option<&str> {
        self.live.get(recorded).map(String::as_str)
    }

    /// Remembers the live value for a recorded one.
    pub(super) fn set(&mut self, recorded: String, live: String) {
        self.live.insert(recorded, live);
    }

    /// Returns a recorded message with live values in place of recorded ones. `id` replaces the id of the message.
    pub(super) fn substitute(&self, message: &str, id: Option<&str>, table: &VolatileTable) -> String {
        rewrite(message, &mut |Path { steps: path, .. }, token| {
            let is_id = matches!(path, [Step::Member(name)] if name == "id");
            match token {
                Token::Name(_) => None,
                Token::Text(_) | Token::Plain(_) if is_id => id.map(|id| Replacement::Raw(id.to_owned())),
                Token::Plain(plain) => {
                    let live = self.live.get(plain).filter(|_| table.kind(path).is_some())?;
                    Some(Replacement::Raw(live.clone()))
                }
                Token::Text(text) => self.substitute_text(text, table.kind(path).is_some()),
            }
        })
    }

    fn substitute_text(&self, text: &str, is_volatile: bool) -> Option<Replacement> {
        let is_long = text.len() >= SHORTEST_ANYWHERE;
        if (is_volatile || is_long)
            && let Some(live) = self.live.get(&encoded(text))
        {
            return Some(Replacement::Raw(live.clone()));
        }
        if !is_long || !self.live.keys().any(|key| key.len() >= SHORTEST_ANYWHERE) && !text.contains('«') {
            return None;
        }
        let mut changed = text.to_owned();
        let texts =
            self.live.iter().filter_map(|(recorded, live)| Some((unquoted(recorded)?, unquoted(live)?)));
        for (recorded, live) in texts.filter(|(recorded, _)| recorded.len() >= SHORTEST_ANYWHERE) {
            changed = changed.replace(recorded, live);
        }
        for (mask, value) in &self.masks {
            changed = changed.replace(mask.as_str(), value);
        }
        (changed != text).then_some(Replacement::Text(changed))
    }
}

/// The text of a JSON string without escapes.
fn unquoted(json: &str) -> Option<&str> {
    json.strip_prefix('"')?.strip_suffix('"').filter(|text| !text.contains('\\'))
}

//! Remembers the shown parts of many texts, within one bound.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

use super::new_text::NewText;

/// The most texts that are remembered. An older one may be shown again.
const TEXTS: usize = 4096;

/// The most memory of the ends of the texts: 4 MiB. Beyond it, the oldest ends are dropped down to half of it.
const LIMIT: usize = 4 << 20;

/// The shown parts of texts that an agent may send as a whole again.
pub(super) struct ShownTexts<K> {
    texts: HashMap<K, NewText>,
    /// The oldest first.
    order: VecDeque<K>,
    /// How many bytes of memory the texts take beside their fixed size.
    weight: usize,
}

impl<K: Copy + Eq + Hash> ShownTexts<K> {
    pub(super) fn get(&self, key: K) -> Option<&NewText> {
        self.texts.get(&key)
    }

    /// Records more of a text. All of it counts as shown.
    pub(super) fn add(&mut self, key: K, more: &str) {
        self.change(key, |text| text.add(more));
    }

    /// Records the current whole of a text. Returns the part of it that was not shown.
    pub(super) fn replace<'a>(&mut self, key: K, whole: &'a str) -> &'a str {
        self.change(key, |text| text.replace(whole))
    }

    fn change<R>(&mut self, key: K, change: impl FnOnce(&mut NewText) -> R) -> R {
        if !self.texts.contains_key(&key) {
            if self.order.len() >= TEXTS
                && let Some(oldest) = self.order.pop_front()
                && let Some(text) = self.texts.remove(&oldest)
            {
                self.weight -= text.weight();
            }
            self.order.push_back(key);
        }
        let text = self.texts.entry(key).or_default();
        self.weight -= text.weight();
        let changed = change(text);
        self.weight += text.weight();
        if self.weight > LIMIT {
            self.give_up_oldest();
        }
        changed
    }

    /// Frees half of the limit at once, so that the search for the oldest costs little.
    fn give_up_oldest(&mut self) {
        for key in &self.order {
            if self.weight <= LIMIT / 2 {
                return;
            }
            if let Some(text) = self.texts.get_mut(key) {
                self.weight -= text.weight();
                text.give_up();
            }
        }
    }
}

impl<K> Default for ShownTexts<K> {
    fn default() -> Self {
        Self { texts: HashMap::new(), order: VecDeque::new(), weight: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_long_texts_take_no_more_than_the_limit() {
        let mut texts = ShownTexts::default();
        for key in 0..2 * TEXTS {
            let text = format!("{key}\n").repeat(2000);
            assert_eq!(texts.replace(key, &text), text);
            assert!(texts.weight <= LIMIT && texts.texts.len() <= TEXTS && texts.order.len() <= TEXTS);
            assert_eq!(texts.weight, texts.texts.values().map(NewText::weight).sum::<usize>());
            assert_eq!(texts.replace(key, &(text + "more\n")), "more\n");
        }
    }

    /// A text that has given up its end is still known where it only grows.
    #[test]
    fn an_old_text_that_grows_is_not_shown_again() {
        let mut texts = ShownTexts::default();
        texts.replace(0, "one\n");
        for key in 1..200 {
            texts.add(key, &"x".repeat(64 << 10));
        }
        assert_eq!(texts.get(0).map(NewText::weight), Some(0));
        assert_eq!(texts.replace(0, "one\ntwo\n"), "two\n");
    }
}

//! Remembers shown values, so that only new ones are shown, and shortens texts.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hash, RandomState};

use crate::output::text::one_line;

/// The most characters of a title, a name or a value that are shown. A title may have 512 KiB, and an update of 100 bytes
/// shows it again.
const SHORT_CHARACTERS: usize = 500;

/// The values of a list of options, as hashes: 16 bytes for each option, however long its name.
#[derive(Default)]
pub(crate) struct ValueHashes {
    values: HashMap<u64, u64>,
    hasher: RandomState,
}

impl ValueHashes {
    /// The number of keys.
    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// Records a list in place of the one before. Returns the indices of the new values.
    pub(crate) fn replace<K: Hash, V: Hash>(&mut self, list: impl IntoIterator<Item = (K, V)>) -> Vec<usize> {
        self.replace_all(list).0
    }

    /// As [`replace`](Self::replace). Also returns how many keys of the list before are in this one.
    pub(crate) fn replace_all<K: Hash, V: Hash>(
        &mut self,
        list: impl IntoIterator<Item = (K, V)>,
    ) -> (Vec<usize>, usize) {
        let hashes = |(key, value): (K, V)| (self.hasher.hash_one(key), self.hasher.hash_one(value));
        let list: Vec<_> = list.into_iter().map(hashes).collect();
        let is_new = |(_, (key, value)): &(usize, &(u64, u64))| self.values.get(key) != Some(value);
        let new = list.iter().enumerate().filter(is_new).map(|(place, _)| place).collect();
        let before = std::mem::replace(&mut self.values, list.into_iter().collect());
        let kept = before.keys().filter(|key| self.values.contains_key(key)).count();
        (new, kept)
    }
}

/// A title, a name or a value on one line, cut after 500 characters, with an ellipsis.
pub(crate) fn short(text: &str) -> String {
    match text.char_indices().nth(SHORT_CHARACTERS) {
        Some((end, _)) => format!("{}…", one_line(&text[..end])),
        None => one_line(text),
    }
}

/// A title without the marks of Markdown, which an agent may have copied from a message.
pub(crate) fn plain_title(title: &str) -> String {
    without_marks(title.trim_start().trim_start_matches(['#', '>']).trim())
}

/// Removes the Markdown marks of bold text and code. Marks without a pair stay: `src/**` is a path.
pub(super) fn without_marks(text: &str) -> String {
    let without = |text: &str, mark: &str| {
        let is_paired = text.matches(mark).count().is_multiple_of(2);
        if is_paired { text.replace(mark, "") } else { text.to_owned() }
    };
    without(&without(text, "**"), "`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_current_options_are_remembered() {
        let mut values = ValueHashes::default();
        assert_eq!(values.replace([("a", 1), ("b", 1)]), [0, 1]);
        assert_eq!(values.replace([("b", 1), ("c", 1)]), [1]);
        assert_eq!(values.replace([("a", 1), ("b", 2)]), [0, 1]);
        assert_eq!(values.values.len(), 2);
    }

    #[test]
    fn long_text_is_shortened() {
        assert_eq!(short("a\nb"), "a b");
        assert_eq!(short(&"ä".repeat(501)), format!("{}…", "ä".repeat(500)));
    }

    #[test]
    fn title_has_no_marks_of_markdown() {
        for (title, plain) in [
            ("**Fix** the `parser`", "Fix the parser"),
            ("## Plan of *a* day", "Plan of *a* day"),
            ("> said", "said"),
            ("2 * 3", "2 * 3"),
            ("Read src/** and __init__.py", "Read src/** and __init__.py"),
        ] {
            assert_eq!(plain_title(title), plain);
        }
    }
}

//! Which settings and contents were shown, so that only new ones are shown. All of it has a bound.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, Hash, Hasher, RandomState};
use std::io::{self, Write};

use serde::Serialize;

use crate::text::one_line;

/// The most characters of a title, a name or a value that are shown. A title may have 512 KiB, and an update of 100 bytes
/// shows it again.
const SHORT_CHARACTERS: usize = 500;

/// The most entries of [`ShownHashes`]. Beyond that all are dropped, so things may be shown again; nothing is missed.
const LIMIT: usize = 65_536;

/// The values of a list of options, as hashes: 16 bytes for each option, however long its name.
#[derive(Default)]
pub(crate) struct ValueHashes {
    values: HashMap<u64, u64>,
    hasher: RandomState,
}

impl ValueHashes {
    /// Records a list in place of the one before. Returns the places of the new values.
    pub(crate) fn replace<K: Hash, V: Hash>(&mut self, list: impl IntoIterator<Item = (K, V)>) -> Vec<usize> {
        let hashes = |(key, value): (K, V)| (self.hasher.hash_one(key), self.hasher.hash_one(value));
        let list: Vec<_> = list.into_iter().map(hashes).collect();
        let is_new = |(_, (key, value)): &(usize, &(u64, u64))| self.values.get(key) != Some(value);
        let new = list.iter().enumerate().filter(is_new).map(|(place, _)| place).collect();
        self.values = list.into_iter().collect();
        new
    }
}

/// The things that were shown, as hashes: 8 bytes for each.
#[derive(Default)]
pub(crate) struct ShownHashes {
    hashes: HashSet<u64>,
    hasher: RandomState,
}

impl ShownHashes {
    /// Records a thing. Returns whether it is new.
    pub(crate) fn insert(&mut self, thing: impl Hash) -> bool {
        self.add(self.hasher.hash_one(thing))
    }

    /// Records a piece of content of a thing. Returns whether it is new.
    pub(crate) fn insert_content<T: Serialize>(&mut self, of: impl Hash, content: &T) -> bool {
        let mut hasher = self.hasher.build_hasher();
        of.hash(&mut hasher);
        // Content that was decoded can be encoded.
        let _never = serde_json::to_writer(HashWriter(&mut hasher), content);
        self.add(hasher.finish())
    }

    fn add(&mut self, hash: u64) -> bool {
        if self.hashes.len() >= LIMIT {
            self.hashes.clear();
        }
        self.hashes.insert(hash)
    }
}

/// A writer into a hasher.
struct HashWriter<'a, H>(&'a mut H);

impl<H: Hasher> Write for HashWriter<'_, H> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A title, a name or a value on one line, cut after 500 characters, with an ellipsis.
pub(crate) fn short(text: &str) -> String {
    match text.char_indices().nth(SHORT_CHARACTERS) {
        Some((end, _)) => format!("{}…", one_line(&text[..end])),
        None => one_line(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut seen = ShownHashes::default();
        assert!(seen.insert("a") && !seen.insert("a"));
        assert!(seen.insert_content("a", &[1]) && seen.insert_content("b", &[1]));
        assert!(!seen.insert_content("a", &[1]));
        (0..2 * LIMIT).for_each(|number| {
            seen.insert(number);
        });
        assert!(seen.hashes.len() <= LIMIT);
    }

    #[test]
    fn only_the_options_that_there_are_now_are_remembered() {
        let mut values = ValueHashes::default();
        assert_eq!(values.replace([("a", 1), ("b", 1)]), [0, 1]);
        assert_eq!(values.replace([("b", 1), ("c", 1)]), [1]);
        assert_eq!(values.replace([("a", 1), ("b", 2)]), [0, 1]);
        assert_eq!(values.values.len(), 2);
    }

    #[test]
    fn what_is_long_is_shortened() {
        assert_eq!(short("a\nb"), "a b");
        assert_eq!(short(&"ä".repeat(501)), format!("{}…", "ä".repeat(500)));
    }
}

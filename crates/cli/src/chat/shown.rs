//! What stands on the screen already, so that only what is new is added to it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};

use serde::Serialize;

/// How many things are remembered. Of one that is forgotten too much is shown when it changes, and nothing too little.
const LIMIT: usize = 4096;

/// What was shown of the things that change, by a name that each keeps.
#[derive(Default)]
pub(super) struct Shown {
    things: HashMap<String, Thing>,
    /// What the session's settings were when they were shown last.
    pub(super) settings: BTreeMap<String, String>,
    pub(super) title: Option<String>,
    pub(super) usage: Option<String>,
    hasher: RandomState,
}

#[derive(Default)]
struct Thing {
    headline: Option<String>,
    /// Hashes: agents send all of a call's content again when it grows, and it may be large.
    contents: HashSet<u64>,
}

impl Shown {
    /// Takes note of a headline. Whether it was not the one that stands there.
    pub(super) fn headline(&mut self, name: &str, headline: &str) -> bool {
        let thing = self.thing(name);
        let is_new = thing.headline.as_deref() != Some(headline);
        if is_new {
            thing.headline = Some(headline.to_owned());
        }
        is_new
    }

    /// Takes note of a piece of content. Whether it was not there.
    pub(super) fn content<T: Serialize>(&mut self, name: &str, content: &T) -> bool {
        // What cannot be written cannot have come over a wire.
        let written = serde_json::to_vec(content).unwrap_or_default();
        let hash = self.hasher.hash_one(written);
        self.thing(name).contents.insert(hash)
    }

    fn thing(&mut self, name: &str) -> &mut Thing {
        if self.things.len() >= LIMIT && !self.things.contains_key(name) {
            self.things.clear();
        }
        self.things.entry(name.to_owned()).or_default()
    }
}

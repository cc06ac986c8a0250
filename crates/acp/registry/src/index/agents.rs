//! The agents of a registry.

use std::time::Duration;

use crate::error::RegistryError;

use super::entry::Entry;
use super::parse;

/// The agents of a registry.
#[derive(Debug)]
#[non_exhaustive]
pub struct Index {
    /// The URL or file that it comes from.
    pub origin: String,
    /// The agents, in the order of the index.
    pub agents: Vec<Entry>,
    /// How many entries were left out because they are damaged, too large or of an unknown form.
    pub skipped: usize,
    /// How long ago a cached index was read from its URL. None if it was read now.
    pub age: Option<Duration>,
    /// Why the URL could not be read, or gave no index, where a cached index takes its place.
    pub failure: Option<RegistryError>,
}

impl Index {
    /// Reads the text of an index.
    ///
    /// # Errors
    ///
    /// When it is not a JSON object with a list `agents`, has more than 4,096 agents, or has entries of which none can be read. Damaged
    /// entries beside sound ones are counted and left out.
    pub fn parse(text: &str, origin: impl Into<String>) -> Result<Self, RegistryError> {
        let origin = origin.into();
        match parse::agents(text) {
            Ok((agents, skipped)) => Ok(Self { origin, agents, skipped, age: None, failure: None }),
            Err(why) => Err(RegistryError::InvalidIndex { origin, why }),
        }
    }

    /// The agent with this id.
    ///
    /// # Errors
    ///
    /// When the index has no such agent.
    pub fn entry(&self, id: &str) -> Result<&Entry, RegistryError> {
        let unknown = || RegistryError::UnknownAgent { id: id.to_owned(), origin: self.origin.clone() };
        self.agents.iter().find(|entry| entry.id == id).ok_or_else(unknown)
    }

    /// The agents whose id, name or description has each of the words, in any case.
    pub fn search(&self, words: &[String]) -> Vec<&Entry> {
        let words: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
        let has_all = |entry: &&Entry| {
            let text = format!("{}\n{}\n{}", entry.id, entry.name, entry.description).to_lowercase();
            words.iter().all(|word| text.contains(word))
        };
        self.agents.iter().filter(has_all).collect()
    }
}

//! The text of the file.

use std::collections::BTreeMap;
use std::io;

use serde::{Deserialize, Serialize};

use crate::Secret;

/// The version that is read and written.
const VERSION: u64 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    version: u64,
    entries: BTreeMap<String, Secret>,
}

/// The members of every version of the file.
#[derive(Deserialize)]
struct Head {
    version: u64,
}

impl Document {
    pub(super) fn decode(text: &[u8]) -> io::Result<Self> {
        let head: Head = agentwire_jsonrpc::read_bytes(text).map_err(|error| damaged(&error))?;
        if head.version != VERSION {
            let version = head.version;
            let why = format!("it has version {version}, and this program knows version {VERSION} only");
            return Err(io::Error::other(why));
        }
        agentwire_jsonrpc::read_bytes(text).map_err(|error| damaged(&error))
    }

    /// The text, which [`decode`](Self::decode) can read.
    pub(super) fn encode(&self) -> io::Result<Vec<u8>> {
        let mut text = serde_json::to_vec_pretty(self).map_err(io::Error::other)?;
        text.push(b'\n');
        // A key can have a name that the reader refuses. It must not make the other entries unreadable.
        if Self::decode(&text).is_err() {
            return Err(io::Error::other("the key or the entry could not be read again"));
        }
        Ok(text)
    }

    pub(super) fn into_entry(mut self, key: &str) -> Option<Secret> {
        self.entries.remove(key)
    }

    /// Replaces or removes an entry. Returns whether that changes anything.
    pub(super) fn set(&mut self, key: String, entry: Option<Secret>) -> bool {
        match entry {
            None => self.entries.remove(&key).is_some(),
            Some(entry) if self.entries.get(&key) == Some(&entry) => false,
            Some(entry) => {
                self.entries.insert(key, entry);
                true
            }
        }
    }
}

impl Default for Document {
    fn default() -> Self {
        Self { version: VERSION, entries: BTreeMap::new() }
    }
}

/// The place where the text is damaged, and no more: serde's own text quotes values, which are secrets.
fn damaged(error: &serde_json::Error) -> io::Error {
    let (line, column) = (error.line(), error.column());
    io::Error::other(format!(
        "it is damaged at line {line}, column {column}; repair it, or remove it and log in again"
    ))
}

//! Refuses repeated names in a configuration file.

use std::collections::HashSet;

use agentwire_jsonrpc::RawObject;

use super::error::McpConfigFault;
use super::variables::shown;

/// The names that were read so far.
#[derive(Default)]
pub(super) struct UniqueNames(HashSet<String>);

impl UniqueNames {
    /// Adds a name.
    ///
    /// # Errors
    ///
    /// If the name was added before.
    pub(super) fn add(&mut self, name: &str) -> Result<(), McpConfigFault> {
        if self.0.insert(name.to_owned()) { Ok(()) } else { Err(McpConfigFault::Twice(shown(name))) }
    }
}

/// Refuses an object in which a name occurs twice.
pub(super) fn check_unique(object: &RawObject) -> Result<(), McpConfigFault> {
    let mut names = UniqueNames::default();
    object.iter().try_for_each(|(name, _)| names.add(&name))
}

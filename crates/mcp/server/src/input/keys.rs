//! The keys of a call's questions, each used once.

use std::collections::BTreeSet;

use agentwire_sync::{Mutex, MutexGuard};

use crate::input::{AskError, AskErrorKind};

/// The keys of a call's questions: those that wait, and those that were answered.
#[derive(Debug, Default)]
pub(crate) struct QuestionKeys(Mutex<BTreeSet<String>>);

impl QuestionKeys {
    /// Takes a key for a question. The same key again would get the same answer in a modern call, and not in a session,
    /// so it is refused in both.
    pub(crate) fn claim(&self, key: &str) -> Result<Claim<'_>, AskError> {
        if !self.lock().insert(key.to_owned()) {
            return Err(AskErrorKind::Reused { key: key.to_owned() }.into());
        }
        Ok(Claim { keys: self, key: Some(key.to_owned()) })
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.0.lock()
    }
}

/// A claimed key, which is released on drop unless it is kept.
#[derive(Debug)]
pub(crate) struct Claim<'a> {
    keys: &'a QuestionKeys,
    key: Option<String>,
}

impl Claim<'_> {
    /// The question was answered.
    pub(crate) fn keep(mut self) {
        self.key = None;
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        if let Some(key) = &self.key {
            self.keys.lock().remove(key);
        }
    }
}

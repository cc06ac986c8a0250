//! Removes agents and folders that no record names.

use std::fs;
use std::io;

use super::agent_store::AgentStore;
use super::lock::{lock, lock_alone};
use super::record::Record;
use crate::error::RegistryError;
use crate::files::blocking;

/// How a removal ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RemoveOutcome {
    /// The agent and its folders are gone.
    Removed,
    /// The agent is removed. An older version of it still runs, and stays until the next install.
    StillRuns,
    /// It was not installed.
    NotInstalled,
}

impl AgentStore {
    /// Removes an agent with all its versions. The digests of what was installed stay.
    ///
    /// # Errors
    ///
    /// When its current version runs, or a file cannot be removed.
    pub async fn remove(&self, id: &str) -> Result<RemoveOutcome, RegistryError> {
        if !crate::index::is_id(id) || !self.layout.agent(id).is_dir() {
            return Ok(RemoveOutcome::NotInstalled);
        }
        self.layout.check()?;
        let _lock = lock(&self.layout.lock(id), id).await?;
        let path = self.layout.record(id);
        // A damaged record names nothing, so all folders go.
        if let Ok(Some(record)) = Record::read(&path, id) {
            let lock = self.layout.folder_lock(id, &record.current.folder);
            if lock_alone(&lock).map_err(RegistryError::file(&lock))?.is_none() {
                return Err(RegistryError::Running(id.to_owned()));
            }
        }
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(RegistryError::file(&path)(error));
            }
            _ => {}
        }
        let all = self.remove_unlisted(id, None).await?;
        if !all {
            return Ok(RemoveOutcome::StillRuns);
        }
        let folder = self.layout.agent(id);
        fs::remove_dir_all(&folder).map_err(RegistryError::file(&folder))?;
        Ok(RemoveOutcome::Removed)
    }

    /// Removes the folders that the record does not name, except those that run. Returns whether all are gone. The agent's lock
    /// must be held.
    pub(super) async fn remove_unlisted(
        &self,
        id: &str,
        record: Option<&Record>,
    ) -> Result<bool, RegistryError> {
        let agent = self.layout.agent(id);
        let entries = match fs::read_dir(&agent) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
            Err(error) => return Err(RegistryError::file(&agent)(error)),
        };
        let mut all = true;
        for entry in entries {
            let entry = entry.map_err(RegistryError::file(&agent))?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let is_listed = record.is_some_and(|record| record.folders().any(|folder| folder == name));
            if is_listed || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            let lock_path = self.layout.folder_lock(id, &name);
            let Some(lock) = lock_alone(&lock_path).map_err(RegistryError::file(&lock_path))? else {
                all = false;
                continue;
            };
            let folder = entry.path();
            let removed = blocking({
                let folder = folder.clone();
                move || fs::remove_dir_all(folder)
            });
            removed.await.map_err(RegistryError::file(&folder))?;
            // A process that locks the removed file finds that the record names another folder.
            let _left = fs::remove_file(&lock_path);
            drop(lock);
        }
        Ok(all)
    }
}

//! Finds the store and the registry of a command: its options win over the environment, and that over defaults.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use agentwire_agent_registry::{AgentStore, Index, IndexSource, Limits};
use anyhow::Result;

use super::arguments::Places;
use super::errors::{of_setting, to_failure};
use crate::failure::{Exit, Failure, Usage, sentence};
use crate::output::text::Notes;

/// The environment variable with the index of agents.
const REGISTRY: &str = "AGENTWIRE_REGISTRY";

/// The environment variable with the folder of the installed agents.
const STORE: &str = "AGENTWIRE_AGENTS";

impl Places {
    /// The store.
    pub(super) fn store(&self) -> Result<AgentStore> {
        let no_folder = || Usage(format!("there is no folder for agents; set {STORE} or give --store"));
        self.folder()?.ok_or_else(no_folder)?.open()
    }

    /// The store, for a command that works without one. `None` if no folder is known, or if the default one cannot be used,
    /// which the user did not name.
    pub(super) fn usable_store(&self) -> Result<Option<AgentStore>> {
        self.folder()?.map_or(Ok(None), StoreFolder::open_if_usable)
    }

    fn folder(&self) -> Result<Option<StoreFolder>> {
        let Some(path) = &self.store else { return default_store() };
        // A path of the command line is relative to the current folder.
        let path = std::path::absolute(path).map_err(|why| Usage(format!("--store: {why}")))?;
        Ok(Some(StoreFolder { path, setting: Some("--store") }))
    }

    /// Where the index comes from.
    pub(super) fn source(&self) -> Result<IndexSource> {
        if let Some(text) = &self.registry {
            return Ok(IndexSource::parse(text));
        }
        let Some(text) = non_empty(REGISTRY) else { return Ok(IndexSource::official()) };
        let text = text.into_string().map_err(|_| Usage(format!("{REGISTRY} is not in UTF-8")))?;
        match IndexSource::parse(&text) {
            IndexSource::File(path) if !path.is_absolute() => {
                Err(Usage(format!("{REGISTRY}: `{}` is a relative path", path.display())).into())
            }
            source => Ok(source),
        }
    }

    /// Reads the index. Adds a note if it is an old one, or has entries that cannot be read.
    pub(super) async fn index(&self, store: &AgentStore, notes: &Notes) -> Result<Index> {
        let source = self.source()?;
        let mut index = store.index(&source).await.map_err(|error| match &source {
            // The person names the file.
            IndexSource::File(_) => Failure::new(Exit::Usage, error).into(),
            _ => to_failure(error),
        })?;
        if let Some(failure) = index.failure.take() {
            let age = index.age.map_or_else(String::new, |age| format!(" of {}", ago(age)));
            let why = sentence(&failure.into());
            notes.add(&format!("warning: the registry cannot be read; this is its index{age}: {why}"));
        }
        if index.skipped > 0 {
            notes.add(&format!("warning: {} entries of the registry cannot be read", index.skipped));
        }
        Ok(index)
    }

    /// An `agentwire agents` command line with the options for these places.
    pub(super) fn hint(&self, words: &str) -> String {
        let mut line = format!("agentwire agents {words}");
        if let Some(registry) = &self.registry {
            line =
                format!("{line} --registry {}", shell_words::quote(&IndexSource::parse(registry).origin()));
        }
        if let Some(store) = &self.store {
            line = format!("{line} --store {}", shell_words::quote(&store.to_string_lossy()));
        }
        line
    }

    /// The command line that starts an installed agent.
    pub(super) fn chat_hint(&self, id: &str) -> String {
        match &self.store {
            None => format!("agentwire chat --agent {id}"),
            Some(store) => {
                let store = std::path::absolute(store).unwrap_or_else(|_| store.clone());
                let store = store.to_string_lossy().into_owned();
                format!("{STORE}={} agentwire chat --agent {id}", shell_words::quote(&store))
            }
        }
    }
}

/// The age as words, such as `3 minutes ago`.
pub(super) fn ago(age: Duration) -> String {
    let seconds = age.as_secs();
    match seconds {
        0..60 => "a moment ago".to_owned(),
        60..7200 => format!("{} minutes ago", seconds / 60),
        7200..172_800 => format!("{} hours ago", seconds / 3600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}

/// The folder of a store.
struct StoreFolder {
    path: PathBuf,
    /// The option or variable that names it. None for the default folder.
    setting: Option<&'static str>,
}

impl StoreFolder {
    fn open(self) -> Result<AgentStore> {
        AgentStore::open(self.path, Limits::default()).map_err(|error| match self.setting {
            Some(setting) => of_setting(error, setting),
            None => to_failure(error),
        })
    }

    fn open_if_usable(self) -> Result<Option<AgentStore>> {
        let is_default = self.setting.is_none();
        match self.open() {
            Err(_) if is_default => Ok(None),
            store => store.map(Some),
        }
    }
}

/// The folder of the environment, or that in the user's folder for data. A relative path would be another store in each folder.
fn default_store() -> Result<Option<StoreFolder>> {
    if let Some(path) = non_empty(STORE).map(PathBuf::from) {
        return match path.is_absolute() {
            true => Ok(Some(StoreFolder { path, setting: Some(STORE) })),
            false => Err(Usage(format!("{STORE}: `{}` is a relative path", path.display())).into()),
        };
    }
    let data = non_empty("XDG_DATA_HOME").or_else(|| non_empty("LOCALAPPDATA")).map(PathBuf::from);
    let data = data.filter(|path| path.is_absolute());
    let home = || env::home_dir().filter(|home| home.is_absolute()).map(|home| home.join(".local/share"));
    let path = data.or_else(home).map(|folder| folder.join("agentwire").join("agents"));
    Ok(path.map(|path| StoreFolder { path, setting: None }))
}

fn non_empty(variable: &str) -> Option<OsString> {
    env::var_os(variable).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::exit_code;

    #[test]
    fn a_default_store_that_cannot_be_used_is_none_and_a_configured_one_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agents");
        std::fs::write(&path, "").unwrap();
        let below = path.join("agents");
        for path in [&path, &below] {
            let at = |setting| StoreFolder { path: path.clone(), setting };
            assert!(at(None).open_if_usable().unwrap().is_none());
            assert!(at(None).open().is_err(), "`agents` needs it");
            let error = at(Some(STORE)).open_if_usable().unwrap_err();
            assert_eq!(exit_code(&error), 1);
            assert!(error.to_string().starts_with("AGENTWIRE_AGENTS: "), "{error}");
        }
        let places = Places { store: Some(path.clone()), registry: None };
        let expected = format!("--store: the store {} is not a folder", path.display());
        assert_eq!(places.usable_store().unwrap_err().to_string(), expected);
        assert_eq!(places.store().unwrap_err().to_string(), expected);
        let at = StoreFolder { path: folder.path().join("new"), setting: None };
        assert!(at.open_if_usable().unwrap().is_some());
    }

    #[tokio::test]
    async fn file_of_the_registry_that_cannot_be_read_is_wrong_usage() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("none.json").display().to_string();
        let places = Places { store: Some(folder.path().join("agents")), registry: Some(missing) };
        let error = places.index(&places.store().unwrap(), &Notes::new()).await.err().unwrap();
        assert_eq!(exit_code(&error), 2, "{error}");
    }
}

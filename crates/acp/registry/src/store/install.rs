//! Installs an agent into a new folder, which becomes the current one when it is verified and durable.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::agent_store::AgentStore;
use super::digests::Digests;
use super::lock::lock;
use super::record::{Install, Record};
use crate::archive;
use crate::digest::Digest;
use crate::error::RegistryError;
use crate::files::{blocking, sync_tree};
use crate::packages::{npm, uv};
use crate::plan::{Kind, Plan};
use crate::probe::Probe;

/// How an install ended.
#[derive(Debug)]
#[non_exhaustive]
pub enum InstallOutcome {
    /// The agent is installed. It answered this to `initialize`.
    Installed {
        /// The answer.
        probe: Probe,
        /// The version that it replaces, which is kept for a rollback.
        replaced: Option<String>,
    },
    /// The same was installed already, by the same plan.
    AlreadyInstalled,
}

impl AgentStore {
    /// Installs the package of a plan, and verifies it with `initialize` before it takes the place of the version before it. That one
    /// stays; the one before that is removed unless it runs.
    ///
    /// Show the plan to a person first: this downloads code and runs it.
    ///
    /// # Errors
    ///
    /// When anything fails, and then the agent is as it was before.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends all programs that it has started. The agent is as it was before; what is left of the new folder is
    /// removed by the next install.
    pub async fn install(&self, plan: &Plan) -> Result<InstallOutcome, RegistryError> {
        self.layout.create()?;
        let id = &plan.id;
        let _lock = lock(&self.layout.lock(id), id).await?;
        let path = self.layout.record(id);
        // A damaged record is replaced.
        let record = Record::read(&path, id).ok().flatten();
        if record.as_ref().is_some_and(|record| record.current.plan.is_same(plan))
            && matches!(self.find(id), Ok(Some(_)))
        {
            return Ok(InstallOutcome::AlreadyInstalled);
        }
        self.remove_unlisted(id, record.as_ref()).await?;

        let new = NewFolder::create(&self.layout.agent(id), &plan.version)?;
        let (program, digest) = self.fill(plan, &new.path).await?;
        let mut plan = plan.clone();
        if let Some(digest) = &digest {
            plan.digest = Some(digest.as_str().to_owned());
        }
        let install = Install { folder: new.name.clone(), program, plan };
        let probe = self.probe(&self.start_command(&install)).await.map_err(RegistryError::Probe)?;
        let folder = new.path.clone();
        blocking(move || sync_tree(&folder)).await.map_err(RegistryError::file(&new.path))?;

        if let Some(digest) = &digest {
            Digests::read(&self.layout.digests(id))?.add(&install.plan, digest)?;
        }
        // The way back leads to a version that works.
        let previous = record.and_then(|Record { current, previous }| {
            [Some(current), previous].into_iter().flatten().find(|install| self.is_whole(install))
        });
        let replaced = previous.as_ref().map(|install| install.plan.version.clone());
        let record = Record { current: install, previous };
        record.write(&path)?;
        new.keep();
        // The new version is in place. What cannot be removed now is removed by the next install.
        let _left = self.remove_unlisted(id, Some(&record)).await;
        Ok(InstallOutcome::Installed { probe, replaced })
    }

    /// Makes the previously current version current again, if it is this one, without a network. The replaced version is kept.
    /// Returns `None`, and changes nothing, if the version is not installed.
    ///
    /// A version counts only if it was installed by the same `registry`, and as `kind` if that is given.
    ///
    /// # Errors
    ///
    /// When the version no longer answers `initialize`, or the record cannot be written; then the agent is as it was before.
    pub async fn go_back(
        &self,
        id: &str,
        version: &str,
        registry: &str,
        kind: Option<Kind>,
    ) -> Result<Option<InstallOutcome>, RegistryError> {
        if !crate::index::is_id(id) || !self.layout.agent(id).is_dir() {
            return Ok(None);
        }
        self.layout.check()?;
        let _lock = lock(&self.layout.lock(id), id).await?;
        let path = self.layout.record(id);
        let Some(Record { current, previous: Some(install) }) = Record::read(&path, id).ok().flatten() else {
            return Ok(None);
        };
        let Plan { version: there, registry: from, kind: was, .. } = &install.plan;
        let is_wanted = there == version && from == registry && kind.is_none_or(|kind| kind == *was);
        if !is_wanted || current.plan.version == version || !self.is_whole(&install) {
            return Ok(None);
        }
        let probe = self.probe(&self.start_command(&install)).await.map_err(RegistryError::Probe)?;
        let replaced = Some(current.plan.version.clone());
        let previous = Some(current).filter(|install| self.is_whole(install));
        Record { current: install, previous }.write(&path)?;
        Ok(Some(InstallOutcome::Installed { probe, replaced }))
    }

    /// Fetches the files of the plan into a folder. Returns the path of the executable, and the digest of the download.
    async fn fill(&self, plan: &Plan, folder: &Path) -> Result<(PathBuf, Option<Digest>), RegistryError> {
        let known = Digests::read(&self.layout.digests(&plan.id))?;
        let check = |digest: Option<&Digest>| known.check(plan, digest);
        match plan.kind {
            Kind::Npx => {
                // An install script would run before the installed digest can be compared.
                check(plan.digest.as_deref().and_then(Digest::from_integrity).as_ref())?;
                let (program, digest) = npm::install(plan, &self.path, folder, self.limits.install).await?;
                check(digest.as_ref())?;
                Ok((program, digest))
            }
            Kind::Uvx => Ok((uv::install(plan, &self.path, folder, self.limits.install).await?, None)),
            Kind::Binary => {
                let (program, digest) =
                    archive::install(plan, folder, &self.limits, |digest| check(Some(digest))).await?;
                Ok((program, Some(digest)))
            }
        }
    }
}

/// A folder that is removed unless it is kept.
struct NewFolder {
    path: PathBuf,
    name: String,
    is_kept: bool,
}

impl NewFolder {
    /// Creates a folder of a new name. It is never renamed: programs that uv installs know their own path.
    fn create(agent: &Path, version: &str) -> Result<Self, RegistryError> {
        fs::create_dir_all(agent).map_err(RegistryError::file(agent))?;
        for number in 1_u32.. {
            let name = format!("{version}-{number}");
            let path = agent.join(&name);
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Self { path, name, is_kept: false }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(RegistryError::file(path)(error)),
            }
        }
        Err(RegistryError::file(agent)(io::Error::from(io::ErrorKind::AlreadyExists)))
    }

    fn keep(mut self) {
        self.is_kept = true;
    }
}

impl Drop for NewFolder {
    fn drop(&mut self) {
        if !self.is_kept {
            let _left = fs::remove_dir_all(&self.path);
            // Only an empty folder is removed: the first install of an agent leaves nothing.
            let _other_versions = self.path.parent().map(fs::remove_dir);
        }
    }
}

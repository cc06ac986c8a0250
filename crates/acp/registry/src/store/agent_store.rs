//! Finds installed agents, and reads indexes.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use agentwire_wire_derive::Build;

use crate::error::RegistryError;
use crate::index::{Index, IndexSource, is_id};
use crate::limits::Limits;
use crate::packages::npm;
use crate::packages::programs::{RunError, SearchPath, is_executable, program_version};
use crate::plan::{Kind, Plan};
use crate::probe::{Probe, ProbeError, StartCommand, probe};

use super::layout::Layout;
use super::lock::FolderGuard;
use super::record::{Install, Record};

/// How many times a folder is looked for again that another process has just replaced.
const ATTEMPTS: usize = 5;

/// The agents that are installed in a folder. Several processes can share the folder.
#[derive(Clone, Debug, Build)]
pub struct AgentStore {
    pub(super) layout: Layout,
    pub(super) limits: Limits,
    /// Sets where npm and uv are looked for. Without it, in `PATH`.
    #[build(name = search_path)]
    pub(super) path: SearchPath,
}

/// An installed agent. Its folder stays as long as this value.
#[derive(Debug)]
#[non_exhaustive]
pub struct InstalledAgent {
    /// The plan of its install.
    pub plan: Plan,
    /// The version before it, which is still installed.
    pub previous_version: Option<String>,
    start: StartCommand,
    guard: FolderGuard,
}

impl InstalledAgent {
    /// How it is started.
    pub fn start(&self) -> &StartCommand {
        &self.start
    }

    /// How it is started, and the guard to hold while it runs.
    pub fn into_start(self) -> (StartCommand, FolderGuard) {
        (self.start, self.guard)
    }
}

/// An agent whose record or folder is damaged.
#[derive(Debug)]
#[non_exhaustive]
pub struct DamagedAgent {
    /// Its id.
    pub id: String,
    /// The fault.
    pub error: RegistryError,
    /// The plan of its install. `None` if its record cannot be read.
    pub plan: Option<Plan>,
}

impl AgentStore {
    /// The store at an absolute path. The first install creates the folder.
    ///
    /// # Errors
    ///
    /// When the path is relative, or others can change the folder.
    pub fn open(root: impl Into<PathBuf>, limits: Limits) -> Result<Self, RegistryError> {
        let layout = Layout::new(root.into())?;
        layout.check()?;
        Ok(Self { layout, limits, path: SearchPath::from_environment() })
    }

    /// The store's folder.
    pub fn root(&self) -> &Path {
        self.layout.root()
    }

    /// Reads an index. That of a URL is cached here, and asked for again each time; the cached one takes its place where the URL
    /// cannot be reached.
    ///
    /// # Errors
    ///
    /// When it can be read neither from its source nor from the cache.
    pub async fn index(&self, source: &IndexSource) -> Result<Index, RegistryError> {
        self.layout.create()?;
        source.read(&self.layout.index(), self.limits.index).await
    }

    /// The cached index of a URL, or the index of a file, without a network.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or the text is not an index.
    pub fn cached_index(&self, source: &IndexSource) -> Result<Option<Index>, RegistryError> {
        source.read_cached(&self.layout.index(), self.limits.index)
    }

    /// Completes a plan: asks npm for the executable and the digest of its package. Nothing of the package runs.
    ///
    /// # Errors
    ///
    /// When npm is missing, fails, or has no such version or executable.
    pub async fn resolve(&self, plan: &mut Plan) -> Result<(), RegistryError> {
        if plan.kind == Kind::Npx {
            self.layout.create()?;
            npm::resolve(plan, &self.path, &self.layout.neutral()?).await?;
        }
        Ok(())
    }

    /// The installed agents by id, and those that are damaged.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn installed(&self) -> Result<(Vec<InstalledAgent>, Vec<DamagedAgent>), RegistryError> {
        let path = self.layout.agents();
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Default::default()),
            Err(error) => return Err(RegistryError::file(&path)(error)),
        };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut ids: Vec<String> = names.filter(|name| is_id(name)).collect();
        ids.sort();
        let (mut agents, mut damaged) = (Vec::new(), Vec::new());
        for id in ids {
            match self.find(&id) {
                Ok(agent) => agents.extend(agent),
                Err(error) => {
                    let record = Record::read(&self.layout.record(&id), &id).ok().flatten();
                    damaged.push(DamagedAgent { id, error, plan: record.map(|record| record.current.plan) });
                }
            }
        }
        Ok((agents, damaged))
    }

    /// An installed agent. None if it is not installed, or the text is not an id. No network, certificate or index is used.
    ///
    /// # Errors
    ///
    /// When its record is damaged, or its executable is gone.
    pub fn find(&self, id: &str) -> Result<Option<InstalledAgent>, RegistryError> {
        if !is_id(id) {
            return Ok(None);
        }
        self.layout.check()?;
        let record = self.layout.record(id);
        let read = || Record::read(&record, id).map_err(RegistryError::file(&record));
        for _ in 0..ATTEMPTS {
            let Some(Record { current, .. }) = read()? else { return Ok(None) };
            let lock = self.layout.folder_lock(id, &current.folder);
            let Some(guard) = FolderGuard::acquire(&lock).map_err(RegistryError::file(&lock))? else {
                continue;
            };
            // The folder may have been replaced before it was locked.
            match read()? {
                Some(now) if now.current == current => return self.agent(now, guard).map(Some),
                _ => {}
            }
        }
        Err(RegistryError::Busy(id.to_owned()))
    }

    fn agent(&self, record: Record, guard: FolderGuard) -> Result<InstalledAgent, RegistryError> {
        let Record { current, previous } = record;
        let start = self.start_command(&current);
        if !self.is_whole(&current) {
            let gone = io::Error::from(io::ErrorKind::NotFound);
            return Err(RegistryError::file(&start.program)(gone));
        }
        let previous = previous.filter(|install| self.is_whole(install));
        let previous_version = previous.map(|install| install.plan.version);
        Ok(InstalledAgent { plan: current.plan, previous_version, start, guard })
    }

    /// Whether the executable of a version is there.
    pub(super) fn is_whole(&self, install: &Install) -> bool {
        is_executable(&self.layout.folder(&install.plan.id, &install.folder).join(&install.program))
    }

    pub(super) fn start_command(&self, install: &Install) -> StartCommand {
        let variables = install.plan.env.iter().map(|(name, value)| (name.clone(), OsString::from(value)));
        // A plan never sets it.
        let path = ("PATH".to_owned(), self.path.variable());
        StartCommand {
            program: self.layout.folder(&install.plan.id, &install.folder).join(&install.program),
            args: install.plan.args.clone(),
            env: variables.chain([path]).collect(),
        }
    }

    /// Starts an agent in an empty folder, sends it `initialize` and ends it.
    ///
    /// # Errors
    ///
    /// When it does not answer; the error has its exit code and the last lines of its stderr.
    pub async fn probe(&self, start: &StartCommand) -> Result<Probe, ProbeError> {
        let folder = self.layout.neutral().unwrap_or_else(|_| self.root().to_owned());
        probe(start, &folder, self.limits.probe).await
    }

    /// The output of a program for `--version`, run in an empty folder.
    ///
    /// # Errors
    ///
    /// When it is missing, or fails.
    pub async fn program_version(&self, name: &str) -> Result<String, RunError> {
        let folder = self.layout.neutral().unwrap_or_else(|_| std::env::temp_dir());
        program_version(&self.path, name, &folder).await
    }
}

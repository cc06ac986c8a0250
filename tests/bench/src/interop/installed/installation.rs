//! Installs an agent by its name, as a person does: with the npm of the machine, but in a home of its own.

use std::fs;
use std::process::{Command, Stdio};

use agentwire_test_support::process;
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::registry;
use crate::interop::products::{Distribution, Product, fill};
use crate::interop::scratch::{Outcome, Scratch};
use crate::interop::service::Service;

/// An agent that is not installed yet.
pub(super) struct Installation<'a> {
    scratch: &'a Scratch<'a>,
    product: &'static Product,
    version: String,
}

impl<'a> Installation<'a> {
    /// Finds the version in the lists of `tests/interop/agents`.
    pub(super) fn new(scratch: &'a Scratch<'a>, product: &'static Product) -> Result<Self> {
        let installed = product.installed.as_ref().context("it is not installed by name")?;
        let list = scratch.peers().sources().join("agents/package.json");
        let list: Value = serde_json::from_str(&fs::read_to_string(list)?)?;
        let name = match &installed.distribution {
            Distribution::Package { package } => package.clone(),
            Distribution::Archive { archive, .. } => fill(archive, scratch, ""),
        };
        let versions = ["dependencies", "optionalDependencies"].map(|kind| list[kind][&name].as_str());
        let version = versions.into_iter().flatten().next();
        let version = version.with_context(|| format!("tests/interop/agents has no {name}"))?.to_owned();
        Ok(Self { scratch, product, version })
    }

    /// Without a yes nothing is installed, and it is said what would be. With one, the agent is listed as installed.
    pub(super) fn install(&self) -> Result<()> {
        let served = self.serve_archive()?;
        let archive = served.as_ref().map(|(_, url)| url.as_str());
        let folder = self.scratch.project().join("..");
        let registry = registry::write(&folder, self.product, &self.version, archive)?.display().to_string();
        let install = ["agents", "install", &self.product.id, "--registry", &registry];
        let refused = self.run(&install)?;
        refused.expect_code(6)?;
        let source = archive.map_or_else(|| format!("@{}", self.version), str::to_owned);
        ensure!(
            refused.errors.contains(&source),
            "it does not say what it would install: {}",
            refused.errors
        );
        self.expect_installed(None)?;
        self.run(&[&install[..], &["--yes"]].concat())?.expect_code(0)?;
        self.expect_installed(Some(&self.version))
    }

    /// Fails unless this version is the only one that is installed; none if nothing is.
    fn expect_installed(&self, version: Option<&str>) -> Result<()> {
        let outcome = self.run(&["agents", "list", "--json"])?;
        outcome.expect_code(0)?;
        let listed = outcome.json()?;
        let found: Vec<_> =
            listed.iter().map(|agent| (agent["id"].as_str(), agent["version"].as_str())).collect();
        let expected: Vec<_> =
            version.map(|version| (Some(&*self.product.id), Some(version))).into_iter().collect();
        ensure!(found == expected, "installed are {found:?} instead of {expected:?}");
        Ok(())
    }

    /// Serves the archive, if the agent is distributed as one: the package of npm for this system.
    fn serve_archive(&self) -> Result<Option<(Service<'a>, String)>> {
        let Some(Distribution::Archive { archive, .. }) =
            self.product.installed.as_ref().map(|it| &it.distribution)
        else {
            return Ok(None);
        };
        let folder = self.scratch.project().join("../archives");
        fs::create_dir(&folder)?;
        let package = format!("{}@{}", fill(archive, self.scratch, ""), self.version);
        let file =
            process::output(Command::new("npm").args(["pack", "--silent", &package]).current_dir(&folder))?;
        let python = self.scratch.peers().python_path().display().to_string();
        let directory = folder.display().to_string();
        let server = ["-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", &directory];
        let mut command = vec![python];
        command.extend(server.map(str::to_owned));
        let service = Service::start(self.scratch, command)?;
        let url = service.url(&format!("/{}", file.trim()))?;
        Ok(Some((service, url)))
    }

    /// Runs our command with the network, the npm settings and the npm cache of the person who runs this.
    fn run(&self, arguments: &[&str]) -> Result<Outcome> {
        let words = self.scratch.peers().agentwire(arguments);
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).stdin(Stdio::null()).current_dir(self.scratch.project());
        command.env("HOME", self.scratch.home()).env("PATH", self.path()?);
        for name in ["XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"] {
            command.env_remove(name);
        }
        for setting in ["cache", "userconfig"] {
            let value = process::output(Command::new("npm").args(["config", "get", setting]))?;
            command.env(format!("npm_config_{setting}"), value.trim());
        }
        let output = command.output().with_context(|| words.join(" "))?;
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        self.scratch.note(&words, &errors);
        let lines = String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
        Ok(Outcome { code: output.status.code(), lines, errors })
    }

    /// `PATH` with the Node of the agents first.
    fn path(&self) -> Result<String> {
        let path = self.scratch.peers().node_path();
        Ok(path.strip_prefix("PATH=").context("a variable")?.to_owned())
    }
}

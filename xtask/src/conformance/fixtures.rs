//! Our side: the server and the client that the suite judges.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

/// How long the server may take until it listens.
const START: Duration = Duration::from_secs(10);

/// The programs.
pub(super) struct Fixtures {
    target: PathBuf,
}

impl Fixtures {
    /// Builds them, as the tests do, so that this costs little.
    pub(super) fn build(root: &Path) -> Result<Self> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let status = Command::new(cargo)
            .args(["build", "--quiet", "--package", "agentwire-conformance-fixtures"])
            .current_dir(root)
            .status()
            .context("cannot run cargo")?;
        ensure!(status.success(), "the build failed");
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
        Ok(Self { target: std::path::absolute(target)? })
    }

    /// The folder for all that is built.
    pub(super) fn target(&self) -> &Path {
        &self.target
    }

    /// What starts the client, for a shell. The suite adds a URL.
    pub(super) fn client_command(&self) -> String {
        self.program("everything-client").display().to_string()
    }

    /// Starts the server. What it says is written to `log`.
    pub(super) fn serve(&self, log: &Path) -> Result<Serving> {
        let mut command = Command::new(self.program("everything-server"));
        command.arg("127.0.0.1:0").stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(log)?);
        let child = command.spawn().context("cannot run the server")?;
        let mut serving = Serving { child, url: String::new() };
        let until = Instant::now() + START;
        loop {
            let said = fs::read_to_string(log)?;
            let whole = said.lines().take(said.matches('\n').count());
            if let Some(url) = whole.filter_map(|line| line.strip_prefix("listening on ")).next() {
                url.clone_into(&mut serving.url);
                return Ok(serving);
            }
            if serving.child.try_wait()?.is_some() || Instant::now() > until {
                bail!("the server does not listen:\n{said}");
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn program(&self, name: &str) -> PathBuf {
        self.target.join("debug").join(name)
    }
}

/// A server that runs, until this is dropped.
pub(super) struct Serving {
    child: Child,
    url: String,
}

impl Serving {
    pub(super) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

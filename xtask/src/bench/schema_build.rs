//! How long the schema crates take to build from nothing, alone and without features, and what they pull in.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::package::crates_in;
use super::process::Load;
use super::rows::{Floor, Medians, Unit};
use super::table::print_aligned;

const PACKAGES: [&str; 2] = ["agentwire-acp-schema", "agentwire-mcp-schema"];

/// With two cores to build on.
const SECONDS: Floor = Floor::AtMost(15.0);

/// Linked or run as a macro, the package itself counted.
const CRATES: Floor = Floor::AtMost(20.0);

/// One package, built.
pub(super) struct Build {
    package: &'static str,
    seconds: f64,
    crates: usize,
    /// The share of one core that other programs used meanwhile.
    others: f64,
}

pub(super) fn measure(root: &Path) -> Result<Vec<Build>> {
    PACKAGES.iter().map(|package| build(root, package)).collect()
}

fn build(root: &Path, package: &'static str) -> Result<Build> {
    eprintln!("building {package} from nothing");
    let tree = cargo(root, "tree", package).args(["--edges", "normal,build", "--prefix", "none"]).output()?;
    ensure!(tree.status.success(), "cargo tree: {}", String::from_utf8_lossy(&tree.stderr));
    let crates = crates_in(&String::from_utf8(tree.stdout)?, "").len();
    let target = TempDir::new()?;
    let (begun, load) = (Instant::now(), Load::now()?);
    let built = cargo(root, "build", package)
        .args(["--release", "--jobs", "2"])
        .env("CARGO_TARGET_DIR", target.path())
        .output()?;
    let elapsed = begun.elapsed();
    let others = Load::now()?.others_since(load, elapsed);
    ensure!(built.status.success(), "cargo build: {}", String::from_utf8_lossy(&built.stderr));
    Ok(Build { package, seconds: elapsed.as_secs_f64(), crates, others })
}

fn cargo(root: &Path, subcommand: &str, package: &str) -> Command {
    let mut command = Command::new("cargo");
    command.args([subcommand, "--quiet", "--offline", "--package", package]).current_dir(root);
    command
}

impl Build {
    fn judge(&self) -> [(Floor, bool); 2] {
        let holds = |floor: Floor, value| {
            floor.holds(Medians { ours: Some(value), before: None, limit: None, rival: None })
        };
        [(SECONDS, holds(SECONDS, self.seconds)), (CRATES, holds(CRATES, self.crates as f64))]
    }

    pub(super) fn misses(&self) -> Vec<String> {
        let missed = self.judge().into_iter().filter(|(_, ok)| !ok);
        missed.map(|(floor, _)| format!("build of {}: {floor}", self.package)).collect()
    }

    pub(super) fn json(&self) -> Value {
        let floors = self.judge().map(|(floor, ok)| json!({ "floor": floor.to_string(), "ok": ok }));
        json!({
            "row": "build", "what": self.package, "seconds": self.seconds, "crates": self.crates, "others": self.others,
            "floors": floors,
        })
    }
}

pub(super) fn print(builds: &[Build]) {
    let header = ["row", "what", "time", "crates", "others", "floors"].map(str::to_owned).to_vec();
    let line = |build: &Build| {
        let verdict = |(floor, ok): (Floor, bool)| format!("{} {floor}", if ok { "ok" } else { "MISS" });
        vec![
            "build".to_owned(),
            build.package.to_owned(),
            Unit::Seconds.show(build.seconds),
            build.crates.to_string(),
            format!("{:.0} %", build.others * 100.0),
            build.judge().map(verdict).join(", "),
        ]
    };
    print_aligned(&std::iter::once(header).chain(builds.iter().map(line)).collect::<Vec<_>>());
}

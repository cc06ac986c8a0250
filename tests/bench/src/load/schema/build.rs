//! The schema crates alone and without features: their build time from nothing, and the crates that they pull in.

use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use serde_json::{Value, json};

use crate::load::package::Package;
use crate::load::process::Load;
use crate::load::rows::{Floor, Judgement, Medians, Unit};
use crate::load::table::print_aligned;

const PACKAGES: [&str; 2] = ["agentwire-acp-schema", "agentwire-mcp-schema"];

/// With two cores to build on.
const SECONDS: Floor = Floor::AtMost(15.0);

/// Linked or run as a macro, the package itself included.
const CRATES: Floor = Floor::AtMost(20.0);

/// The build of one package.
pub(super) struct Build {
    package: &'static str,
    seconds: f64,
    crates: usize,
    /// The share of one core that other programs used during the build.
    others: f64,
}

/// Builds each package.
pub(super) fn measure(root: &Path) -> Result<Vec<Build>> {
    PACKAGES.iter().map(|package| build(root, package)).collect()
}

fn build(root: &Path, name: &'static str) -> Result<Build> {
    eprintln!("building {name} from nothing");
    let package = Package::at(root.join("Cargo.toml"), name);
    let crates = package.crates_by("normal,build")?.len() + 1;
    let (begun, load) = (Instant::now(), Load::now()?);
    let built = package.build_with(&["--jobs", "2"])?;
    let others = Load::now()?.others_since(load, begun.elapsed());
    Ok(Build { package: name, seconds: built.time.as_secs_f64(), crates, others })
}

impl Build {
    fn judgements(&self) -> [Judgement; 2] {
        [(SECONDS, self.seconds), (CRATES, self.crates as f64)]
            .map(|(floor, ours)| Judgement::new([floor], Medians { ours: Some(ours), ..Medians::default() }))
    }

    pub(super) fn misses(&self) -> Vec<String> {
        let name = format!("build of {}", self.package);
        self.judgements().iter().flat_map(|judgement| judgement.misses(&name)).collect()
    }

    pub(super) fn json(&self) -> Value {
        let floors: Vec<Value> = self.judgements().iter().flat_map(Judgement::json).collect();
        json!({
            "row": "build", "what": self.package, "seconds": self.seconds, "crates": self.crates, "others": self.others,
            "floors": floors,
        })
    }

    fn line(&self) -> Vec<String> {
        vec![
            "build".to_owned(),
            self.package.to_owned(),
            Unit::Seconds.show(self.seconds),
            self.crates.to_string(),
            format!("{:.0} %", self.others * 100.0),
            self.judgements().map(|judgement| judgement.text()).join(", "),
        ]
    }
}

pub(super) fn print(builds: &[Build]) {
    let header = ["row", "what", "time", "crates", "others", "floors"].map(str::to_owned).to_vec();
    print_aligned(&std::iter::once(header).chain(builds.iter().map(Build::line)).collect::<Vec<_>>());
}

//! `cargo xtask bench size`: the crates, build time and size of three small programs on our crates and on rmcp.
//!
//! A server with one tool over stdio, the same over HTTP, and a client that calls it and supports TLS. Each is a package of
//! its own with the fewest features that suffice, and with the versions of its workspace's lock file. It is built from
//! nothing in a folder of its own, ours and theirs in turn, and stripped, and must then pass a check. The clients differ in
//! their cryptography: ours uses `ring`, by the feature `rustls-ring`; rmcp's uses aws-lc, which is larger and is part of its
//! feature for rustls. Crates and sizes are exact. Times are those of an idle machine; their ratio varies little.

mod behave;
mod stand_in;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result};

use super::options::Options;
use super::pace::Pace;
use super::package::Package;
use super::process::Launch;
use super::rows::{Floor, Row, Unit};
use super::scenario::{Sample, Scenario};
use super::subject::{Side, Subject};
use super::suite::{Wanted, finish};
use super::table::Report;
use crate::rivals::RIVALS;

/// One program in both implementations.
struct Program {
    title: &'static str,
    /// One scenario; a row's name selects it.
    scenario: [Scenario; 1],
    dependencies: &'static str,
    source: &'static str,
    ours: &'static str,
    rival: &'static str,
}

const CRATES: Row = Row::cost("", "crates", Unit::Crates, &[SMALLER]);
const BUILD: Row = Row { title: "clean release build", unit: Unit::Seconds, ..CRATES };
const SIZE: Row = Row { title: "the program, stripped", unit: Unit::Megabytes, ..CRATES };

const MUCH_SMALLER: Floor = Floor::AtMostOfRival(0.6);
const SMALLER: Floor = Floor::AtMostOfRival(0.8);

const PROGRAMS: [Program; 3] = [
    Program {
        title: "An MCP server with one tool, over stdio",
        scenario: [Scenario {
            name: "the server over stdio",
            rows: &[
                Row { key: "stdio-crates", floors: &[MUCH_SMALLER], ..CRATES },
                Row { key: "stdio-build", floors: &[MUCH_SMALLER], ..BUILD },
                Row { key: "stdio-size", floors: &[MUCH_SMALLER], ..SIZE },
            ],
            measure: |subject, _| measure(subject, behave::as_server_over_stdio),
        }],
        dependencies: r#"
agentwire-mcp-server = { path = "CRATES/mcp/server", default-features = false }
agentwire-transport-stdio = { path = "CRATES/core/stdio", default-features = false }
schemars = "1"
serde = { version = "1", features = ["derive"] }
tokio = { version = "1", features = ["macros", "rt"] }
"#,
        source: include_str!("programs/stdio.rs"),
        ours: "small-stdio-server",
        rival: "rival-size-stdio",
    },
    Program {
        title: "The same server over HTTP",
        scenario: [Scenario {
            name: "the server over HTTP",
            rows: &[
                Row { key: "server-crates", ..CRATES },
                Row { key: "server-build", ..BUILD },
                Row { key: "server-size", ..SIZE },
            ],
            measure: |subject, _| measure(subject, behave::as_server_over_http),
        }],
        dependencies: r#"
agentwire-mcp-server = { path = "CRATES/mcp/server", default-features = false }
agentwire-transport-http = { path = "CRATES/mcp/http", default-features = false, features = ["hyper"] }
schemars = "1"
serde = { version = "1", features = ["derive"] }
tokio = { version = "1", features = ["macros", "net", "rt"] }
"#,
        source: include_str!("programs/server.rs"),
        ours: "small-http-server",
        rival: "rival-size-server",
    },
    Program {
        title: "A client over HTTP, with TLS by rustls (ours on ring, theirs on aws-lc)",
        scenario: [Scenario {
            name: "the client over HTTP",
            rows: &[
                Row { key: "client-crates", ..CRATES },
                Row { key: "client-build", ..BUILD },
                Row { key: "client-size", ..SIZE },
            ],
            measure: |subject, _| measure(subject, behave::as_client_over_http),
        }],
        dependencies: r#"
agentwire-mcp-client = { path = "CRATES/mcp/client", default-features = false }
agentwire-transport-http = { path = "CRATES/mcp/http", default-features = false, features = ["rustls-ring"] }
serde_json = "1"
tokio = { version = "1", features = ["macros", "rt"] }
"#,
        source: include_str!("programs/client.rs"),
        ours: "small-http-client",
        rival: "rival-size-client",
    },
];

pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    let wanted = Wanted::new(options, PROGRAMS.iter().flat_map(|program| &program.scenario))?;
    let pace = Pace { repetitions: if options.quick { 1 } else { 2 }, ..Pace::full() };
    let (mut others, mut measured) = (Vec::new(), Vec::new());
    for program in PROGRAMS.iter().filter(|program| wanted.any(&program.scenario)) {
        let subjects = program.subjects(root, !options.rivals_only)?;
        let rows = wanted.measure(&program.scenario, &subjects, &pace, &mut others)?;
        measured.push((program, subjects, rows));
    }
    for (program, subjects, _) in &measured {
        print_differences(program, subjects)?;
    }
    let report =
        |(program, subjects, measured)| Report { title: Program::title(program), subjects, measured };
    let measured =
        measured.iter_mut().map(|(program, subjects, rows)| (*program, &**subjects, std::mem::take(rows)));
    finish(&measured.map(report).collect::<Vec<_>>(), &pace, &others, options)
}

impl Program {
    fn title(&self) -> &'static str {
        self.title
    }

    fn subjects(&self, root: &Path, with_ours: bool) -> Result<Vec<Subject>> {
        // The path of the program is known after its build.
        let subject = |side, label, package| Subject {
            side,
            label,
            service: Launch::new("".into()),
            client: None,
            package: Some(package),
        };
        let ours = with_ours
            .then(|| Package::generate(root, self.ours, self.dependencies, self.source))
            .transpose()?;
        let ours = ours.map(|package| subject(Side::Ours, "ours", package));
        let rival = subject(
            Side::Rival,
            "rmcp 3.11.0",
            Package::at(root.join(RIVALS).join("Cargo.toml"), self.rival),
        );
        Ok(ours.into_iter().chain([rival]).collect())
    }
}

fn measure(subject: &Subject, behave: fn(&Launch) -> Result<()>) -> Result<Vec<Sample>> {
    let package = subject.package.as_ref().context("no package")?;
    let crates = package.crates()?.len();
    let built = package.build()?;
    behave(&Launch::new(built.program.clone())).context("the built program fails its check")?;
    let megabytes = built.size()? as f64 / 1e6;
    Ok(vec![Some(crates as f64), Some(built.time.as_secs_f64()), Some(megabytes)])
}

/// Prints the crates that both sides have in different versions, which makes them harder to compare.
fn print_differences(program: &Program, subjects: &[Subject]) -> Result<()> {
    let packages = subjects.iter().filter_map(|subject| subject.package.as_ref());
    let trees: Vec<_> = packages.map(Package::crates).collect::<Result<_>>()?;
    if let [ours, theirs] = &trees[..] {
        let differences = differences(ours, theirs);
        if !differences.is_empty() {
            println!("{}: different versions of {}", program.scenario[0].name, differences.join(", "));
        }
    }
    Ok(())
}

/// The crates that both have without a common version.
fn differences<'a>(ours: &'a BTreeSet<String>, theirs: &'a BTreeSet<String>) -> Vec<&'a str> {
    let (ours, theirs) = (by_name(ours), by_name(theirs));
    let differs = |(name, versions): (&&'a str, &BTreeSet<&str>)| {
        let others: &BTreeSet<&str> = theirs.get(name)?;
        versions.is_disjoint(others).then_some(*name)
    };
    ours.iter().filter_map(differs).collect()
}

fn by_name(crates: &BTreeSet<String>) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut versions = BTreeMap::<_, BTreeSet<_>>::new();
    for (name, version) in crates.iter().filter_map(|line| line.split_once(' ')) {
        versions.entry(name).or_default().insert(version);
    }
    versions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_differ_that_share_no_version() {
        let set = |crates: &[&str]| crates.iter().map(|name| (*name).to_owned()).collect();
        let (ours, theirs) = (
            set(&["ours v1", "serde v1.0.1", "syn v3.0.1", "tokio v1.2.0"]),
            set(&["rmcp v3", "serde v1.0.2", "syn v2.0.1", "syn v3.0.1", "tokio v1.2.0"]),
        );
        assert_eq!(differences(&ours, &theirs), ["serde"]);
        assert_eq!(differences(&theirs, &ours), ["serde"]);
    }

    #[test]
    fn each_program_is_measured_and_judged_in_three_ways() {
        for program in &PROGRAMS {
            let rows = program.scenario[0].rows;
            assert_eq!(rows.len(), 3);
            assert!(rows.iter().all(|row| !row.key.is_empty() && row.floors.len() == 1));
        }
    }
}

//! Judges our programs by our own suite: the command, and the fixtures, which have every feature.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use agentwire_test_support::{cargo, process};
use anyhow::{Result, bail};

use super::table::Row;

/// A subject, a transport, a program and its arguments.
type Fixture = (&'static str, &'static str, &'static str, &'static [&'static str]);

/// The fixtures, each over every transport that it has.
const FIXTURES: &[Fixture] = &[
    ("acp-agent", "stdio", "everything-agent", &[]),
    ("acp-agent", "http", "everything-agent", &["127.0.0.1:0"]),
    ("acp-agent", "ws", "everything-agent", &["127.0.0.1:0"]),
    ("acp-client", "stdio", "everything-acp-client", &["--driver", "{target}", "--revision", "{revision}"]),
    ("acp-proxy", "stdio", "everything-proxy", &[]),
    ("acp-conductor", "stdio", "everything-conductor", &["--proxy", "{proxy}", "--agent", "{agent}"]),
    ("acp-client", "http", "everything-acp-client", &["--driver", "{target}", "--revision", "{revision}"]),
    ("acp-client", "ws", "everything-acp-client", &["--driver", "{target}", "--revision", "{revision}"]),
    ("mcp-server", "stdio", "everything-server", &[]),
    ("mcp-server", "http", "everything-server", &["127.0.0.1:0"]),
    ("mcp-server", "sse", "everything-server", &["127.0.0.1:0"]),
    ("mcp-client", "stdio", "everything-client", &["--driver", "{target}", "--revision", "{revision}"]),
    ("mcp-client", "http", "everything-client", &["--driver", "{target}", "--revision", "{revision}"]),
    ("mcp-client", "sse", "everything-client", &["--driver", "{target}", "--revision", "{revision}"]),
];

/// The folders of scripts in `crates/tools/conformance/scripts`, each with the fixture that they are played to. The other scripts of
/// clients also depend on what the client's code does, so `acp-client`'s tests play them.
const SCRIPTS: &[(&str, Fixture)] = &[
    ("acp-agent", ("acp-agent", "stdio", "script-agent", &["v1"])),
    ("acp-agent-v2", ("acp-agent", "stdio", "script-agent", &["v2"])),
    ("acp-agent-router/v1", ("acp-agent", "stdio", "script-agent", &["router-v1"])),
    ("acp-agent-router/v2", ("acp-agent", "stdio", "script-agent", &["router-v2"])),
    ("acp-agent-router/both", ("acp-agent", "stdio", "script-agent", &["router-both"])),
    (
        "acp-client-prompted",
        (
            "acp-client",
            "stdio",
            "everything-acp-client",
            &["--driver", "{target}", "--revision", "{revision}"],
        ),
    ),
];

/// The number of checks that run at a time. They mostly wait.
const JOBS: &str = "8";

/// The programs of this workspace.
struct Programs {
    folder: PathBuf,
}

impl Programs {
    /// Builds them in debug mode.
    fn build(root: &Path) -> Result<Self> {
        Ok(Self { folder: cargo::programs(root)? })
    }

    fn check(&self) -> Command {
        let mut command = Command::new(self.folder.join("agentwire"));
        command.arg("check");
        command
    }

    /// `check` of a fixture.
    fn check_fixture(&self, fixture: &Fixture, options: &[&str]) -> Command {
        let (subject, transport, program, arguments) = *fixture;
        let mut command = self.check();
        command
            .args([
                subject,
                "--transport",
                transport,
                "--profile",
                "everything",
                "--jobs",
                JOBS,
                "--call-any",
            ])
            .args(options);
        command.arg("--").arg(self.folder.join(program)).args(arguments);
        command
    }

    /// The mutants of a fixture, before the suite.
    fn mutants(&self, (subject, transport, program, arguments): &Fixture) -> Command {
        let mut command = Command::new(self.folder.join("suite-mutants"));
        command.args([subject, transport]).arg(self.folder.join("agentwire"));
        command.arg(self.folder.join(program)).args(*arguments);
        command
    }
}

/// Plays the scripts. Nothing that they name may be broken.
fn play_scripts(root: &Path, programs: &Programs, reports: &Path, rows: &mut Vec<Row>) -> Result<()> {
    for (folder, fixture) in SCRIPTS {
        let name = format!("scripts-{}", folder.replace('/', "-"));
        let scripts = root.join("crates/tools/conformance/scripts").join(folder).display().to_string();
        // One script waits until the agent gives up after 10 s.
        let options = ["--level", "may", "--timeout", "30", "--script", &scripts];
        rows.push(run(&name, programs.check_fixture(fixture, &options), reports)?);
    }
    Ok(())
}

/// Judges the command and the fixtures. No requirement may be broken, no recommendation, and no check may find nothing out.
pub(super) fn judge(root: &Path) -> Result<Vec<Row>> {
    let programs = Programs::build(root)?;
    let reports = cargo::target(root)?.join("conformance");
    let mut ours = programs.check();
    ours.args(["--level", "should", "--jobs", JOBS]);
    ours.arg("--junit").arg(reports.join("agentwire.xml"));
    let mut rows = vec![run("agentwire", ours, &reports)?];
    for fixture in FIXTURES {
        let name = format!("{}-{}", fixture.2, fixture.1);
        rows.push(run(&name, programs.check_fixture(fixture, &["--level", "should"]), &reports)?);
    }
    play_scripts(root, &programs, &reports, &mut rows)?;
    Ok(rows)
}

/// Runs each check of the suite against its mutants.
pub(super) fn judge_mutants(root: &Path) -> Result<()> {
    let programs = Programs::build(root)?;
    let mut failed = Vec::new();
    for fixture in FIXTURES {
        let name = format!("mutants of {} over {}", fixture.2, fixture.1);
        run_mutants(&name, &mut programs.mutants(fixture), &mut failed);
    }
    if failed.is_empty() {
        Ok(())
    } else {
        bail!("{} of the runs failed: {}", failed.len(), failed.join(", "))
    }
}

/// `agentwire check SUBJECT …` of this workspace.
pub(super) fn check(root: &Path, subject: &str, rest: &[OsString]) -> Result<()> {
    let programs = Programs::build(root)?;
    process::run_instead(programs.check().arg(subject).args(rest))
}

/// Runs `check`, and reads the report that it writes beside its page.
fn run(name: &str, mut command: Command, reports: &Path) -> Result<Row> {
    let [page, json] = ["html", "json"].map(|form| reports.join(format!("{name}.{form}")));
    if json.exists() {
        fs::remove_file(&json)?;
    }
    // Behind `--` stands the program under test.
    let arguments: Vec<OsString> = command.get_args().map(OsString::from).collect();
    let mut check = Command::new(command.get_program());
    check.arg("check").arg("--html").arg(&page).arg("--json-file").arg(&json).args(&arguments[1..]);
    command = check;
    let begun = Instant::now();
    let ended = process::run(&mut command);
    let mut row = Row::read(name, &json)?;
    row.problem = ended.err().map(|error| format!("{error:#}"));
    println!(
        "== {name}: {}, {:.1} s",
        if row.problem.is_none() { "ok" } else { "failed" },
        begun.elapsed().as_secs_f64()
    );
    Ok(row)
}

fn run_mutants(name: &str, command: &mut Command, failed: &mut Vec<String>) {
    let begun = Instant::now();
    match process::run(command) {
        Ok(()) => println!("== {name}: ok, {:.1} s", begun.elapsed().as_secs_f64()),
        Err(error) => {
            println!("== {name}: {error:#}");
            failed.push(name.to_owned());
        }
    }
}

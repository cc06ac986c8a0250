//! `cargo xtask bench chat`: what `agentwire chat` costs at a terminal, against fixed limits.
//!
//! A person waits for the start, and a terminal is drawn while an agent works. The limits are the project's, not those of
//! a rival: the rivals start a Node or a Python first.

mod agent;
mod terminal;

use std::path::{Path, PathBuf};
use std::process::Command;

use agentwire_test_support::cargo;
use anyhow::{Context as _, Result, ensure};
use serde_json::json;

use self::agent::Kind;
use super::options::{Options, USAGE};
use super::pace::{Pace, median};

/// The suite's name for the agent that it starts, which is this program.
pub(super) const AGENT: &str = "chat-agent";

/// One measured value.
struct Row {
    name: &'static str,
    title: &'static str,
    unit: &'static str,
    limit: f64,
    measure: fn(&Path) -> Result<f64>,
}

const ROWS: [Row; 3] = [
    Row {
        name: "start",
        title: "start to the first answer of our agent",
        unit: "ms",
        limit: 50.0,
        measure: start,
    },
    Row {
        name: "chunks",
        title: "processor time to draw 8 MB of text in 100,000 chunks",
        unit: "s",
        limit: 2.0,
        measure: chunks,
    },
    Row {
        name: "updates",
        title: "processor time to draw 100,000 updates of all kinds",
        unit: "s",
        limit: 2.0,
        measure: updates,
    },
];

/// Measures the rows and prints the medians.
pub(super) fn run(root: &Path, options: &Options) -> Result<()> {
    let wanted = |row: &&Row| options.only.is_empty() || options.only.iter().any(|name| name == row.name);
    let rows: Vec<_> = ROWS.iter().filter(wanted).collect();
    ensure!(!rows.is_empty(), "no such row\n\n{USAGE}");
    let program = match &options.agentwire {
        Some(path) => path.clone(),
        None => build(root)?,
    };
    let pace = if options.quick { Pace::quick() } else { Pace::full() };
    let (mut misses, mut document) = (Vec::new(), Vec::new());
    for Row { name, title, unit, limit, measure } in rows {
        // The first run finds the program on disk.
        measure(&program).with_context(|| (*name).to_owned())?;
        let samples = (0..pace.repetitions).map(|_| measure(&program)).collect::<Result<Vec<_>>>()?;
        let value = median(samples.iter().copied());
        println!("{name:8} {value:8.2} {unit:2}  at most {limit} {unit}: {title}");
        if value > *limit {
            misses.push(format!("{name}: {value:.2} {unit}, at most {limit} {unit}"));
        }
        document.push(json!({ "row": name, "unit": unit, "limit": limit, "samples": samples }));
    }
    options.write_json(&json!({ "suite": "chat", "rows": document }))?;
    options.report_misses(&misses)
}

/// Runs the agent of the rows that draw.
pub(super) fn agent(options: &Options) -> Result<()> {
    agent::run(options.only.first().map(String::as_str).unwrap_or_default())
}

fn build(root: &Path) -> Result<PathBuf> {
    cargo::build(root, &["--release", "--package", "agentwire-cli", "--features", "agentwire-cli/full"])?;
    Ok(cargo::target(root)?.join("release/agentwire"))
}

/// `agentwire chat` without the settings of a user.
fn command(program: &Path, home: &Path) -> Command {
    let mut command = Command::new(program);
    command.arg("chat").current_dir(home).env("HOME", home).env("TERM", "xterm-256color");
    for name in ["NO_COLOR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"] {
        command.env_remove(name);
    }
    command
}

fn start(program: &Path) -> Result<f64> {
    let home = tempfile::tempdir()?;
    let run = terminal::run(command(program, home.path()).arg("hello"), "You said")?;
    Ok(run.until_shown.as_secs_f64() * 1000.0)
}

fn chunks(program: &Path) -> Result<f64> {
    let run = draw(program, Kind::Chunks)?;
    let least = agent::UPDATES * agent::CHUNK * 9 / 10;
    ensure!(run.bytes >= least, "{} bytes were drawn, of at least {least}", run.bytes);
    Ok(run.processor_time.as_secs_f64())
}

fn updates(program: &Path) -> Result<f64> {
    Ok(draw(program, Kind::Updates)?.processor_time.as_secs_f64())
}

/// A turn of this kind.
fn draw(program: &Path, kind: Kind) -> Result<terminal::Run> {
    let home = tempfile::tempdir()?;
    let this = std::env::current_exe()?;
    let agent = format!("'{}' bench {AGENT} --only {}", this.display(), kind.name());
    terminal::run(command(program, home.path()).args(["--agent", &agent, "hello"]), agent::LAST)
}

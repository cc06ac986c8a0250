//! `cargo xtask bench stdio` and `cargo xtask bench http`: our programs, the rivals' and hand-written loops, side by side in
//! one run. `cargo xtask bench schema` compares types alone, and `cargo xtask bench size` the build costs of small programs.
//! `cargo xtask bench chat` measures our command at a terminal.
//!
//! One load generator (`wire`) drives all of them, so a difference is the subjects'. Subjects take turns within each
//! repetition and every repetition starts new programs; a row's number is the median. The limit programs are blocking
//! loops for this purpose alone: they show what the machine can do.

mod acp;
mod chat;
mod http;
mod launch;
mod lines;
mod mcp;
mod minimal;
mod options;
mod pace;
mod package;
mod process;
mod rows;
mod scenario;
mod schema;
mod schema_build;
mod size;
mod subject;
mod suite;
mod table;
mod wire;

use std::path::Path;

use anyhow::{Result, bail};

use self::options::{Options, USAGE};
use self::pace::Pace;
use self::subject::{Programs, Subject};
use self::suite::{Wanted, check, finish};
use self::table::Report;
use crate::cargo;

/// Runs the command with the arguments that follow `bench`.
pub(crate) fn run(root: &Path, arguments: lexopt::Parser) -> Result<()> {
    let (mut options, suite) = Options::parse(arguments)?;
    match suite.as_deref() {
        Some("schema" | "size" | "chat") if options.against.is_some() => {
            bail!("--against is for stdio and http\n\n{USAGE}")
        }
        // Its measurements run in programs that it builds in release mode.
        Some("schema") => schema::run(root, &options),
        Some("size") => {
            options.check |= !options.rivals_only;
            size::run(root, &options)
        }
        Some("stdio" | "http") if cfg!(debug_assertions) => run_in_release(root),
        Some("stdio") => stdio(root, &options),
        Some("http") => http::run(root, &options),
        Some("chat") => chat::run(root, &options),
        Some(chat::AGENT) => chat::agent(&options),
        _ => bail!("{USAGE}"),
    }
}

/// The load generator must be optimized; `cargo xtask` builds in the dev profile.
fn run_in_release(root: &Path) -> Result<()> {
    let mut command = cargo::command(root);
    command.args(["run", "--quiet", "--release", "--package", "xtask", "--"]);
    crate::process::run(command.args(std::env::args_os().skip(1)))
}

fn stdio(root: &Path, options: &Options) -> Result<()> {
    let all = acp::SCENARIOS.iter().chain(&mcp::SCENARIOS).chain([&minimal::SCENARIO]);
    let wanted = Wanted::new(options, all)?;
    eprintln!("building the programs in release mode");
    let programs = Programs::build(root, options.sides())?;
    let (acp, mcp) = (programs.acp(root, wanted.build)?, programs.mcp());
    let pace = if options.quick { Pace::quick() } else { Pace::full() };
    let mut others = Vec::new();

    let mut reports = Vec::new();
    if wanted.any(&acp::SCENARIOS) || wanted.build {
        check(&acp, acp::check)?;
        let mut measured = wanted.measure(&acp::SCENARIOS, &acp, &pace, &mut others)?;
        if wanted.build {
            eprintln!("measuring {}", minimal::SCENARIO.name);
            let has_one = |subject: &Subject| subject.package.is_some();
            measured.extend(scenario::run(&minimal::SCENARIO, &acp, has_one, &pace, 1, &mut others)?);
        }
        reports.push(Report { title: "ACP over stdio", subjects: &acp, measured });
    }
    if wanted.any(&mcp::SCENARIOS) {
        check(&mcp, mcp::check)?;
        let measured = wanted.measure(&mcp::SCENARIOS, &mcp, &pace, &mut others)?;
        reports.push(Report { title: "MCP over stdio", subjects: &mcp, measured });
    }
    finish(&reports, &pace, &others, options)
}

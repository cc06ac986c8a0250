//! `cargo xtask bench stdio` and `cargo xtask bench http`: our programs, the rivals' and hand-written loops, side by side in
//! one run. `cargo xtask bench schema` compares types alone, and `cargo xtask bench size` the build costs of small programs.
//!
//! One load generator (`wire`) drives all of them, so a difference is the subjects'. Subjects take turns within each
//! repetition and every repetition starts new programs; a row's number is the median. The limit programs are blocking
//! loops for this purpose alone: they show what the machine can do.

mod acp;
mod http;
mod mcp;
mod minimal;
mod pace;
mod package;
mod process;
mod rows;
mod scenario;
mod schema;
mod schema_build;
mod size;
mod subject;
mod table;
mod wire;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use self::pace::{Pace, median};
use self::scenario::{Measured, Scenario};
use self::subject::{Programs, Sides, Subject};
use self::table::Report;
use crate::cargo;

/// The usage of the command.
pub(crate) const USAGE: &str = "\
cargo xtask bench stdio [--quick] [--build] [--only ROW]... [--json FILE] [--check] [--rivals-only | --against DIR]
cargo xtask bench http [--quick] [--only ROW]... [--json FILE] [--check] [--rivals-only | --against DIR]
cargo xtask bench schema [--quick] [--build] [--only ROW]... [--json FILE] [--check]
cargo xtask bench size [--quick] [--only ROW]... [--json FILE] [--rivals-only]

  --quick        few short repetitions, and no build rows unless --build asks for them; of size one build of each
  --build        measure the clean builds, which take minutes; part of a full run
  --only ROW     only this row (of stdio a to n, of http a1 to e4, of schema and size by its name); may be given again
  --json FILE    write the samples too
  --check        exit with an error when a floor is missed, as size always does
  --rivals-only  leave our side out, to look at the yardsticks alone
  --against DIR  compare with our programs of another checkout, instead of with the rivals': a row that is worse by more
                 than 3 % counts as a missed floor";

#[derive(Default)]
struct Options {
    quick: bool,
    build: bool,
    only: Vec<String>,
    json: Option<PathBuf>,
    check: bool,
    rivals_only: bool,
    against: Option<PathBuf>,
}

impl Options {
    fn sides(&self) -> Sides<'_> {
        match &self.against {
            Some(folder) => Sides::Against(folder),
            None if self.rivals_only => Sides::WithoutOurs,
            None => Sides::All,
        }
    }

    /// Writes the samples where the command line asks for them.
    fn write_json(&self, document: &Value) -> Result<()> {
        let Some(path) = &self.json else { return Ok(()) };
        std::fs::write(path, format!("{document:#}\n")).with_context(|| path.display().to_string())
    }

    /// Prints the number of missed floors, and fails if there are any and they were to be checked.
    fn report_misses(&self, misses: &[String]) -> Result<()> {
        println!("\n{} floors missed", misses.len());
        ensure!(!self.check || misses.is_empty(), "missed: {}", misses.join("; "));
        Ok(())
    }
}

/// Runs the command with the arguments that follow `bench`.
pub(crate) fn run(root: &Path, mut arguments: lexopt::Parser) -> Result<()> {
    use lexopt::prelude::*;
    let mut options = Options::default();
    let mut suite = None;
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("quick") => options.quick = true,
            Long("build") => options.build = true,
            Long("only") => options.only.push(arguments.value()?.string()?),
            Long("json") => options.json = Some(arguments.value()?.into()),
            Long("check") => options.check = true,
            Long("rivals-only") => options.rivals_only = true,
            Long("against") => options.against = Some(std::path::absolute(arguments.value()?)?),
            Value(name) if suite.is_none() => suite = Some(name.string()?),
            other => bail!("{}\n\n{USAGE}", other.unexpected()),
        }
    }
    ensure!(!(options.rivals_only && options.against.is_some()), "--against needs our side\n\n{USAGE}");
    match suite.as_deref() {
        Some("schema" | "size") if options.against.is_some() => {
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

fn finish(reports: &[Report<'_>], pace: &Pace, others: &[f64], options: &Options) -> Result<()> {
    let worst = others.iter().copied().fold(0.0, f64::max);
    let usual = median(others.iter().copied());
    println!(
        "{} cores, medians of {} repetitions; other programs used {:.0} % of one core in the median repetition, {:.0} % in \
         the worst",
        std::thread::available_parallelism()?,
        pace.repetitions,
        usual * 100.0,
        worst * 100.0,
    );
    if usual > 0.1 {
        println!(
            "The machine was busy: two programs that wait for each other fare differently then. Take this as a hint."
        );
    }
    reports.iter().for_each(Report::print);
    let rows: Vec<_> = reports.iter().flat_map(Report::json).collect();
    let others = json!({ "median": usual, "worst": worst });
    options.write_json(&json!({ "repetitions": pace.repetitions, "others": others, "rows": rows }))?;
    if options.rivals_only {
        println!("\nOur side was left out (--rivals-only): no floor was judged.");
        ensure!(!options.check, "--check needs our side");
        return Ok(());
    }
    options.report_misses(&reports.iter().flat_map(Report::misses).collect::<Vec<_>>())
}

fn check(subjects: &[Subject], check: fn(&Subject) -> Result<()>) -> Result<()> {
    for subject in subjects {
        check(subject).with_context(|| format!("{} does not behave as every subject must", subject.label))?;
    }
    Ok(())
}

/// The scenarios to run.
struct Wanted<'a> {
    only: &'a [String],
    build: bool,
}

impl<'a> Wanted<'a> {
    /// Those that the options name, of all scenarios of a suite.
    fn new(options: &'a Options, all: impl Iterator<Item = &'static Scenario>) -> Result<Self> {
        let keys: Vec<&str> = all.flat_map(|scenario| scenario.rows).map(|row| row.key).collect();
        for key in &options.only {
            ensure!(keys.contains(&key.as_str()), "no row {key}; the rows are {}", keys.join(", "));
        }
        let wanted = Self { only: &options.only, build: false };
        let by_default = options.only.is_empty() && !options.quick && options.against.is_none();
        let asked = !options.only.is_empty() && wanted.has(&minimal::SCENARIO);
        Ok(Self { build: options.build || by_default || asked, ..wanted })
    }

    fn has(&self, scenario: &Scenario) -> bool {
        self.only.is_empty() || scenario.rows.iter().any(|row| self.only.iter().any(|key| key == row.key))
    }

    fn any(&self, scenarios: &[Scenario]) -> bool {
        scenarios.iter().any(|scenario| self.has(scenario))
    }

    fn measure(
        &self,
        scenarios: &[Scenario],
        subjects: &[Subject],
        pace: &Pace,
        others: &mut Vec<f64>,
    ) -> Result<Vec<Measured>> {
        let mut measured = Vec::new();
        for scenario in scenarios.iter().filter(|scenario| self.has(scenario)) {
            eprintln!("measuring {}", scenario.name);
            measured.extend(scenario::run(scenario, subjects, |_| true, pace, pace.repetitions, others)?);
        }
        Ok(measured)
    }
}

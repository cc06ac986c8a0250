//! `cargo xtask conformance official`: runs the official MCP suite against our server and client.

mod checks;
mod compare;
mod exceptions;
mod fixtures;
mod judge;
mod report;
mod requirements;
mod suite;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use self::compare::Comparison;
use self::exceptions::Exceptions;
use self::fixtures::{Fixtures, Nodes};
use self::judge::{Counts, Verdicts};
use self::suite::{RUNS, Run, Side, Suites};
use super::table::Row;

const USAGE: &str = "\
cargo xtask conformance official [--server] [--client] [--replicas] [--spec NAME] [--only SCENARIO] [--record] [--json FILE] [--junit FILE]

  --server, --client   only this side
  --replicas           only the server: as one node, and as three behind the balancer of `cargo xtask replicas`. What is scored has
                       to be the same
  --spec NAME          only these scenarios: 2025-11-25, 2026-07-28, or 0.1.16 for the suite's stable version
  --only SCENARIO      only the scenario of that name; may be repeated
  --record             write down how many checks there were, so that none can vanish later
  --json FILE          where to write the outcome as JSON (default target/conformance/official.json)
  --junit FILE         and for CI systems (default target/conformance/official.xml)

What each scenario checked stays in target/conformance/official.";

/// The options of the command line.
#[derive(Default)]
struct Options {
    sides: Vec<Side>,
    replicas: bool,
    spec: Option<String>,
    only: Vec<String>,
    record: bool,
    json: Option<PathBuf>,
    junit: Option<PathBuf>,
}

/// Runs the official suite and prints a line for each scenario. Returns a row for each run.
pub(in crate::conformance) fn run(root: &Path, arguments: lexopt::Parser) -> Result<Vec<Row>> {
    let options = parse(arguments)?;
    let runs: Vec<&Run> = RUNS.iter().filter(|run| options.wants(run)).collect();
    ensure!(!runs.is_empty(), "no such scenarios\n\n{USAGE}");

    let sources = root.join("tests/conformance");
    let exceptions = sources.join("exceptions.json");
    let mut counts = Counts::read(&sources.join("counts.json"))?;
    let suites = Suites::install(&sources)?;
    let fixtures = Fixtures::build(root, options.replicas)?;
    let output = fixtures.target().join("conformance");

    let mut outcome = Outcome::default();
    for run in runs {
        let required = suites.requirements(run)?;
        let known = judge::known(run, &required, &counts, &Exceptions::read(&exceptions)?);
        let only: Vec<String> = options.only.iter().filter(|name| known.contains(*name)).cloned().collect();
        if only.is_empty() && !options.only.is_empty() {
            continue;
        }
        let wanted = if only.is_empty() { known } else { only.iter().cloned().collect() };
        let mut results = Vec::new();
        for nodes in options.nodes() {
            let folder = output.join("official").join((run.name() + nodes.suffix()).replace([' ', ','], "-"));
            let result = suites.run(run, &only, (&fixtures, *nodes), &folder)?;
            results.push(result.scenarios.clone());
            let mut exceptions = Exceptions::read(&exceptions)?;
            let mut verdicts = judge::judge(run, &required, &wanted, result, &counts, &mut exceptions);
            verdicts.run += nodes.suffix();
            report::print(&verdicts);
            outcome.judged.push(verdicts);
        }
        if let [one, several] = &results[..] {
            outcome.comparison.get_or_insert_default().add(&run.name(), &required, one, several);
        }
    }
    ensure!(!outcome.judged.is_empty(), "no scenario has such a name");
    finish(&outcome, &options, &output, &mut counts, &sources)
}

/// The results of all runs.
#[derive(Default)]
struct Outcome {
    judged: Vec<Verdicts>,
    /// `None` with one node.
    comparison: Option<Comparison>,
}

/// Writes the results and prints the sums.
fn finish(
    Outcome { judged, comparison }: &Outcome,
    options: &Options,
    output: &Path,
    counts: &mut Counts,
    sources: &Path,
) -> Result<Vec<Row>> {
    if options.record {
        judged.iter().for_each(|judged| counts.record(judged));
        counts.write(&sources.join("counts.json"))?;
    }
    fs::create_dir_all(output)?;
    let place = |chosen: &Option<PathBuf>, name| chosen.clone().unwrap_or_else(|| output.join(name));
    fs::write(place(&options.json, "official.json"), report::json(judged)?)?;
    fs::write(place(&options.junit, "official.xml"), report::junit(judged))?;
    let differing = comparison.as_ref().map_or(0, Comparison::print);
    report::print_sums(judged);
    let mut rows: Vec<Row> = judged.iter().map(report::row).collect();
    if let Some(row) = rows.last_mut().filter(|_| differing > 0) {
        row.problem = Some(format!("{differing} checks differ between one node and several"));
    }
    Ok(rows)
}

fn parse(mut arguments: lexopt::Parser) -> Result<Options> {
    use lexopt::prelude::*;
    let mut options = Options::default();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("server") => options.sides.push(Side::Server),
            Long("client") => options.sides.push(Side::Client),
            Long("replicas") => (options.sides, options.replicas) = (vec![Side::Server], true),
            Long("spec") => options.spec = Some(arguments.value()?.string()?),
            Long("only") => options.only.push(arguments.value()?.string()?),
            Long("record") => options.record = true,
            Long("json") => options.json = Some(arguments.value()?.into()),
            Long("junit") => options.junit = Some(arguments.value()?.into()),
            other => return Err(other.unexpected()).context(USAGE),
        }
    }
    ensure!(!(options.record && options.replicas), "--record is for one node\n\n{USAGE}");
    Ok(options)
}

impl Options {
    /// The number of nodes of the server.
    fn nodes(&self) -> &'static [Nodes] {
        if self.replicas { &[Nodes::One, Nodes::Three] } else { &[Nodes::One] }
    }

    fn wants(&self, run: &Run) -> bool {
        (self.sides.is_empty() || self.sides.contains(&run.side))
            && self.spec.as_deref().is_none_or(|spec| spec == run.spec)
    }
}

//! The command line of the benchmark.

use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::subject::Sides;

/// The usage of the command.
pub(super) const USAGE: &str = "\
cargo xtask bench stdio [--quick] [--build] [--only ROW]... [--json FILE] [--check] [--rivals-only | --against DIR]
cargo xtask bench http [--quick] [--only ROW]... [--json FILE] [--check] [--rivals-only | --against DIR]
cargo xtask bench schema [--quick] [--build] [--only ROW]... [--json FILE] [--check]
cargo xtask bench size [--quick] [--only ROW]... [--json FILE] [--rivals-only]
cargo xtask bench chat [--quick] [--only ROW]... [--json FILE] [--check] [--agentwire PATH]

  --quick        few short repetitions, and no build rows unless --build asks for them; of size one build of each
  --build        measure the clean builds, which take minutes; part of a full run
  --only ROW     only this row (of stdio a to n, of http a1 to e4, of the others by its name); may be given again
  --json FILE    write the samples too
  --check        exit with an error when a floor is missed, as size always does
  --rivals-only  leave our side out, to look at the yardsticks alone
  --against DIR  compare with our programs of another checkout, instead of with the rivals': a row that is worse by more
                 than 3 % counts as a missed floor
  --agentwire PATH  measure this program instead of building one";

/// The options of the command line.
#[derive(Default)]
pub(super) struct Options {
    pub(super) quick: bool,
    pub(super) build: bool,
    pub(super) only: Vec<String>,
    pub(super) json: Option<PathBuf>,
    pub(super) check: bool,
    pub(super) rivals_only: bool,
    pub(super) against: Option<PathBuf>,
    pub(super) agentwire: Option<PathBuf>,
}

impl Options {
    /// The options and the name of the suite.
    pub(super) fn parse(mut arguments: lexopt::Parser) -> Result<(Self, Option<String>)> {
        use lexopt::prelude::*;
        let mut options = Self::default();
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
                Long("agentwire") => options.agentwire = Some(std::path::absolute(arguments.value()?)?),
                Value(name) if suite.is_none() => suite = Some(name.string()?),
                other => bail!("{}\n\n{USAGE}", other.unexpected()),
            }
        }
        ensure!(!(options.rivals_only && options.against.is_some()), "--against needs our side\n\n{USAGE}");
        Ok((options, suite))
    }

    pub(super) fn sides(&self) -> Sides<'_> {
        match &self.against {
            Some(folder) => Sides::Against(folder),
            None if self.rivals_only => Sides::WithoutOurs,
            None => Sides::All,
        }
    }

    /// Writes the samples where the command line asks for them.
    pub(super) fn write_json(&self, document: &Value) -> Result<()> {
        let Some(path) = &self.json else { return Ok(()) };
        std::fs::write(path, format!("{document:#}\n")).with_context(|| path.display().to_string())
    }

    /// Prints the number of missed floors, and fails if there are any and they were to be checked.
    pub(super) fn report_misses(&self, misses: &[String]) -> Result<()> {
        println!("\n{} floors missed", misses.len());
        ensure!(!self.check || misses.is_empty(), "missed: {}", misses.join("; "));
        Ok(())
    }
}

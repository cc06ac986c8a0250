//! `cargo xtask ci`: the checks that a change must pass, and those that run once a week and before a release.
//!
//! ```text
//! steps ─▶ run ─▶ one after another ───────▶ timings ─▶ table, file, comparison
//!            └──▶ beside them, a log each ───▶┘
//! ```

mod docs;
mod engines;
mod features;
mod first_build;
mod fresh;
mod output;
mod packages;
mod run;
mod steps;
mod test_programs;
mod timings;
mod valkey;
mod world;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use self::steps::{STEPS, Step};

const USAGE: &str = "\
cargo xtask ci [--weekly] [--fresh] [--timings FILE] [--list] [STEP]...

                   every step that a change must pass; with names, those alone
  --weekly         also the steps that run once a week and before a release
  --fresh          in a new clone of the last commit, with an empty home and no cache: only the toolchain and the machine's
                   registry settings are kept
  --timings FILE   afterwards compare the seconds of each step with those in FILE, and fail if one got 20 % and 5 s slower. Steps
                   that FILE lacks are added to it. `first-build` and `migration` take what the others leave, and are not
                   compared. The seconds of every run are in `target/ci/timings.json`
  --list           print the name of each step on a line, when it runs, and why not for every change

Steps that take seconds, that mostly wait, or that compile in a folder of their own run beside the others, each with its output in
`target/ci/STEP.log`. Once one has failed, no other starts.";

/// The options of the command line.
#[derive(Default)]
struct Options {
    weekly: bool,
    fresh: bool,
    list: bool,
    timings: Option<PathBuf>,
    names: Vec<String>,
}

/// Runs the steps of the command line, and starts none after one that fails.
pub(crate) fn run(root: &Path, arguments: lexopt::Parser) -> Result<()> {
    let options = parse(arguments)?;
    if options.list {
        STEPS.iter().for_each(|step| println!("{:<18} {}", step.name, step.when));
        return Ok(());
    }
    let steps = options.steps()?;
    if options.fresh {
        return fresh::run(root, &options.arguments());
    }
    run::run(root, &steps, options.timings.as_deref())
}

fn parse(mut arguments: lexopt::Parser) -> Result<Options> {
    use lexopt::prelude::*;
    let mut options = Options::default();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("weekly") => options.weekly = true,
            Long("fresh") => options.fresh = true,
            Long("list") => options.list = true,
            Long("timings") => options.timings = Some(std::path::absolute(arguments.value()?)?),
            Value(name) => options.names.push(name.string()?),
            other => bail!("{}\n\n{USAGE}", other.unexpected()),
        }
    }
    Ok(options)
}

impl Options {
    /// The named steps; without names those of every change, and with `--weekly` all of them.
    fn steps(&self) -> Result<Vec<&'static Step>> {
        let unknown = self.names.iter().find(|name| STEPS.iter().all(|step| step.name != *name));
        if let Some(name) = unknown {
            let names: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
            bail!("no step `{name}`; the steps are {}", names.join(", "));
        }
        let wanted = |step: &&Step| match self.names.is_empty() {
            true => self.weekly || !step.when.is_weekly(),
            false => self.names.iter().any(|name| name == step.name),
        };
        Ok(STEPS.iter().filter(wanted).collect())
    }

    /// These options as a command line for `.ci/run`.
    fn arguments(&self) -> Vec<String> {
        let mut arguments = Vec::new();
        arguments.extend(self.weekly.then(|| "--weekly".to_owned()));
        if let Some(file) = &self.timings {
            arguments.extend(["--timings".to_owned(), file.display().to_string()]);
        }
        arguments.extend(self.names.iter().cloned());
        arguments
    }
}

#[cfg(test)]
mod unit_tests {
    use super::*;

    fn names(options: &Options) -> Vec<&'static str> {
        options.steps().unwrap().iter().map(|step| step.name).collect()
    }

    #[test]
    fn weekly_steps_run_when_asked_for() {
        let every = names(&Options::default());
        let all = names(&Options { weekly: true, ..Options::default() });
        assert!(every.contains(&"test") && !every.contains(&"mutants"), "{every:?}");
        assert_eq!(all.len(), STEPS.len());
        assert_eq!(names(&Options { names: vec!["mutants".into()], ..Options::default() }), ["mutants"]);
    }

    #[test]
    fn unknown_step_is_refused_with_the_known_ones() {
        let error = Options { names: vec!["tests".into()], ..Options::default() }.steps().unwrap_err();
        assert!(error.to_string().starts_with("no step `tests`; the steps are fmt, "), "{error}");
    }
}

//! `cargo xtask ci`: every check that a change must pass, one after the other, cheapest first.

use std::iter;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use cargo_metadata::MetadataCommand;

struct Step {
    name: &'static str,
    run: Run,
}

enum Run {
    /// A cargo command, with an environment variable where it needs one.
    Cargo(&'static [&'static str], Option<(&'static str, &'static str)>),
    /// A command of ours, as a process of its own so that it ends as it likes.
    Xtask(&'static [&'static str]),
    /// Each crate that has features, without any and with each alone. In a build of the whole workspace the features of
    /// all members are on for all.
    Features,
}

const STEPS: [Step; 11] = [
    Step { name: "fmt", run: Run::Cargo(&["fmt", "--all", "--check"], None) },
    Step {
        name: "clippy",
        run: Run::Cargo(&["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"], None),
    },
    Step {
        name: "doc",
        run: Run::Cargo(&["doc", "--workspace", "--no-deps"], Some(("RUSTDOCFLAGS", "--deny warnings"))),
    },
    Step { name: "features", run: Run::Features },
    Step { name: "tidy", run: Run::Xtask(&["tidy"]) },
    Step { name: "schema", run: Run::Xtask(&["schema", "--check"]) },
    Step { name: "test", run: Run::Cargo(&["test", "--workspace"], None) },
    // Proves that each crate can be published as it stands; the tests have compiled it already.
    Step { name: "package", run: Run::Cargo(PACKAGE, None) },
    Step { name: "interop", run: Run::Xtask(&["interop"]) },
    Step { name: "conformance", run: Run::Xtask(&["conformance", "official"]) },
    Step { name: "upstream", run: Run::Xtask(&["schema", "--upstream"]) },
];

const PACKAGE: &[&str] = &[
    "package",
    "--workspace",
    "--exclude",
    "xtask",
    "--exclude",
    "agentwire-tests",
    "--exclude",
    "agentwire-conformance-fixtures",
    "--exclude",
    "agentwire-schema-tests",
    "--no-verify",
    "--allow-dirty",
];

/// Runs all steps, or the one that is named.
pub(crate) fn run(root: &Path, mut arguments: lexopt::Parser) -> Result<()> {
    use lexopt::prelude::*;
    let only = match arguments.next()? {
        Some(Value(name)) => Some(name.string()?),
        None => None,
        Some(other) => return Err(other.unexpected().into()),
    };
    let steps: Vec<&Step> =
        STEPS.iter().filter(|step| only.as_deref().is_none_or(|only| only == step.name)).collect();
    if steps.is_empty() {
        let names: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
        bail!("no such step; the steps are {}", names.join(", "));
    }
    let begun = Instant::now();
    for step in &steps {
        let step_begun = Instant::now();
        println!("== {}", step.name);
        step.run(root).with_context(|| format!("the step `{}` failed", step.name))?;
        println!("== {}: ok, {:.1} s", step.name, step_begun.elapsed().as_secs_f64());
    }
    println!("== all of {} steps passed in {:.1} s", steps.len(), begun.elapsed().as_secs_f64());
    Ok(())
}

impl Step {
    fn run(&self, root: &Path) -> Result<()> {
        match self.run {
            Run::Cargo(arguments, variable) => {
                let mut command = Command::new("cargo");
                let status = command.args(arguments).envs(variable).current_dir(root).status()?;
                ensure!(status.success(), "cargo {} ended with {status}", arguments.join(" "));
            }
            Run::Xtask(arguments) => {
                let status =
                    Command::new(std::env::current_exe()?).args(arguments).current_dir(root).status()?;
                ensure!(status.success(), "cargo xtask {} ended with {status}", arguments.join(" "));
            }
            Run::Features => features(root)?,
        }
        Ok(())
    }
}

fn features(root: &Path) -> Result<()> {
    let metadata = MetadataCommand::new().current_dir(root).no_deps().exec()?;
    for package in metadata.packages.iter().filter(|package| !package.features.is_empty()) {
        let alone = package.features.keys().filter(|name| *name != "default").map(String::as_str);
        for features in iter::once("").chain(alone) {
            let arguments = ["clippy", "--quiet", "--package", &package.name, "--no-default-features"];
            let mut command = Command::new("cargo");
            command.args(arguments).args(["--features", features, "--", "--deny", "warnings"]);
            let status = command.current_dir(root).status()?;
            ensure!(status.success(), "{} with the features `{features}` ended with {status}", package.name);
        }
    }
    Ok(())
}

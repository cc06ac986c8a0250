//! Runs steps: one after the other, and side by side where they wait.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::thread;
use std::time::Instant;

use anyhow::{Context as _, Result, anyhow};

use super::steps::{Step, Work};
use super::test_programs::TestRun;
use super::timings::{Seconds, Stopwatch, Timings};
use super::{engines, features, first_build, packages, test_programs, valkey, world};
use crate::{cargo, process, redis};

/// How a step has ended, unless it has failed.
enum Outcome {
    Passed,
    /// What it needs cannot be had here, for this reason.
    NotRun(String),
}

/// This program. Its file is replaced when a step compiles the workspace, and then the system calls the running one deleted.
fn this_program() -> Result<&'static Path> {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    if let Some(program) = PROGRAM.get() {
        return Ok(program);
    }
    let program = std::env::current_exe()?;
    Ok(PROGRAM.get_or_init(|| program))
}

/// Begins the line of a step that was not run.
fn not_run_line(name: &str) -> String {
    format!("== {name}: NOT RUN: ")
}

/// Runs the steps and prints their seconds, also when one fails. With `kept`, compares the seconds with those of that file.
pub(super) fn run(root: &Path, steps: &[&Step], kept: Option<&Path>) -> Result<()> {
    this_program()?;
    let started = Instant::now();
    let (mut timings, mut not_run) = (Timings::default(), Vec::new());
    let done = run_all(root, steps, &mut timings, &mut not_run);
    if steps.len() > 1 {
        print!("{}", timings.table(steps.iter().map(|step| step.name), started.elapsed()));
        timings.write(&cargo::target(root)?.join("ci/timings.json"))?;
    }
    done?;
    let (passed, seconds) = (steps.len() - not_run.len(), started.elapsed().as_secs_f64());
    match not_run.is_empty() {
        true => println!("== all of {passed} steps passed in {seconds:.1} s"),
        false => println!("== {passed} steps passed in {seconds:.1} s, NOT RUN: {}", not_run.join(", ")),
    }
    kept.map_or(Ok(()), |file| timings.compare(file))
}

fn run_all(root: &Path, steps: &[&Step], timings: &mut Timings, not_run: &mut Vec<String>) -> Result<()> {
    for group in steps.chunk_by(|a, b| a.waits && b.waits) {
        let results = match group {
            [step] => vec![run_alone(root, step)?],
            several => run_side_by_side(root, several)?,
        };
        for (step, (outcome, seconds)) in group.iter().zip(results) {
            timings.add(step.name, seconds);
            if let Outcome::NotRun(reason) = outcome {
                println!("{}{reason}", not_run_line(step.name));
                not_run.push(step.name.to_owned());
            }
        }
    }
    Ok(())
}

/// Runs a step on the streams of this process.
fn run_alone(root: &Path, step: &Step) -> Result<(Outcome, Seconds)> {
    println!("== {}", step.name);
    let mut watch = Stopwatch::start();
    let outcome =
        work(root, &step.work, &mut watch).with_context(|| format!("the step `{}` failed", step.name))?;
    let seconds = watch.seconds();
    if matches!(outcome, Outcome::Passed) {
        println!("== {}: ok, compiled {:.1} s, ran {:.1} s", step.name, seconds.compiled, seconds.ran);
    }
    Ok((outcome, seconds))
}

/// Runs each step as a process of its own, with its output in a file. The output of one that fails is printed.
fn run_side_by_side(root: &Path, steps: &[&Step]) -> Result<Vec<(Outcome, Seconds)>> {
    let logs = cargo::target(root)?.join("ci");
    fs::create_dir_all(&logs)?;
    println!("== {}: side by side", steps.iter().map(|step| step.name).collect::<Vec<_>>().join(", "));
    let results: Vec<Result<_>> = thread::scope(|scope| {
        let logs = &logs;
        let running: Vec<_> =
            steps.iter().map(|step| scope.spawn(move || run_logged(root, step, logs))).collect();
        let results = running
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err(anyhow!("a step panicked"))));
        results.collect()
    });
    results.into_iter().collect()
}

fn run_logged(root: &Path, step: &Step, logs: &Path) -> Result<(Outcome, Seconds)> {
    let path = logs.join(format!("{}.log", step.name));
    let log = File::create(&path).with_context(|| path.display().to_string())?;
    let mut command = Command::new(this_program()?);
    command.args(["ci", step.name]).current_dir(root).stdout(log.try_clone()?).stderr(log);
    let watch = Stopwatch::start();
    let done = process::run(&mut command);
    let seconds = watch.seconds();
    let text = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
    if let Err(error) = done {
        // In one piece, so that the output of steps does not mix.
        print_whole(&format!(
            "{text}== {}: FAILED after {:.1} s, see {}\n",
            step.name,
            seconds.ran,
            path.display()
        ));
        return Err(error.context(format!("the step `{}` failed", step.name)));
    }
    let last = text.lines().rev().find(|line| line.ends_with(" skipped") || line.ends_with(" failed"));
    print_whole(&format!(
        "{}== {}: ok, ran {:.1} s\n",
        last.map(|line| format!("{line}\n")).unwrap_or_default(),
        step.name,
        seconds.ran
    ));
    let reason = text.lines().find_map(|line| line.strip_prefix(&not_run_line(step.name)));
    Ok((reason.map_or(Outcome::Passed, |reason| Outcome::NotRun(reason.to_owned())), seconds))
}

fn print_whole(text: &str) {
    let mut stdout = std::io::stdout().lock();
    // If stdout is closed, the exit code is all that is left.
    let _written = stdout.write_all(text.as_bytes());
}

fn work(root: &Path, work: &Work, watch: &mut Stopwatch) -> Result<Outcome> {
    let xtask =
        |arguments: &[&str]| process::run(Command::new(this_program()?).args(arguments).current_dir(root));
    match work {
        Work::Compile(arguments, variable) => {
            watch.compile(|| process::run(cargo::command(root).args(*arguments).envs(*variable)))?;
        }
        Work::Run(arguments) => process::run(cargo::command(root).args(*arguments))?,
        Work::Xtask(arguments) => xtask(arguments)?,
        Work::XtaskWithPrograms(arguments) => {
            watch.compile(|| cargo::programs(root))?;
            xtask(arguments)?;
        }
        Work::Test => {
            let programs = watch.compile(|| world::build(root))?;
            test_programs::run(programs.iter().map(TestRun::of).collect())?;
        }
        Work::Features => watch.compile(|| features::check(root))?,
        Work::FeatureLints => watch.compile(|| features::lint(root))?,
        Work::Redis => redis::install()?,
        Work::RedisTests => engines::run(root, None, watch)?,
        Work::Valkey => match valkey::program(root) {
            Ok(program) => engines::run(root, Some(&program), watch)?,
            Err(error) => return Ok(Outcome::NotRun(format!("no Valkey: {error:#}"))),
        },
        Work::Packages => packages::check(root, watch)?,
        Work::Verify => watch.compile(|| packages::verify(root))?,
        Work::FirstBuild => first_build::run(root, watch)?,
    }
    Ok(Outcome::Passed)
}

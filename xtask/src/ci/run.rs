//! Runs steps: one after the other, and beside them those that wait and the one that has a folder of its own.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Instant;

use anyhow::{Context as _, Result, anyhow, ensure};

use super::output::{Output, print_whole};
use super::steps::{Step, Turn, Work};
use super::test_programs::{self, TestRun};
use super::timings::{Seconds, Stopwatch, Timings};
use super::world::{self, TestProgram};
use super::{engines, features, first_build, packages, valkey};
use crate::{cargo, redis};

/// How a step has ended, unless it has failed.
enum Outcome {
    Passed,
    /// This machine lacks what the step needs, for this reason.
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

/// Runs the steps and prints their seconds, also when one fails. With `kept`, compares the seconds with those of that file.
pub(super) fn run(root: &Path, steps: &[&'static Step], kept: Option<&Path>) -> Result<()> {
    this_program()?;
    let started = Instant::now();
    let run = Run { root, tests: OnceLock::new(), ended: Mutex::default() };
    let done = run.all(steps);
    let Ended { timings, not_run } = run.ended.into_inner().unwrap_or_else(PoisonError::into_inner);
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
    let compared = steps.iter().filter(|step| !step.turn.is_left_over());
    let compared: Vec<_> = compared.map(|step| step.name).collect();
    kept.map_or(Ok(()), |file| timings.compare(&compared, file))
}

/// A run of several steps.
struct Run<'a> {
    root: &'a Path,
    /// The test programs, as soon as a step has compiled them.
    tests: OnceLock<Vec<TestProgram>>,
    ended: Mutex<Ended>,
}

/// The seconds of the steps that have ended, and the names of those that were not run.
#[derive(Default)]
struct Ended {
    timings: Timings,
    not_run: Vec<&'static str>,
}

impl Run<'_> {
    /// Starts the steps that run beside others when all before them have passed. Those after them run at the same time, but for the
    /// weekly ones, some of which do the same work in another form.
    fn all(&self, steps: &[&'static Step]) -> Result<()> {
        let at = steps.iter().position(|step| step.is_beside()).unwrap_or(steps.len());
        let (before, rest) = steps.split_at(at);
        let (beside, rest) = rest.split_at(rest.partition_point(|step| step.is_beside()));
        let (after, weekly) = rest.split_at(rest.partition_point(|step| !step.when.is_weekly()));
        self.in_order(before)?;
        self.beside(beside, after)?;
        self.in_order(weekly)
    }

    /// Runs steps on the streams of this process, and stops at the first that fails.
    fn in_order(&self, steps: &[&'static Step]) -> Result<()> {
        steps.iter().try_for_each(|step| self.alone(step))
    }

    fn alone(&self, step: &'static Step) -> Result<()> {
        println!("== {}", step.name);
        let done = self.timed(step, &Output::Terminal);
        let (outcome, seconds) = done.inspect_err(|_| print_whole(&format!("== {}: FAILED\n", step.name)))?;
        self.end(step, &outcome, seconds);
        Ok(())
    }

    /// Runs each step on a thread of its own, with its output in a file, and the others in order.
    fn beside(&self, steps: &[&'static Step], others: &[&'static Step]) -> Result<()> {
        if steps.is_empty() {
            return self.in_order(others);
        }
        self.prepare(steps)?;
        if let ([step], []) = (steps, others) {
            return self.alone(step);
        }
        println!("== {}: side by side", steps.iter().map(|step| step.name).collect::<Vec<_>>().join(", "));
        let results: Vec<Result<()>> = thread::scope(|scope| {
            let run = |step: &'static Step| {
                give_way(step.turn);
                self.logged(step)
            };
            let mut running: Vec<_> = steps.iter().map(|step| scope.spawn(move || run(step))).collect();
            running.push(scope.spawn(|| {
                give_way(Turn::InOrder);
                self.in_order(others)
            }));
            let results = running.into_iter().map(thread::ScopedJoinHandle::join);
            results.map(|result| result.unwrap_or_else(|_| Err(anyhow!("a step panicked")))).collect()
        });
        let errors: Vec<_> =
            results.into_iter().filter_map(Result::err).map(|error| format!("{error:#}")).collect();
        ensure!(errors.is_empty(), "{}", errors.join("\n"));
        Ok(())
    }

    /// Compiles and installs what these steps start: two builds, or two installations, at the same time would wait or fail.
    fn prepare(&self, steps: &[&Step]) -> Result<()> {
        if steps.iter().any(|step| step.needs_redis()) {
            redis::install()?;
        }
        if steps.iter().any(|step| matches!(step.work, Work::XtaskWithPrograms(_))) {
            cargo::programs(self.root)?;
        }
        if steps.iter().any(|step| matches!(step.work, Work::RedisTests | Work::Valkey)) {
            self.tests()?;
        }
        Ok(())
    }

    /// Runs a step with its output in a file, which is printed when it fails.
    fn logged(&self, step: &'static Step) -> Result<()> {
        let path = cargo::target(self.root)?.join(format!("ci/{}.log", step.name));
        fs::create_dir_all(path.parent().unwrap_or(self.root))?;
        let log = File::create(&path).with_context(|| path.display().to_string())?;
        let done = self.timed(step, &Output::Log(&log));
        let text = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
        let (outcome, seconds) = match done {
            Ok(done) => done,
            Err(error) => {
                // In one piece, so that the output of steps does not mix.
                print_whole(&format!("{text}== {}: FAILED, see {}\n", step.name, path.display()));
                return Err(error);
            }
        };
        let sums = text.lines().rev().find(|line| line.ends_with(" skipped") || line.ends_with(" failed"));
        print_whole(&sums.map(|line| format!("{}: {line}\n", step.name)).unwrap_or_default());
        self.end(step, &outcome, seconds);
        Ok(())
    }

    fn timed(&self, step: &Step, output: &Output<'_>) -> Result<(Outcome, Seconds)> {
        let mut watch = Stopwatch::start();
        let outcome = self.work(&step.work, output, &mut watch).with_context(|| {
            format!("the step `{}` failed after {:.1} s", step.name, watch.seconds().sum())
        })?;
        Ok((outcome, watch.seconds()))
    }

    /// Prints and keeps how a step has ended.
    fn end(&self, step: &'static Step, outcome: &Outcome, seconds: Seconds) {
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        ended.timings.add(step.name, seconds);
        match outcome {
            Outcome::Passed => print_whole(&format!(
                "== {}: ok, compiled {:.1} s, ran {:.1} s\n",
                step.name, seconds.compiled, seconds.ran
            )),
            Outcome::NotRun(reason) => {
                print_whole(&format!("== {}: NOT RUN: {reason}\n", step.name));
                ended.not_run.push(step.name);
            }
        }
    }

    /// The test programs, compiled once for all steps.
    fn tests(&self) -> Result<&[TestProgram]> {
        if let Some(tests) = self.tests.get() {
            return Ok(tests);
        }
        let tests = world::build(self.root)?;
        Ok(self.tests.get_or_init(|| tests))
    }

    fn work(&self, work: &Work, output: &Output<'_>, watch: &mut Stopwatch) -> Result<Outcome> {
        let root = self.root;
        match work {
            Work::Compile(arguments, variable) => {
                watch.compile(|| output.run(cargo::command(root).args(*arguments).envs(*variable)))?;
            }
            Work::Run(arguments) => output.run(cargo::command(root).args(*arguments))?,
            Work::Xtask(arguments) => output.run(&mut xtask(root, arguments)?)?,
            Work::XtaskWithPrograms(arguments) => {
                // A step that runs beside others has them.
                if let Output::Terminal = output {
                    watch.compile(|| cargo::programs(root))?;
                }
                output.run(xtask(root, arguments)?.env(cargo::PROGRAMS_ARE_BUILT, "1"))?;
            }
            Work::Test => {
                let programs = watch.compile(|| self.tests())?;
                test_programs::run(programs.iter().map(TestRun::of).collect(), &|line| output.print(line))?;
            }
            Work::Features => watch.compile(|| features::check(root, output))?,
            Work::FeatureLints => watch.compile(|| features::lint(root))?,
            Work::Redis => redis::install()?,
            Work::RedisTests => {
                let programs = watch.compile(|| self.tests())?;
                test_programs::run(engines::runs(programs, None)?, &|line| output.print(line))?;
            }
            Work::Valkey => match valkey::program(root, output) {
                Ok(program) => {
                    let programs = watch.compile(|| self.tests())?;
                    test_programs::run(engines::runs(programs, Some(&program))?, &|line| output.print(line))?;
                }
                Err(error) => return Ok(Outcome::NotRun(format!("no Valkey: {error:#}"))),
            },
            Work::Packages => packages::check(root, watch)?,
            Work::Verify => watch.compile(|| packages::verify(root))?,
            Work::FirstBuild => first_build::run(root, output, watch)?,
        }
        Ok(Outcome::Passed)
    }
}

/// Sets the priority of what this thread starts.
fn give_way(turn: Turn) {
    // Where it is not possible, all have the same priority.
    #[cfg(unix)]
    let _nice = rustix::process::nice(turn.nice());
}

fn xtask(root: &Path, arguments: &[&str]) -> Result<Command> {
    let mut command = Command::new(this_program()?);
    command.args(arguments).current_dir(root);
    Ok(command)
}

//! Runs steps one after the other. Steps that mostly wait, or that compile in their own folder, run at the same time.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;
use std::{env, iter, thread};

use agentwire_test_support::cargo;
use anyhow::{Context as _, Result, anyhow, ensure};

use super::output::{Output, print_whole};
use super::steps::{Step, Turn, Work};
use super::test_programs::{self, TestRun};
use super::timings::{Seconds, Stopwatch, Timings};
use super::world::{self, TestProgram};
use super::{docs, engines, features, first_build, packages, valkey};
use crate::redis;

/// The row of this program's own build in the table.
const XTASK: &str = "xtask";

/// The end of a step that has not failed.
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
    let program = env::current_exe()?;
    Ok(PROGRAM.get_or_init(|| program))
}

/// Runs the steps and prints their seconds, also when one fails. With `kept`, compares the seconds with those of that file.
pub(super) fn run(root: &Path, steps: &[&'static Step], kept: Option<&Path>) -> Result<()> {
    this_program()?;
    let started = Instant::now();
    let run =
        Run { root, tests: OnceLock::new(), ended: Mutex::default(), has_failed: AtomicBool::new(false) };
    let done = run.all(steps);
    let Ended { mut timings, not_run } = run.ended.into_inner().unwrap_or_else(PoisonError::into_inner);
    let before = seconds_before();
    timings.add(XTASK, Seconds { compiled: before, ran: 0.0 });
    let seconds = before + started.elapsed().as_secs_f64();
    if steps.len() > 1 {
        print!("{}", timings.table(iter::once(XTASK).chain(steps.iter().map(|step| step.name)), seconds));
        timings.write(&cargo::target(root)?.join("ci/timings.json"))?;
    }
    done?;
    let passed = steps.len() - not_run.len();
    match not_run.is_empty() {
        true => println!("== all of {passed} steps passed in {seconds:.1} s"),
        false => println!("== {passed} steps passed in {seconds:.1} s, NOT RUN: {}", not_run.join(", ")),
    }
    let compared = steps.iter().filter(|step| !step.turn.is_left_over());
    let compared: Vec<_> = compared.map(|step| step.name).collect();
    kept.map_or(Ok(()), |file| timings.compare(&compared, file))
}

/// The seconds in which `.ci/run` has compiled this program.
fn seconds_before() -> f64 {
    env::var("AGENTWIRE_XTASK_SECONDS").ok().and_then(|seconds| seconds.parse().ok()).unwrap_or_default()
}

/// A run of several steps.
struct Run<'a> {
    root: &'a Path,
    /// The test programs, as soon as a step has compiled them.
    tests: OnceLock<Vec<TestProgram>>,
    ended: Mutex<Ended>,
    /// Whether a step has failed, after which none starts.
    has_failed: AtomicBool,
}

/// The seconds of the steps that have ended, and the names of those that were not run.
#[derive(Default)]
struct Ended {
    timings: Timings,
    not_run: Vec<&'static str>,
}

impl Run<'_> {
    /// Runs the steps of a change, and then the weekly ones, some of which do the same work in another form.
    fn all(&self, steps: &[&'static Step]) -> Result<()> {
        let (change, weekly) = steps.split_at(steps.partition_point(|step| !step.when.is_weekly()));
        match change {
            [step] if step.is_beside() => {
                self.prepare(change)?;
                self.alone(step)?;
            }
            _ => self.side_by_side(change)?,
        }
        self.in_order(weekly)
    }

    /// Runs steps on the streams of this process, until one fails.
    fn in_order(&self, steps: &[&'static Step]) -> Result<()> {
        let mut steps = steps.iter().take_while(|_| !self.has_failed());
        steps.try_for_each(|step| self.alone(step))
    }

    fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }

    /// Remembers that a step has failed.
    fn fail(&self) {
        self.has_failed.store(true, Ordering::Relaxed);
    }

    fn alone(&self, step: &'static Step) -> Result<()> {
        println!("== {}", step.name);
        let done = self.timed(step, &Output::Terminal);
        let (outcome, seconds) = done.inspect_err(|_| print_whole(&format!("== {}: FAILED\n", step.name)))?;
        self.end(step, &outcome, seconds);
        Ok(())
    }

    /// Runs steps in order. A step that runs beside others starts when all before it have passed, and the steps after it do not wait
    /// for it.
    fn side_by_side(&self, steps: &[&'static Step]) -> Result<()> {
        let results: Vec<Result<()>> = thread::scope(|scope| {
            let mut running = Vec::new();
            let in_order = steps.chunk_by(|a, b| a.is_beside() == b.is_beside()).try_for_each(|group| {
                if self.has_failed() {
                    return Ok(());
                }
                if !group[0].is_beside() {
                    let in_order = scope.spawn(move || {
                        give_way(Turn::InOrder);
                        self.in_order(group)
                    });
                    return joined(in_order);
                }
                self.prepare(group)?;
                println!(
                    "== {}: side by side",
                    group.iter().map(|step| step.name).collect::<Vec<_>>().join(", ")
                );
                running.extend(lanes(group).map(|lane| scope.spawn(move || self.lane(&lane))));
                Ok(())
            });
            running.into_iter().map(joined).chain([in_order]).collect()
        });
        let errors: Vec<_> =
            results.into_iter().filter_map(Result::err).map(|error| format!("{error:#}")).collect();
        ensure!(errors.is_empty(), "{}", errors.join("\n"));
        Ok(())
    }

    /// Runs steps one after the other, each with its output in a file.
    fn lane(&self, steps: &[&'static Step]) -> Result<()> {
        steps.iter().take_while(|_| !self.has_failed()).try_for_each(|step| {
            give_way(step.turn);
            self.logged(step)
        })
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
        let outcome = self.work(&step.work, output, &mut watch).inspect_err(|_| self.fail());
        let outcome = outcome.with_context(|| {
            format!("the step `{}` failed after {:.1} s", step.name, watch.seconds().sum())
        })?;
        Ok((outcome, watch.seconds()))
    }

    /// Prints and keeps how a step has ended.
    fn end(&self, step: &'static Step, outcome: &Outcome, seconds: Seconds) {
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        match outcome {
            Outcome::Passed => {
                ended.timings.add(step.name, seconds);
                print_whole(&format!(
                    "== {}: ok, compiled {:.1} s, ran {:.1} s\n",
                    step.name, seconds.compiled, seconds.ran
                ));
            }
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
            Work::Compile(arguments) => {
                watch.compile(|| output.run(cargo::command(root).args(*arguments)))?;
            }
            Work::Run(arguments) => output.run(cargo::command(root).args(*arguments))?,
            Work::RunWithPrograms(arguments) => {
                watch.compile(|| cargo::programs(root))?;
                output.run(cargo::command(root).args(*arguments))?;
            }
            Work::Xtask(arguments) => output.run(&mut xtask(root, arguments)?)?,
            Work::XtaskWithPrograms(arguments) => {
                // The programs of a step that runs beside others are compiled before it starts.
                if let Output::Terminal = output {
                    watch.compile(|| cargo::programs(root))?;
                }
                output.run(xtask(root, arguments)?.env(cargo::PROGRAMS_ARE_BUILT, "1"))?;
            }
            Work::Test => {
                let programs = watch.compile(|| self.tests())?;
                test_programs::run(programs.iter().map(TestRun::of).collect(), &|line| output.print(line))?;
            }
            Work::Doc => watch.compile(|| output.run(&mut docs::command(root)?))?,
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
                Err(error) if valkey::is_named() => return Err(error),
                Err(error) => return Ok(Outcome::NotRun(format!("no Valkey: {error:#}"))),
            },
            Work::Packages => packages::check(root, watch)?,
            Work::Verify => watch.compile(|| packages::verify(root))?,
            Work::FirstBuild => first_build::run(root, output, watch)?,
        }
        Ok(Outcome::Passed)
    }
}

fn joined(running: thread::ScopedJoinHandle<'_, Result<()>>) -> Result<()> {
    running.join().unwrap_or_else(|_| Err(anyhow!("a step panicked")))
}

/// Groups of steps that run at the same time. Steps of the lowest priority compile on all processors, so they are one group.
fn lanes(steps: &[&'static Step]) -> impl Iterator<Item = Vec<&'static Step>> {
    let (left_over, others): (Vec<_>, Vec<_>) = steps.iter().partition(|step| step.turn.is_left_over());
    others.into_iter().map(|step| vec![step]).chain([left_over])
}

/// Lowers the priority of this thread and of what it starts. No thread can raise it again, so that of a step is a thread of its own.
fn give_way(turn: Turn) {
    // If this is not possible, all steps have the same priority.
    let _nice = rustix::process::nice(turn.nice());
}

fn xtask(root: &Path, arguments: &[&str]) -> Result<Command> {
    let mut command = Command::new(this_program()?);
    command.args(arguments).current_dir(root);
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::super::steps::STEPS;
    use super::*;

    #[test]
    fn one_step_beside_others_compiles_at_a_time() {
        let beside: Vec<_> = STEPS.iter().filter(|step| step.is_beside()).collect();
        let lanes: Vec<_> = lanes(&beside).collect();
        assert_eq!(lanes.iter().map(Vec::len).sum::<usize>(), beside.len());
        let is_left_over = |lane: &[&Step]| lane.iter().any(|step| step.turn.is_left_over());
        let shared: Vec<_> = lanes.iter().filter(|lane| lane.len() > 1 || is_left_over(lane)).collect();
        assert!(shared.len() == 1 && shared[0].iter().all(|step| step.turn.is_left_over()), "{shared:?}");
    }
}

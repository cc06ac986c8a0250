//! Runs the programs of tests, three at a time, and sums up what they report.

use std::collections::VecDeque;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};

use super::world::{self, TestProgram};

/// The number of programs that run at a time. They mostly wait.
const PROGRAMS: usize = 3;

/// The number of tests of each program that run at a time.
const THREADS: &str = "4";

/// The programs that take longest, which start first: otherwise one would run alone at the end.
const LONGEST: [&str; 4] = ["tests::it", "schema-tests::it", "cost-tests::it", "transport-http::it"];

/// The numbers of tests that passed, failed and were ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    passed: usize,
    failed: usize,
    ignored: usize,
}

/// A run of one program.
pub(super) struct TestRun<'a> {
    pub(super) program: &'a TestProgram,
    pub(super) arguments: &'a [&'a str],
    pub(super) variable: Option<(&'a str, &'a str)>,
}

impl<'a> TestRun<'a> {
    /// All tests but the ignored ones.
    pub(super) fn of(program: &'a TestProgram) -> Self {
        Self { program, arguments: &[], variable: None }
    }
}

/// Runs programs and prints a line for each, with the output of those that fail. The last line has the sums.
///
/// # Errors
///
/// When one has failed, after all have run.
pub(super) fn run(mut runs: Vec<TestRun<'_>>, print: &(dyn Fn(&str) + Sync)) -> Result<()> {
    // The sort is stable: the others keep their order.
    runs.sort_by_key(|run| !LONGEST.iter().any(|name| run.program.is(name)));
    let libraries = world::compiler_libraries()?;
    let queue = Mutex::new(VecDeque::from(runs));
    let results = Mutex::new((Sums::default(), Vec::new()));
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    thread::scope(|scope| {
        for _ in 0..PROGRAMS {
            scope.spawn(|| {
                while let Some(run) = next() {
                    let result = run.finish(&libraries, print);
                    let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
                    match result {
                        Ok(sums) => results.0.add(sums),
                        Err(error) => {
                            print(&format!("FAIL  {}: {error:#}", run.program.name));
                            results.1.push(run.program.name.clone());
                        }
                    }
                }
            });
        }
    });
    let (sums, failed) = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    print(&format!("{} passed, {} failed, {} skipped", sums.passed, sums.failed, sums.ignored));
    ensure!(failed.is_empty(), "tests failed in {}", failed.join(", "));
    Ok(())
}

impl TestRun<'_> {
    /// Runs the program to its end. Its output is only shown when it fails, so that the lines of programs do not mix.
    fn finish(&self, libraries: &str, print: &(dyn Fn(&str) + Sync)) -> Result<Sums> {
        let started = Instant::now();
        let mut command = self.program.command();
        set_environment(&mut command, libraries, self.variable);
        let output = command.args(self.arguments).output().context("it cannot be started")?;
        let text = String::from_utf8_lossy(&output.stdout);
        let name = &self.program.name;
        ensure!(
            output.status.success(),
            "{}\n{text}{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
        let sums = sums(&text).with_context(|| format!("it printed no result:\n{text}"))?;
        let seconds = started.elapsed().as_secs_f64();
        print(&format!("ok    {name}: {} passed, {} ignored, {seconds:.1} s", sums.passed, sums.ignored));
        Ok(sums)
    }
}

fn set_environment(command: &mut Command, libraries: &str, variable: Option<(&str, &str)>) {
    let mut paths = vec![libraries.into()];
    paths.extend(std::env::var_os("LD_LIBRARY_PATH").iter().flat_map(std::env::split_paths));
    if let Ok(paths) = std::env::join_paths(paths) {
        command.env("LD_LIBRARY_PATH", paths);
    }
    command.env("RUST_TEST_THREADS", THREADS).envs(variable);
}

impl Sums {
    fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
    }
}

/// The sums of the line `test result: ok. 3 passed; 0 failed; 1 ignored; …`.
fn sums(output: &str) -> Option<Sums> {
    let line = output.lines().rev().find_map(|line| line.strip_prefix("test result: "))?;
    let count = |word: &str| {
        let (before, _) = line.split_once(word)?;
        before.trim_end().rsplit(' ').next()?.parse().ok()
    };
    Some(Sums { passed: count(" passed")?, failed: count(" failed")?, ignored: count(" ignored")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_result_line_is_read() {
        let output =
            "test a ... ok\n\ntest result: ok. 12 passed; 0 failed; 3 ignored; 0 measured; 0 filtered out\n";
        assert_eq!(sums(output), Some(Sums { passed: 12, failed: 0, ignored: 3 }));
        assert_eq!(sums("test a ... ok\n"), None);
    }
}

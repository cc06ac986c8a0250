//! The tests that need Redis or Valkey, which `cargo test` ignores.

use std::path::Path;

use anyhow::{Context as _, Result};

use super::test_programs::{self, TestRun};
use super::timings::Stopwatch;
use super::world;
use crate::redis;

/// Names the engine's program to the tests.
const ENGINE: &str = "AGENTWIRE_REDIS_SERVER";

/// The programs with such tests.
const PROGRAMS: [&str; 2] = ["mcp-redis::it", "tests::it"];

/// Chooses the ignored tests, but those that take minutes.
const CHOICE: &[&str] = &["--ignored", "--skip", "long::"];

/// Runs the tests with an engine; without one, with the `redis-server` of this machine.
pub(super) fn run(root: &Path, engine: Option<&Path>, watch: &mut Stopwatch) -> Result<()> {
    let programs = watch.compile(|| world::build(root))?;
    let variable = match engine {
        Some(engine) => Some((ENGINE, engine.to_str().context("the engine's path is not UTF-8")?)),
        // The tests find it themselves: under another name the program of Debian's package is no server.
        None => {
            redis::install()?;
            None
        }
    };
    let runs = PROGRAMS.iter().map(|name| {
        let program = programs.iter().find(|program| program.is(name));
        let program = program.with_context(|| format!("cargo has built no tests `{name}`"))?;
        Ok(TestRun { program, arguments: CHOICE, variable })
    });
    test_programs::run(runs.collect::<Result<_>>()?)
}

//! The tests that need Redis or Valkey, which `cargo test` ignores.

use std::path::Path;

use anyhow::{Context as _, Result};

use super::test_programs::TestRun;
use super::world::TestProgram;

/// Names the engine's program to the tests.
const ENGINE: &str = "AGENTWIRE_REDIS_SERVER";

/// The programs with such tests.
const PROGRAMS: [&str; 2] = ["mcp-redis::it", "tests::it"];

/// Chooses the ignored tests, but those that take minutes.
const CHOICE: &[&str] = &["--ignored", "--skip", "long::"];

/// The runs of the tests with an engine; without one, with the `redis-server` that the tests find themselves: under another name the
/// program of Debian's package is not a server.
pub(super) fn runs<'a>(programs: &'a [TestProgram], engine: Option<&'a Path>) -> Result<Vec<TestRun<'a>>> {
    let engine = engine.map(|path| path.to_str().context("the engine's path is not UTF-8")).transpose()?;
    let run = |name| {
        let program = programs.iter().find(|program| program.is(name));
        let program = program.with_context(|| format!("cargo has built no tests `{name}`"))?;
        Ok(TestRun { program, arguments: CHOICE, variable: engine.map(|path| (ENGINE, path)) })
    };
    PROGRAMS.into_iter().map(run).collect()
}

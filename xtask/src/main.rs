//! The project's own checks and measurements, run with `cargo xtask`. Plain code with few dependencies builds in seconds.
//!
//! The commands are modules of their own. `bench`, `interop` and a part of `conformance` are the program of `tests/bench`.
#![allow(clippy::print_stdout, reason = "a command's result is what it prints")]

mod bench;
mod ci;
mod conformance;
mod fuzz;
mod redis;
mod replicas;
mod schema;
mod site;
mod tidy;
mod wrong_programs;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};

const USAGE: &str = "\
cargo xtask COMMAND

  tidy         check the layers, the manifests and the sources against the project's rules
  ci           run every check that a change must pass, in order, or the named ones
  schema       write, check or compare the JSON Schemas and the reference; see `cargo xtask schema --help`
  conformance  judge our programs, or those of others, by our suite and the official one
  fuzz         run the fuzzers, on mutations or by libFuzzer; see `cargo xtask fuzz --help`
  site         build the site of the documentation and check its links; see `cargo xtask site --help`
  interop      test our programs against programs built on other libraries
  wrong-programs
               compile programs with the mistakes of newcomers and judge the compiler's errors
  replicas     kill nodes of a server, and their engine, while clients use them; see `cargo xtask replicas --help`
  bench        compare with the rivals and with a hand-written loop, or measure `chat`; see `cargo xtask bench`";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    use lexopt::prelude::*;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
    let mut arguments = lexopt::Parser::from_env();
    let command = match arguments.next()? {
        Some(Value(command)) => command.string()?,
        Some(Long("help") | Short('h')) | None => bail!("{USAGE}"),
        Some(other) => bail!("{}\n\n{USAGE}", other.unexpected()),
    };
    match command.as_str() {
        "tidy" => tidy::run(root),
        "ci" => ci::run(root, arguments),
        "schema" => schema::run(root, arguments),
        "conformance" => conformance::run(root, arguments),
        "fuzz" => fuzz::run(root, arguments),
        "site" => site::run(root, arguments),
        "interop" => bench::run(root, &command, arguments),
        "wrong-programs" => wrong_programs::run(root),
        "replicas" => replicas::run(root, arguments),
        "bench" => bench::run_optimized(root, &command, arguments),
        _ => bail!("no command `{command}`\n\n{USAGE}"),
    }
}

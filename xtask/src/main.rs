//! The project's own checks, run with `cargo xtask`. Thin on purpose: plain code and few dependencies, so that it builds in
//! seconds and nobody is afraid to change it.
#![allow(clippy::print_stdout, reason = "a command's result is what it prints")]

#[cfg(target_os = "linux")]
mod bench;
#[cfg(not(target_os = "linux"))]
mod bench {
    //! Pinning, memory and processor time are read in Linux's ways.
    pub(crate) fn run(_root: &std::path::Path, _arguments: lexopt::Parser) -> anyhow::Result<()> {
        anyhow::bail!("the benchmark runs on Linux only")
    }
}
mod ci;
mod conformance;
mod fuzz;
#[cfg(unix)]
mod interop;
#[cfg(not(unix))]
mod interop {
    //! Its programs are started in process groups and ended by signals.
    pub(crate) fn run(_root: &std::path::Path, _arguments: lexopt::Parser) -> anyhow::Result<()> {
        anyhow::bail!("programs of others are tried on Unix only")
    }
}
mod npm;
mod schema;
mod tidy;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};

const USAGE: &str = "\
cargo xtask COMMAND

  tidy         check the layers, the manifests and the sources against the project's rules
  ci           run every check that a change must pass, in order; or the one that is named
  schema       write, check or compare the JSON Schemas and the reference; see `cargo xtask schema --help`
  conformance  hold our MCP server and client against the official suite
  fuzz         run the fuzzers, on mutations or by libFuzzer; see `cargo xtask fuzz --help`
  interop      talk to programs built on other libraries
  bench        compare with the rivals and with a hand-written loop; see `cargo xtask bench`";

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
        "interop" => interop::run(root, arguments),
        "bench" => bench::run(root, arguments),
        _ => bail!("no command `{command}`\n\n{USAGE}"),
    }
}

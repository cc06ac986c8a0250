//! Programs of ours beside programs of others: their speed and size (`load`), and whether they understand each other (`interop`,
//! `others`). `cargo xtask` starts it.
//!
//! `rivals` is a workspace of its own with programs on other libraries. Those in other languages are in `tests/interop`.
#![allow(clippy::print_stdout, reason = "a command's result is what it prints")]

mod interop;
#[cfg(target_os = "linux")]
mod load;
#[cfg(not(target_os = "linux"))]
mod load {
    //! Pins threads and reads memory and processor time by Linux's interfaces.
    pub(crate) fn run(_root: &std::path::Path, _arguments: lexopt::Parser) -> anyhow::Result<()> {
        anyhow::bail!("the benchmark runs on Linux only")
    }
}
mod others;
mod rivals;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use lexopt::ValueExt as _;

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
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).context("this is in tests/bench")?;
    let mut arguments = lexopt::Parser::from_env();
    let command = arguments.value()?.string()?;
    match command.as_str() {
        "bench" => load::run(root, arguments),
        "interop" => interop::run(root, arguments),
        "others" => {
            let names = arguments.raw_args()?.map(|name| name.string()).collect::<Result<Vec<_>, _>>()?;
            others::judge(root, &names)
        }
        "sdks" => interop::peers::print_replica_clients(root),
        _ => bail!("no command `{command}`"),
    }
}

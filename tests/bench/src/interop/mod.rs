//! `cargo xtask interop`: runs our programs against programs built on other libraries.
//!
//! Versions are pinned in `tests/interop` and installed into `tests/interop/.peers`, which git ignores. Each pair runs
//! in a folder and a home of its own, within a time limit, and must leave no process behind.

mod caller;
mod chat;
mod installed;
mod pair;
mod pairs;
pub(crate) mod peers;
pub(crate) mod products;
mod proxy;
mod report;
pub(crate) mod scratch;
pub(crate) mod service;
mod wire;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use agentwire_test_support::cargo;
use anyhow::{Result, bail, ensure};

use self::pair::Pair;
use self::pairs::login;
use self::peers::Peers;
use self::scratch::Scratch;

const USAGE: &str = "\
cargo xtask interop [--list] [--browser | --installed] [--release | --agentwire PATH] [NAME]...

  NAME               run only the pairs, or the agents, whose name contains one of these
  --browser          run the pairs that need Chromium, and no others
  --installed        install agents by name, from npm, and use them as a person does, and run no pairs
  --list             print the names of the pairs
  --release          test a release build, instead of the debug build that the tests have made
  --agentwire PATH   test this program instead";

/// How many pairs run at the same time.
const CONCURRENCY: usize = 2;

/// The options of the command line.
#[derive(Default)]
struct Options {
    list: bool,
    browser: bool,
    installed: bool,
    release: bool,
    agentwire: Option<PathBuf>,
    names: Vec<String>,
}

/// Installs the peers, runs every pair and prints a line for each; the last line counts them.
pub(crate) fn run(root: &Path, arguments: lexopt::Parser) -> Result<()> {
    let options = parse(arguments)?;
    if options.installed {
        return installed::run(root, agentwire(root, &options)?, &options.names);
    }
    let mut pairs = if options.browser { login::browser_pairs() } else { pairs::all() };
    pairs
        .retain(|pair| options.names.is_empty() || options.names.iter().any(|name| pair.name.contains(name)));
    ensure!(!pairs.is_empty(), "no pair has such a name; see --list");
    if options.list {
        for pair in pairs {
            println!("{}", pair.name);
        }
        return Ok(());
    }
    if options.browser {
        login::chromium()?;
    }
    let agentwire = agentwire(root, &options)?;
    let peers = peers::install(root, agentwire)?;
    let failed = run_all(&pairs, &peers);
    report::finish(pairs.len() - failed, failed)
}

fn parse(mut arguments: lexopt::Parser) -> Result<Options> {
    use lexopt::prelude::*;
    let mut options = Options::default();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("list") => options.list = true,
            Long("browser") => options.browser = true,
            Long("installed") => options.installed = true,
            Long("release") => options.release = true,
            Long("agentwire") => options.agentwire = Some(arguments.value()?.into()),
            Value(name) => options.names.push(name.string()?),
            other => bail!("{}\n\n{USAGE}", other.unexpected()),
        }
    }
    Ok(options)
}

/// Our command: the given one, or else a build of it.
fn agentwire(root: &Path, options: &Options) -> Result<PathBuf> {
    // Our client that answers a server's requests is among them.
    let debug = cargo::programs(root)?;
    if let Some(path) = &options.agentwire {
        return Ok(std::path::absolute(path)?);
    }
    if !options.release {
        return Ok(debug.join("agentwire"));
    }
    cargo::build(root, &["--release", "--package", "agentwire-cli", "--features", "full"])?;
    Ok(cargo::target(root)?.join("release/agentwire"))
}

/// Runs the pairs and counts the failed ones.
fn run_all(pairs: &[Pair], peers: &Peers) -> usize {
    let (next, failed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..CONCURRENCY {
            scope.spawn(|| {
                while let Some(pair) = pairs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if !run_pair(pair, peers) {
                        failed.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    failed.into_inner()
}

/// Runs one pair and prints its result in one piece; true when it passed.
fn run_pair(pair: &Pair, peers: &Peers) -> bool {
    let started = Instant::now();
    let mut log = String::new();
    let outcome = Scratch::new(peers, Duration::from_secs(pair.limit)).and_then(|scratch| {
        let outcome = (pair.check)(&scratch);
        let outcome = outcome.and(scratch.expect_no_processes());
        log = scratch.into_log();
        outcome
    });
    report::print(&pair.name, started, &outcome, &log)
}

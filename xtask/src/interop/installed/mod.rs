//! `cargo xtask interop --installed`: a day with agents that are installed by name.
//!
//! Widely used agents are installed with `agentwire agents install`, from npm, by a registry file made for the run. They are
//! then used by their names, without a key and without a network: a command that streams, a permission that is refused, an
//! interrupt, a session that goes on, output for programs, in each version of ACP that the agent speaks. It is no part of the
//! other runs, because it installs several hundred megabytes anew.

mod day;
mod installation;
mod registry;
mod steps;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use self::installation::Installation;
use super::peers::{self, Peers};
use super::products::{PRODUCTS, Product};
use super::scratch::Scratch;

/// How long all steps of one agent may take together.
const LIMIT: Duration = Duration::from_secs(900);

/// Installs the agents whose names contain one of `names`, and takes the steps with each. Exits with 1 when a step failed.
pub(super) fn run(root: &Path, agentwire: PathBuf, names: &[String]) -> Result<()> {
    let wanted = |product: &&Product| names.is_empty() || names.iter().any(|name| product.id.contains(name));
    let products: Vec<_> =
        PRODUCTS.iter().filter(|product| product.installed.is_some()).filter(wanted).collect();
    ensure!(!products.is_empty(), "no installed agent has such a name");
    let peers = peers::install_npm(root, agentwire)?;
    let (mut passed, mut failed) = (0, 0);
    for product in products {
        let (good, bad) = take_steps(product, &peers).with_context(|| product.id.clone())?;
        (passed, failed) = (passed + good, failed + bad);
    }
    println!("{passed} passed, {failed} failed");
    std::io::stdout().flush()?;
    if failed > 0 {
        std::process::exit(1);
    }
    Ok(())
}

/// Takes all steps with one agent, and counts those that passed and failed. Without an installation there are no others.
fn take_steps(product: &'static Product, peers: &Peers) -> Result<(usize, usize)> {
    let scratch = Scratch::new(peers, LIMIT)?;
    let installation = Installation::new(&scratch, product)?;
    if !report(product, "install", &scratch, || installation.install()) {
        return Ok((0, 1));
    }
    let steps = steps::of(product);
    let failed = steps.iter().filter(|(name, step)| {
        !report(product, name, &scratch, || step(&scratch, product).and(scratch.expect_no_processes()))
    });
    let failed = failed.count();
    Ok((steps.len() + 1 - failed, failed))
}

/// Takes one step and prints its result; true when it passed.
fn report(product: &Product, name: &str, scratch: &Scratch<'_>, step: impl FnOnce() -> Result<()>) -> bool {
    let start = Instant::now();
    let before = scratch.log_length();
    let outcome = step();
    let seconds = start.elapsed().as_secs_f32();
    match &outcome {
        Ok(()) => println!("ok    {}: {name} ({seconds:.1} s)", product.id),
        Err(error) => {
            let log: String =
                scratch.log_from(before).lines().map(|line| format!("\n      | {line}")).collect();
            println!("FAIL  {}: {name} ({seconds:.1} s)\n      {error:#}{log}", product.id);
        }
    }
    outcome.is_ok()
}

//! `cargo xtask interop --installed`: a day with agents that are installed by name.
//!
//! Widely used agents are installed with `agentwire agents install`, from npm, by a registry file made for the run. They are
//! then used by their names, without a key and without a network: a command that streams, a permission that is refused, an
//! interrupt, a session that goes on, output for programs, in each version of ACP that the agent speaks. It is not part of the
//! other runs, because it installs several hundred megabytes each time.

mod day;
mod installation;
mod registry;
mod steps;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use self::installation::Installation;
use super::peers::{self, Peers};
use super::products::{PRODUCTS, Product};
use super::report;
use super::scratch::Scratch;

/// How long all steps of one agent may take together.
const LIMIT: Duration = Duration::from_secs(900);

/// Installs the agents whose names contain one of `names`, and takes the steps with each.
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
    report::finish(passed, failed)
}

/// Takes all steps with one agent, and counts those that passed and failed. Without an installation there are no others.
fn take_steps(product: &'static Product, peers: &Peers) -> Result<(usize, usize)> {
    let scratch = Scratch::new(peers, LIMIT)?;
    let installation = Installation::new(&scratch, product)?;
    if !take_step(product, "install", &scratch, || installation.install()) {
        return Ok((0, 1));
    }
    let steps = steps::of(product);
    let failed = steps.iter().filter(|(name, step)| {
        !take_step(product, name, &scratch, || step(&scratch, product).and(scratch.expect_no_processes()))
    });
    let failed = failed.count();
    Ok((steps.len() + 1 - failed, failed))
}

/// Takes one step and prints its result; true when it passed.
fn take_step(
    product: &Product,
    name: &str,
    scratch: &Scratch<'_>,
    step: impl FnOnce() -> Result<()>,
) -> bool {
    let (started, before) = (Instant::now(), scratch.log_length());
    let outcome = step();
    report::print(&format!("{}: {name}", product.id), started, &outcome, &scratch.log_from(before))
}

//! `cargo xtask tidy`: the project's rules that no compiler checks.
//!
//! Every rule is a plain function from texts to violations, so its tests need no workspace. The rules for layers, for
//! what is absent and for limits are read from the page of layers.

mod addresses;
mod cfg;
mod circles;
mod claims;
mod code;
mod known;
mod modules;
mod packages;
mod quotes;
mod retired;
mod sizes;
mod sources;
mod violation;
mod voice;

use std::path::Path;

use anyhow::{Result, ensure};
use cargo_metadata::MetadataCommand;

use self::packages::architecture::LAYERS;

/// Checks everything, prints a line for each violation and fails when there is one.
pub(crate) fn run(root: &Path) -> Result<()> {
    let metadata = MetadataCommand::new().manifest_path(root.join("Cargo.toml")).no_deps().exec()?;
    let sources = sources::read(root)?;
    let document = sources::text(root, LAYERS)?;
    let mut violations = packages::check(root, &metadata, &document, &sources)?;
    violations.extend(addresses::check(root, &metadata)?);
    violations.extend(quotes::check(root)?);
    violations.extend(sources::check(&sources));
    violations.extend(claims::check(&document, &sources));
    violations.extend(claims::limits(&sources::text(root, claims::LIMITS)?, &sources));
    violations.extend(retired::check(&retired::list()?, &sources));
    let documents = sources::documents(root)?;
    let documents = documents.iter().map(|(path, text)| (path.as_str(), text.as_str()));
    let rust = sources.iter().map(|source| (source.path.as_str(), source.text.as_str()));
    violations.extend(voice::check(&rust.chain(documents).collect::<Vec<_>>())?);
    let mut known = known::Known::list()?;
    violations.extend(sizes::check(&sources, &mut known));
    violations.extend(circles::check(&sources, &mut known));
    violations.extend(known.unneeded());
    for violation in &violations {
        println!("{violation}");
    }
    println!(
        "tidy: {} packages, {} Rust files, {} violations",
        metadata.packages.len(),
        sources.len(),
        violations.len()
    );
    ensure!(violations.is_empty(), "the rules above are broken");
    Ok(())
}

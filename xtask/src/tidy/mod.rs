//! `cargo xtask tidy`: the project's rules that no compiler checks.
//!
//! Every rule is a plain function from texts to violations, so its tests need no workspace. The rules for layers, for
//! what is absent and for limits are read from the architecture document.

mod addresses;
mod architecture;
mod arrows;
mod cfg;
mod circles;
mod claims;
mod code;
mod features;
mod known;
mod manifests;
mod modules;
mod quotes;
mod retired;
mod sizes;
mod sources;
mod violation;
mod weights;

use std::path::Path;

use agentwire_test_support::cargo;
use anyhow::{Context, Result, ensure};
use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package};

use self::architecture::{ARCHITECTURE, Architecture};
use self::sources::Source;
use self::violation::Violation;

const DEPENDENCIES: &str = "docs/dependencies.md";
const FACADE: &str = "crates/agentwire/src/lib.rs";

/// Checks everything, prints a line for each violation and fails when there is one.
pub(crate) fn run(root: &Path) -> Result<()> {
    let metadata = MetadataCommand::new().manifest_path(root.join("Cargo.toml")).no_deps().exec()?;
    let sources = sources::read(root)?;
    let document = read(root, ARCHITECTURE)?;
    let mut violations = check_arrows(root, &metadata, &document, &sources)?;
    violations.extend(check_manifests(root, &metadata, &sources)?);
    violations.extend(check_weights(root)?);
    violations.extend(addresses::check(root, &metadata)?);
    violations.extend(quotes::check(root)?);
    violations.extend(sources::check(&sources));
    violations.extend(claims::check(&document, &sources));
    violations.extend(claims::limits(&read(root, claims::LIMITS)?, &sources));
    violations.extend(retired::check(&retired::list()?, &sources));
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

fn check_arrows(
    root: &Path,
    metadata: &Metadata,
    document: &str,
    sources: &[Source],
) -> Result<Vec<Violation>> {
    let ours: Vec<String> = metadata.packages.iter().map(|package| short(&package.name).to_owned()).collect();
    let architecture = Architecture::parse(document, &ours);
    let mut violations = architecture.problems();
    for package in &metadata.packages {
        let file = relative(root, package);
        let declared = declared(package);
        violations.extend(arrows::layers(&architecture, &file, short(&package.name), &declared));
        let banned = architecture.banned(short(&package.name));
        if banned.is_empty() {
            continue;
        }
        let tree = default_tree(root, &package.name)?;
        violations.extend(arrows::never(&file, short(&package.name), &banned, &tree));
        let folder = file.trim_end_matches("Cargo.toml");
        let sources = sources.iter().filter(|source| source.path.starts_with(folder));
        violations.extend(arrows::clocks(&file, &banned, sources));
    }
    Ok(violations)
}

fn check_manifests(root: &Path, metadata: &Metadata, sources: &[Source]) -> Result<Vec<Violation>> {
    let reasons = read(root, DEPENDENCIES)?;
    let mut violations = Vec::new();
    violations.extend(manifests::forbids_unsafe("Cargo.toml", &read(root, "Cargo.toml")?));
    violations.extend(manifests::facade(FACADE, &read(root, FACADE)?));
    for package in &metadata.packages {
        let file = relative(root, package);
        let text = read(root, &file)?;
        violations.extend(manifests::inherits(&file, &text));
        violations.extend(features::check(&file, package, &metadata.packages, sources));
        violations.extend(manifests::untested(&file, package, sources.iter()));
        let external = package.dependencies.iter().filter(|dependency| dependency.path.is_none());
        for dependency in external {
            violations.extend(manifests::reason(&file, DEPENDENCIES, &reasons, &dependency.name));
        }
        if file.starts_with("crates/") {
            violations.extend(manifests::presentation(&file, package, |path| read(root, path).ok()));
        }
    }
    violations.sort_by(|a, b| (&a.file, a.rule, &a.what).cmp(&(&b.file, b.rule, &b.what)));
    violations.dedup();
    Ok(violations)
}

fn check_weights(root: &Path) -> Result<Vec<Violation>> {
    let mut violations = Vec::new();
    for weight in weights::WEIGHTS {
        // Counted for one system, so that the bound is the same on every machine.
        let target = "x86_64-unknown-linux-gnu";
        let arguments = ["--edges", "normal,build", "--target", target, "--package", weight.package];
        let tree = cargo::tree(&mut cargo::command(root), &[&arguments, weight.features].concat())?;
        violations.extend(weights::check(weight, tree.len()));
    }
    Ok(violations)
}

/// Our crates that a package declares as normal dependencies, optional ones included.
fn declared(package: &Package) -> Vec<String> {
    let normal = package.dependencies.iter().filter(|dependency| dependency.kind == DependencyKind::Normal);
    normal
        .filter(|dependency| dependency.path.is_some())
        .map(|dependency| short(&dependency.name).to_owned())
        .collect()
}

/// The names of all crates that a package alone, with its default features, links or runs as a macro.
fn default_tree(root: &Path, package: &str) -> Result<Vec<String>> {
    let tree = cargo::tree(&mut cargo::command(root), &["--edges", "normal", "--package", package])?;
    let names = tree.iter().filter_map(|line| line.split_whitespace().next());
    Ok(names.map(|name| short(name).to_owned()).collect())
}

/// A crate's name as the architecture spells it, without our prefix.
fn short(package: &str) -> &str {
    package.strip_prefix("agentwire-").unwrap_or(package)
}

fn relative(root: &Path, package: &Package) -> String {
    let path = package.manifest_path.as_std_path();
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

fn read(root: &Path, path: &str) -> Result<String> {
    std::fs::read_to_string(root.join(path)).with_context(|| format!("cannot read {path}"))
}

//! The rules for packages: their layers, manifests, features and weight.

pub(super) mod architecture;
mod arrows;
mod features;
mod manifests;
mod weights;

use std::path::Path;

use agentwire_test_support::cargo;
use anyhow::Result;
use cargo_metadata::{DependencyKind, Metadata, Package};

use self::architecture::Architecture;
use super::sources::{Source, text};
use super::violation::Violation;

const DEPENDENCIES: &str = "docs/dependencies.md";
const FACADE: &str = "crates/agentwire/src/lib.rs";

/// Checks the packages; `document` is the page of layers.
pub(super) fn check(
    root: &Path,
    metadata: &Metadata,
    document: &str,
    sources: &[Source],
) -> Result<Vec<Violation>> {
    let mut violations = check_arrows(root, metadata, document, sources)?;
    violations.extend(check_manifests(root, metadata, sources)?);
    violations.extend(check_weights(root)?);
    Ok(violations)
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
    let reasons = text(root, DEPENDENCIES)?;
    let mut violations = Vec::new();
    violations.extend(manifests::forbids_unsafe("Cargo.toml", &text(root, "Cargo.toml")?));
    violations.extend(manifests::facade(FACADE, &text(root, FACADE)?));
    for package in &metadata.packages {
        let file = relative(root, package);
        violations.extend(manifests::inherits(&file, &text(root, &file)?));
        violations.extend(features::check(&file, package, &metadata.packages, sources));
        violations.extend(manifests::untested(&file, package, sources.iter()));
        let external = package.dependencies.iter().filter(|dependency| dependency.path.is_none());
        for dependency in external {
            violations.extend(manifests::reason(&file, DEPENDENCIES, &reasons, &dependency.name));
        }
        if file.starts_with("crates/") {
            violations.extend(manifests::presentation(&file, package, |path| text(root, path).ok()));
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

/// A crate's name as the page of layers spells it, without our prefix.
fn short(package: &str) -> &str {
    package.strip_prefix("agentwire-").unwrap_or(package)
}

fn relative(root: &Path, package: &Package) -> String {
    let path = package.manifest_path.as_std_path();
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

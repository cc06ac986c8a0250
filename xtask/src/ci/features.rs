//! Checks each crate without its features, and with each one that its code names. A build of the workspace unites the features
//! of all members.

use std::collections::BTreeSet;
use std::fs;
use std::iter;
use std::path::Path;
use std::time::Instant;

use agentwire_test_support::{cargo, process};
use anyhow::{Context as _, Result, bail, ensure};
use cargo_metadata::diagnostic::DiagnosticLevel;
use cargo_metadata::{Message, MetadataCommand, Package};

use super::output::Output;

/// Only names other crates, so its features have no code.
const FACADE: &str = "agentwire";

/// The command. Each of its features adds a part to a tree of two hundred crates, all of which would get other features if it were
/// checked alone.
const COMMAND: &str = "agentwire-cli";

/// Checks every choice of features. A warning fails.
pub(super) fn check(root: &Path, to: &Output<'_>) -> Result<()> {
    for (package, features) in choices(root)? {
        let started = Instant::now();
        let warnings = warnings(root, to, &package, &features)?;
        let choice = if features.is_empty() { "no feature" } else { &features };
        to.print(&format!("{package}, {choice}: {:.1} s", started.elapsed().as_secs_f64()));
        ensure!(warnings.is_empty(), "`{package}` with the features `{features}`:\n{}", warnings.join("\n"));
    }
    Ok(())
}

/// Runs clippy on every choice of features.
pub(super) fn lint(root: &Path) -> Result<()> {
    for (package, features) in choices(root)? {
        let arguments = ["clippy", "--quiet", "--package", &package, "--no-default-features"];
        let features = ["--features", &features, "--", "--deny", "warnings"];
        process::run(cargo::command(root).args(arguments).args(features))?;
    }
    Ok(())
}

/// Each package with features, and a choice of them.
fn choices(root: &Path) -> Result<Vec<(String, String)>> {
    let metadata = MetadataCommand::new().current_dir(root).no_deps().exec()?;
    let mut choices = Vec::new();
    let with_features = |package: &&Package| !package.features.is_empty() && package.name != FACADE;
    for package in metadata.packages.iter().filter(with_features) {
        let folder = package.manifest_path.parent().context("a manifest is in a folder")?;
        let mut named = BTreeSet::new();
        named_in(folder.join("src").as_std_path(), &mut named)?;
        let unknown = named.iter().find(|name| !package.features.contains_key(*name));
        if let Some(name) = unknown {
            bail!("the code of `{}` names the feature `{name}`, which it does not have", package.name);
        }
        let alone = iter::once(String::new()).chain(named);
        choices.extend(alone.map(|features| (package.name.to_string(), features)));
    }
    Ok(choices)
}

/// Adds the features that the files of a folder name.
fn named_in(folder: &Path, names: &mut BTreeSet<String>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            named_in(&path, names)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            names.extend(features_of(&fs::read_to_string(&path)?));
        }
    }
    Ok(())
}

/// The features that a `cfg` in a file of Rust names. Comments count too: they only add a check.
fn features_of(text: &str) -> impl Iterator<Item = String> {
    let after = text.split("feature = \"").skip(1);
    after.filter_map(|rest| rest.split_once('"').map(|(name, _)| name.to_owned()))
}

/// The compiler's warnings for our crates. They are repeated for what is compiled already.
fn warnings(root: &Path, to: &Output<'_>, package: &str, features: &str) -> Result<Vec<String>> {
    let mut command = cargo::command(root);
    command.args(["check", "--quiet", "--message-format", "json"]);
    match package == COMMAND && !features.is_empty() {
        // As `cargo run` builds it in the root: its dependencies have the features of all crates there, and are checked once.
        true => command.args(["--bin", "agentwire", "--features", &format!("{COMMAND}/{features}")]),
        false => command.args(["--package", package, "--no-default-features", "--features", features]),
    };
    let (status, messages) = cargo::messages(command.stderr(to.stderr()?))?;
    let mut shown = Vec::new();
    for message in messages {
        let Message::CompilerMessage(message) = message else { continue };
        let is_fault = matches!(message.message.level, DiagnosticLevel::Warning | DiagnosticLevel::Error);
        let is_ours = message.target.src_path.starts_with(root);
        if let Some(text) = message.message.rendered.filter(|_| is_fault && is_ours) {
            shown.push(text);
        }
    }
    ensure!(
        status.success() || !shown.is_empty(),
        "`{package}` with the features `{features}` cannot be checked"
    );
    Ok(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_found_in_every_form_of_cfg() {
        let text = r#"#[cfg(feature = "a")] #![cfg_attr(all(feature = "b", test), x)] if cfg!(not(feature = "c")) {}"#;
        assert_eq!(features_of(text).collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!(features_of("fn feature() {}").count(), 0);
    }
}

//! `cargo xtask wrong-programs`: compiles programs with the mistakes that newcomers make (`tests/tests/wrong`). The compiler's errors
//! have to name the cure in few lines.
//!
//! A program's first comments hold the texts that its errors have to contain, behind `//~`. Each error has at most 15 lines, or the
//! number that `//~ lines:` allows, with the reason.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use agentwire_test_support::cargo;
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

/// The longest error, in lines.
const LINES: usize = 15;

/// The fewest programs: fewer would mean that the folder is not read.
const PROGRAMS: usize = 12;

/// The package of the programs. It has a workspace of its own, because newcomers build the crates with few features, and the
/// workspace unites those of all members.
const MANIFEST: &str = r#"
[workspace]

[package]
name = "wrong-programs"
version = "0.0.0"
edition = "2024"
publish = false

[dependencies]
serde = { version = "1", features = ["derive"] }
tokio = { version = "1", features = ["rt"] }
"#;

const FEATURES: &str = r#"["acp-agent", "acp-client", "acp-sessions", "http-server", "mcp-server", "stdio"]"#;

/// Compiles the programs, and fails with the list of those whose errors are long or lack a text.
pub(crate) fn run(root: &Path) -> Result<()> {
    let programs = programs(root)?;
    let errors = compile(root, &programs)?;
    let mut complaints = Vec::new();
    for (name, path) in &programs {
        let errors = errors.get(name).map_or(&[][..], Vec::as_slice);
        complaints.extend(complain(name, &fs::read_to_string(path)?, errors)?);
    }
    ensure!(complaints.is_empty(), "{}", complaints.join("\n\n"));
    println!("{} wrong programs are explained by the compiler", programs.len());
    Ok(())
}

fn programs(root: &Path) -> Result<BTreeMap<String, PathBuf>> {
    let folder = root.join("tests/tests/wrong");
    let mut programs = BTreeMap::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let path = entry?.path();
        let name =
            path.file_stem().and_then(|name| name.to_str()).context("a program's name is not UTF-8")?;
        programs.insert(name.to_owned(), path);
    }
    ensure!(programs.len() >= PROGRAMS, "only {} programs in {}", programs.len(), folder.display());
    Ok(programs)
}

/// Returns the errors of each program, from one run of cargo in the workspace's target folder.
fn compile(root: &Path, programs: &BTreeMap<String, PathBuf>) -> Result<BTreeMap<String, Vec<String>>> {
    let target = cargo::target(root)?;
    let folder = target.join("wrong-programs");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("Cargo.toml"), manifest(root, programs)?)?;
    // The versions that the workspace's build has fetched.
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock"))?;
    let mut check = cargo::command(&folder);
    check.args(["check", "--offline", "--bins", "--keep-going", "--message-format=json", "--quiet"]);
    let output = check.env("CARGO_TARGET_DIR", target).env_remove("RUSTFLAGS").output()?;
    let mut errors = BTreeMap::<_, Vec<_>>::new();
    for line in String::from_utf8(output.stdout)?.lines() {
        let message: Value = serde_json::from_str(line)?;
        let rendered = message["message"]["rendered"].as_str().unwrap_or_default();
        if message["message"]["level"] == "error" && rendered.contains("-->") {
            let program = message["target"]["name"].as_str().unwrap_or_default().to_owned();
            errors.entry(program).or_default().push(rendered.trim_end().to_owned());
        }
    }
    ensure!(!errors.is_empty(), "no program has an error:\n{}", String::from_utf8_lossy(&output.stderr));
    Ok(errors)
}

/// The manifest of the package, with the workspace's profile: dependencies with the same features are then checked once for both.
fn manifest(root: &Path, programs: &BTreeMap<String, PathBuf>) -> Result<String> {
    let facade = root.join("crates/agentwire");
    let mut manifest = format!("{MANIFEST}agentwire = {{ path = {facade:?}, features = {FEATURES} }}\n");
    for (name, path) in programs {
        manifest += &format!("\n[[bin]]\nname = {name:?}\npath = {path:?}\n");
    }
    Ok(manifest + &cargo::dev_profile(root)?)
}

/// Returns the texts that no error of a program contains, and the errors that are too long.
fn complain(name: &str, program: &str, errors: &[String]) -> Result<Vec<String>> {
    let expected: Vec<_> = program.lines().filter_map(|line| line.strip_prefix("//~ ")).collect();
    ensure!(!expected.is_empty(), "{name} expects nothing");
    let mut limit = LINES;
    let mut complaints = Vec::new();
    for expected in expected {
        if let Some(allowed) = expected.strip_prefix("lines: ") {
            let lines = allowed.split(',').next().and_then(|lines| lines.parse().ok());
            limit = lines.with_context(|| format!("{name}: no number of lines in `{allowed}`"))?;
        } else if !errors.iter().any(|error| error.contains(expected)) {
            complaints.push(format!("{name}: no error contains `{expected}`:\n{}", errors.join("\n")));
        }
    }
    // A long path of a type is written to a file, whose name depends on the path of the target folder.
    let is_of_a_name =
        |line: &&str| line.contains("the full name for the type") || line.contains("`--verbose`");
    for error in errors {
        let lines = error.lines().filter(|line| !is_of_a_name(line)).count();
        if lines > limit {
            complaints.push(format!("{name}: {lines} lines, at most {limit}:\n{error}"));
        }
    }
    Ok(complaints)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_texts_and_long_errors_are_complaints() {
        let program = "//~ the cure\n//~ lines: 2, as a test needs few\nfn main() {}";
        let complain = |errors: &[&str]| {
            let errors: Vec<_> = errors.iter().map(|&error| error.to_owned()).collect();
            complain("it", program, &errors).unwrap().len()
        };
        assert_eq!(complain(&["error\nthe cure"]), 0);
        assert_eq!(complain(&["error\nthe cure\nnote: the full name for the type has been written"]), 0);
        assert_eq!(complain(&["error"]), 1);
        assert_eq!(complain(&["error\nthe cure\nmore"]), 1);
        assert_eq!(complain(&[]), 1);
        assert!(super::complain("it", "fn main() {}", &[]).is_err());
    }
}

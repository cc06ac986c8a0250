//! Programs with the mistakes that newcomers make (`tests/wrong`), and what the compiler says of each: the cure, in few lines.
//!
//! A program's first comments hold what its errors have to contain, behind `//~`. Each error has at most 15 lines, or as many as
//! `//~ lines:` allows, with the reason.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use agentwire_nested_cargo::cargo;
use serde_json::Value;

const LINES: usize = 15;

/// The workspace's sources need their own features alone, so the package has a workspace of its own.
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

const FEATURES: &str = r#"["acp-agent", "acp-client", "http-server", "mcp-server", "stdio"]"#;

#[test]
fn each_mistake_is_explained_by_the_compiler() {
    let programs = programs();
    let errors = compile(&programs);
    let mut complaints = Vec::new();
    for (name, path) in &programs {
        let errors = errors.get(name).map_or(&[][..], Vec::as_slice);
        complaints.extend(complain(&fs::read_to_string(path).expect("it was listed"), errors, name));
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n\n"));
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests is in the workspace").to_owned()
}

fn programs() -> BTreeMap<String, PathBuf> {
    let files = fs::read_dir(root().join("tests/tests/wrong")).expect("the folder is there");
    let paths = files.map(|file| file.expect("it can be listed").path());
    let programs: BTreeMap<_, _> =
        paths.filter_map(|path| Some((path.file_stem()?.to_str()?.to_owned(), path))).collect();
    assert!(programs.len() >= 12, "{programs:?}");
    programs
}

/// Returns the errors of each program, from one run of cargo.
fn compile(programs: &BTreeMap<String, PathBuf>) -> BTreeMap<String, Vec<String>> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("wrong-programs");
    fs::create_dir_all(&folder).expect("the folder can be made");
    let facade = root().join("crates/agentwire");
    let mut manifest = format!("{MANIFEST}agentwire = {{ path = {facade:?}, features = {FEATURES} }}\n");
    for (name, path) in programs {
        manifest += &format!("\n[[bin]]\nname = {name:?}\npath = {path:?}\n");
    }
    fs::write(folder.join("Cargo.toml"), manifest).expect("it can be written");
    // The same versions, which are there already.
    fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock")).expect("it can be copied");
    let output = cargo()
        .args(["check", "--offline", "--bins", "--keep-going", "--message-format=json", "--quiet"])
        .current_dir(&folder)
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .env_remove("RUSTFLAGS")
        .output()
        .expect("cargo runs");
    let mut errors = BTreeMap::<_, Vec<_>>::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let message: Value = serde_json::from_str(line).expect("cargo writes JSON");
        let rendered = message["message"]["rendered"].as_str().unwrap_or_default();
        if message["message"]["level"] == "error" && rendered.contains("-->") {
            let program = message["target"]["name"].as_str().unwrap_or_default().to_owned();
            errors.entry(program).or_default().push(rendered.trim_end().to_owned());
        }
    }
    assert!(!errors.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    errors
}

/// What is missing in the errors of a program, and which of them are too long.
fn complain(program: &str, errors: &[String], name: &str) -> Vec<String> {
    let expected: Vec<_> = program.lines().filter_map(|line| line.strip_prefix("//~ ")).collect();
    assert!(!expected.is_empty(), "{name} expects nothing");
    let mut most = LINES;
    let mut complaints = Vec::new();
    for expected in expected {
        if let Some(allowed) = expected.strip_prefix("lines: ") {
            most = allowed.split(',').next().and_then(|lines| lines.parse().ok()).expect("a number");
        } else if !errors.iter().any(|error| error.contains(expected)) {
            complaints.push(format!("{name}: no error says `{expected}`:\n{}", errors.join("\n")));
        }
    }
    // Of a type with a long path, cargo's folder for the rest of its name is told. That depends on the path alone.
    let about_names =
        |line: &&str| line.contains("the full name for the type") || line.contains("`--verbose`");
    for error in errors {
        let lines = error.lines().filter(|line| !about_names(line)).count();
        if lines > most {
            complaints.push(format!("{name}: {lines} lines, at most {most}:\n{error}"));
        }
    }
    complaints
}

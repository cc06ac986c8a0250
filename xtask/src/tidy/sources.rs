//! Rust files: words that postpone work, and how they read JSON.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::code::code;
use super::violation::Violation;

/// Text that fails the check. It is split here, so that this file passes.
const FORBIDDEN: [&str; 3] = [concat!("todo", "!("), concat!("unimplemented", "!("), concat!("#[", "ignore")];

/// The beginning of the attribute of an ignored test, before its reason.
const IGNORED: &str = concat!("#[", "ignore = \"");

/// The reason of a test that a step of `cargo xtask ci --weekly` runs.
const LONG: &str = "takes minutes: cargo xtask ci long";

/// The beginning and the end of the reason of a test that needs a program, which the step `redis-tests` of `cargo xtask ci` runs.
const NEEDS: (&str, &str) = ("needs ", ": cargo xtask ci redis-tests");

/// The crate that reads a peer's JSON.
const READER: &str = "crates/core/jsonrpc/src/";

/// Other readers of JSON. They give a meaning of their own to members of certain names.
const OTHER_READERS: [&str; 5] =
    ["from_str", "from_slice", "from_reader", "Deserializer", "StreamDeserializer"];

/// The suite that judges others reads their JSON by itself, so that a fault of ours is not repeated.
const JUDGE: &str = "crates/tools/conformance/";
/// The beginning of a comment, on the line before, with the reason why another reader is safe.
const READS_NO_PEER: &str = "// read: ";

/// A Rust file, its path relative to where the search began.
pub(super) struct Source {
    pub(super) path: String,
    pub(super) text: String,
    /// The text without comments, literals and test modules.
    pub(super) code: String,
}

impl Source {
    pub(super) fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { path: path.into(), code: code(&text), text }
    }

    /// Whether the file is part of a crate, and not of its tests.
    pub(super) fn is_in_crate(&self) -> bool {
        let is_test = self.path.contains("/tests/") || self.path.ends_with("/tests.rs");
        self.path.starts_with("crates/") && self.path.contains("/src/") && !is_test
    }
}

/// The path of a file, relative to where the search began, and its text.
pub(super) type Text<'a> = (&'a str, &'a str);

/// All Rust files below a folder, except those that were built or fetched.
pub(super) fn read(root: &Path) -> Result<Vec<Source>> {
    Ok(files(root, ".rs")?.into_iter().map(|(path, text)| Source::new(path, text)).collect())
}

/// All documents below a folder, except those that were built, fetched or generated from Rust files.
pub(super) fn documents(root: &Path) -> Result<Vec<(String, String)>> {
    let mut documents = files(root, ".md")?;
    documents.retain(|(path, _)| !path.starts_with("docs/reference/"));
    Ok(documents)
}

/// The files below a folder whose names end like this, by path.
fn files(root: &Path, end: &str) -> Result<Vec<(String, String)>> {
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(root.join(&folder))? {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let path = folder.join(&*name);
            if entry.file_type()?.is_dir() {
                if !name.starts_with('.') && name != "target" && name != "node_modules" {
                    folders.push(path);
                }
            } else if name.ends_with(end) {
                files.push((path.display().to_string(), std::fs::read_to_string(root.join(&path))?));
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Files that postpone work, or that read JSON in another way than the project's own.
pub(super) fn check(sources: &[Source]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for source in sources {
        let Source { path, text, .. } = source;
        for (number, line) in (1..).zip(text.lines()) {
            let forbidden = |word: &&str| line.contains(*word) && !is_run_by_a_step(source, line);
            for word in FORBIDDEN.into_iter().filter(forbidden) {
                violations.push(Violation::new(format!("{path}:{number}"), "words", format!("`{word}`")));
            }
        }
        violations.extend(other_readers(source));
    }
    violations
}

/// Whether a line ignores a test for a reason with which a step runs it. The steps select the tests by their path: `long` is a module
/// of those that take minutes.
fn is_run_by_a_step(source: &Source, line: &str) -> bool {
    let attribute = line.trim().strip_prefix(IGNORED);
    match attribute.and_then(|rest| rest.strip_suffix("\"]")) {
        Some(LONG) => source.path.ends_with("/long.rs") || source.text.contains("mod long {"),
        Some(reason) => reason.starts_with(NEEDS.0) && reason.ends_with(NEEDS.1),
        None => false,
    }
}

/// Lines of our crates that read JSON in another way than by `agentwire_jsonrpc::read`. A comment on the line before,
/// `// read: ` and a reason, allows it; tests need none.
fn other_readers(source: &Source) -> Vec<Violation> {
    if !source.is_in_crate() || source.path.starts_with(READER) || source.path.starts_with(JUDGE) {
        return Vec::new();
    }
    let mut violations = Vec::new();
    let mut before = "";
    for (number, (line, code)) in (1..).zip(source.text.lines().zip(source.code.lines())) {
        if !before.trim_start().starts_with(READS_NO_PEER) && is_other_reader(code) {
            let what = "read a peer's JSON by `agentwire_jsonrpc::read`, or say why not: `// read: …`";
            violations.push(Violation::new(format!("{}:{number}", source.path), "reading", what));
        }
        before = line;
    }
    violations
}

fn is_other_reader(line: &str) -> bool {
    let named = line.split("serde_json::").skip(1).any(|path| match path.split_once(';') {
        // An import names several things after the crate.
        Some((imports, _)) if line.contains("use ") => {
            imports.contains("de::") || OTHER_READERS.iter().any(|word| imports.contains(word))
        }
        _ => OTHER_READERS.iter().any(|word| path.starts_with(word)) || path.starts_with("de::"),
    });
    named || line.contains("parse::<Value>") || line.contains("parse::<serde_json::Value>")
}

/// A file by its path from the root.
pub(super) fn text(root: &Path, path: &str) -> Result<String> {
    std::fs::read_to_string(root.join(path)).with_context(|| format!("cannot read {path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: impl Into<String>) -> [Source; 1] {
        [Source::new("src/lib.rs", text)]
    }

    #[test]
    fn ways_to_read_json() {
        let check_at = |path: &str, text: &str| check(&[Source::new(path, text)]).len();
        for line in [
            "let value: Value = serde_json::from_str(text)?;",
            "    let mut reader = serde_json::Deserializer::from_str(text);",
            "use serde_json::{Value, from_slice};",
            "use serde_json::de::StrRead;",
            "let value = text.parse::<Value>()?;",
            "said.map(serde_json::from_reader)",
        ] {
            assert_eq!(check_at("crates/tools/cli/src/a.rs", line), 1, "{line}");
            assert_eq!(
                check_at("crates/tools/cli/src/a.rs", &format!("// read: a file of ours.\n{line}")),
                0,
                "{line}"
            );
            assert_eq!(check_at("crates/tools/cli/src/a.rs", &format!("// Why.\n{line}")), 1, "{line}");
            assert_eq!(
                check_at(
                    "crates/tools/cli/src/a.rs",
                    &format!("/// {line}\n#[cfg(test)]\nmod tests {{\n{line}\n}}")
                ),
                0,
                "{line}"
            );
            for elsewhere in
                ["crates/core/jsonrpc/src/raw.rs", "crates/tools/cli/tests/it/a.rs", "tests/src/lib.rs"]
            {
                assert_eq!(check_at(elsewhere, line), 0, "{elsewhere}");
            }
        }
        for line in ["serde_json::to_string(&value)", "use serde_json::{Map, Value};", "text.parse::<f64>()"]
        {
            assert_eq!(check_at("crates/tools/cli/src/a.rs", line), 0, "{line}");
        }
    }

    #[test]
    fn words_that_postpone() {
        assert_eq!(check(&source("fn f() -> u8 { 1 } // not to do, done")), []);
        for word in FORBIDDEN {
            let found = check(&source(format!("fn f() {{}}\n{word}")));
            assert_eq!(found.len(), 1, "{word}");
            assert_eq!(found[0].file, "src/lib.rs:2");
        }
    }

    #[test]
    fn ignored_tests_are_run_by_a_step() {
        let violations = |path: &str, text: &str| check(&[Source::new(path, text)]).len();
        let long = format!("    {IGNORED}{LONG}\"]\n");
        assert_eq!(violations("tests/it/a.rs", &long), 1);
        assert_eq!(violations("tests/it/a.rs", &format!("mod long {{\n{long}}}\n")), 0);
        assert_eq!(violations("tests/it/a/long.rs", &long), 0);
        let needs = |reason: &str| violations("tests/it/a.rs", &format!("{IGNORED}{reason}\"]\n"));
        assert_eq!(needs("needs redis-server: cargo xtask ci redis-tests"), 0);
        assert_eq!(needs("needs redis-server"), 1);
        assert_eq!(needs("flaky: cargo xtask ci redis-tests"), 1);
    }
}

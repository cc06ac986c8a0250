//! Rust files: their length, and words that postpone work.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::Violation;

/// A file longer than this fails; it holds more than one idea.
const TOO_LONG: usize = 600;

/// A file longer than this is listed.
const LONG: usize = 400;

/// What may stand nowhere. Split, or this file would break its own rule.
const FORBIDDEN: [&str; 3] = [concat!("todo", "!("), concat!("unimplemented", "!("), concat!("#[", "ignore")];

/// A Rust file, its path relative to where the search began.
pub(super) struct Source {
    pub(super) path: String,
    pub(super) text: String,
}

/// All Rust files below a folder, but none that were built or fetched.
pub(super) fn read(root: &Path) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
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
            } else if name.ends_with(".rs") {
                let text = std::fs::read_to_string(root.join(&path))?;
                sources.push(Source { path: path.display().to_string(), text });
            }
        }
    }
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(sources)
}

/// Files that are too long or say what they must not.
pub(super) fn check(sources: &[Source]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for Source { path, text } in sources {
        let lines = text.lines().count();
        if lines > TOO_LONG {
            violations.push(Violation::new(path, "length", format!("{lines} lines, at most {TOO_LONG}")));
        }
        for (number, line) in (1..).zip(text.lines()) {
            for word in FORBIDDEN.into_iter().filter(|word| line.contains(word)) {
                violations.push(Violation::new(format!("{path}:{number}"), "words", format!("`{word}`")));
            }
        }
    }
    violations
}

/// Files that are long, but not too long, with their lines.
pub(super) fn long(sources: &[Source]) -> Vec<(&str, usize)> {
    let lengths = sources.iter().map(|source| (source.path.as_str(), source.text.lines().count()));
    lengths.filter(|(_, lines)| (LONG + 1..=TOO_LONG).contains(lines)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: impl Into<String>) -> [Source; 1] {
        [Source { path: "src/lib.rs".into(), text: text.into() }]
    }

    #[test]
    fn lengths() {
        assert_eq!(check(&source("//\n".repeat(600))), []);
        assert_eq!(check(&source("//\n".repeat(601))).len(), 1);
        assert_eq!(long(&source("//\n".repeat(400))).len(), 0);
        assert_eq!(long(&source("//\n".repeat(401))).len(), 1);
        assert_eq!(long(&source("//\n".repeat(601))).len(), 0, "that one is a violation");
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
}

//! The predicates of `cfg` in a crate's code, and whether a choice of features changes one of them.
//!
//! Conditions other than features, such as the system, hold. Those of tests are left out.

use std::collections::{BTreeMap, BTreeSet};

/// Conditions that no build of a program has.
const OF_TESTS: [&str; 3] = ["doctest", "docsrs", "test"];

/// The predicates of a crate.
#[derive(Default)]
pub(super) struct Predicates<'a> {
    /// Each with the module of its file.
    all: Vec<(String, &'a str)>,
    /// Those of the declarations of modules.
    modules: BTreeMap<String, &'a str>,
}

impl<'a> Predicates<'a> {
    /// Reads the files of a crate, whose paths begin below `src/`.
    pub(super) fn read(files: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let mut this = Self::default();
        for (path, text) in files {
            let module = module_path(path);
            for (at, _) in text.match_indices("cfg") {
                let line = text[..at].rsplit('\n').next().unwrap_or_default();
                let rest = &text[at + "cfg".len()..];
                let rest = rest.strip_prefix("_attr").or_else(|| rest.strip_prefix('!')).unwrap_or(rest);
                let Some(predicate) = rest.strip_prefix('(').filter(|_| !line.contains("//")) else {
                    continue;
                };
                let (_, after) = evaluate(predicate, &BTreeSet::new());
                if let Some(child) = after.strip_prefix(")]").and_then(declared_module) {
                    this.modules.insert(format!("{module}{child}/"), predicate);
                }
                this.all.push((module.clone(), &predicate[..predicate.len() - after.len()]));
            }
        }
        this.all.retain(|(_, predicate)| !words(predicate).any(|word| OF_TESTS.contains(&word)));
        this
    }

    /// Whether a predicate names a feature.
    pub(super) fn names(&self, feature: &str) -> bool {
        let named = format!("\"{feature}\"");
        self.all.iter().any(|(_, predicate)| predicate.contains(&named))
    }

    /// Whether a predicate differs between two choices of features.
    pub(super) fn differ(&self, one: &BTreeSet<&str>, other: &BTreeSet<&str>) -> bool {
        let holds = |module: &str, predicate: &str, on: &BTreeSet<&str>| {
            let above = self.modules.iter().filter(|(gated, _)| module.starts_with(*gated));
            evaluate(predicate, on).0 && above.into_iter().all(|(_, predicate)| evaluate(predicate, on).0)
        };
        self.all
            .iter()
            .any(|(module, predicate)| holds(module, predicate, one) != holds(module, predicate, other))
    }
}

/// A module's names from the root on, each with a `/` behind it.
fn module_path(path: &str) -> String {
    let path = path.trim_end_matches(".rs");
    match path.strip_suffix("mod").unwrap_or(path) {
        "lib" | "main" => String::new(),
        folder if folder.ends_with('/') => folder.to_owned(),
        file => format!("{file}/"),
    }
}

/// The name of the module that follows an attribute, if its code is in another file.
fn declared_module(text: &str) -> Option<&str> {
    let mut text = text.trim_start();
    while let Some(attribute) = text.strip_prefix("#[") {
        text = attribute.split_once("]\n")?.1.trim_start();
    }
    let (before, name) = text.split_once(';')?.0.rsplit_once(' ')?;
    let is_module = before.rsplit(' ').next() == Some("mod") && !before.contains('\n');
    is_module.then_some(name)
}

/// The unquoted words of a predicate.
fn words(predicate: &str) -> impl Iterator<Item = &str> {
    let outside = predicate.split('"').step_by(2);
    outside.flat_map(|text| text.split(|character: char| !character.is_alphanumeric() && character != '_'))
}

/// Whether the predicate at the start of a text holds, and the text behind it.
fn evaluate<'a>(text: &'a str, on: &BTreeSet<&str>) -> (bool, &'a str) {
    let text = text.trim_start();
    let end =
        text.find(|character: char| !character.is_alphanumeric() && character != '_').unwrap_or(text.len());
    let (word, mut rest) = text.split_at(end);
    if let Some(value) =
        rest.trim_start().strip_prefix('=').and_then(|value| value.trim_start().strip_prefix('"'))
    {
        let (value, rest) = value.split_once('"').unwrap_or((value, ""));
        return (word != "feature" || on.contains(value), rest);
    }
    let mut parts = Vec::new();
    while let Some(part) = rest.strip_prefix(if parts.is_empty() { '(' } else { ',' }) {
        // The last part may have a comma behind it.
        if part.trim_start().starts_with(')') {
            rest = part;
            break;
        }
        let (holds, after) = evaluate(part, on);
        parts.push(holds);
        rest = after.trim_start();
    }
    let behind = rest.trim_start().strip_prefix(')').unwrap_or(rest);
    match word {
        "all" => (parts.iter().all(|holds| *holds), behind),
        "any" => (parts.contains(&true), behind),
        "not" => (!parts.contains(&true), behind),
        word => (!OF_TESTS.contains(&word), rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differ(files: &[(&str, &str)], with: &[&str], without: &[&str]) -> bool {
        let predicates = Predicates::read(files.iter().copied());
        predicates.differ(&with.iter().copied().collect(), &without.iter().copied().collect())
    }

    #[test]
    fn predicates_are_evaluated() {
        for (predicate, alone, with_b) in [
            (r#"feature = "a""#, true, true),
            (r#"not(feature = "a")"#, true, true),
            (r#"all(feature = "a", feature = "b")"#, false, true),
            (r#"any(feature = "a", feature = "b",)"#, true, false),
            (r#"all(target_os = "linux", feature = "a")"#, true, true),
            (r#"any(not(all(unix, feature = "a")), feature="b")"#, true, false),
            (r#"all(test, feature = "a")"#, false, false),
            (r#"feature = "b""#, false, false),
        ] {
            for text in [format!("#[cfg({predicate})]\nfn x() {{}}"), format!("if cfg!({predicate}) {{}}")] {
                assert_eq!(differ(&[("lib.rs", &text)], &["a"], &[]), alone, "{text}");
                assert_eq!(differ(&[("lib.rs", &text)], &["a", "b"], &["b"]), with_b, "{text}");
            }
        }
        let attribute =
            r#"#![cfg_attr(all(feature = "a", unix), expect(dead_code, reason = "feature = \"b\""))]"#;
        assert!(differ(&[("lib.rs", attribute)], &["a"], &[]));
        assert!(!differ(&[("lib.rs", "// #[cfg(feature = \"a\")]")], &["a"], &[]));
    }

    #[test]
    fn code_of_a_module_needs_the_features_of_the_module() {
        let root = "#[cfg(feature = \"b\")]\n#[rustfmt::skip]\npub(crate) mod x;\n#[cfg(feature = \"b\")]\nmod z {}\n";
        for path in ["x.rs", "x/mod.rs", "x/y.rs", "x/y/mod.rs"] {
            let files = [("lib.rs", root), (path, "#[cfg(feature = \"a\")]\nfn f() {}\n")];
            assert!(!differ(&files, &["a"], &[]), "{path}");
            assert!(differ(&files, &["a", "b"], &["b"]), "{path}");
        }
        let files = [("lib.rs", root), ("xx.rs", "#[cfg(feature = \"a\")]\nfn f() {}\n")];
        assert!(differ(&files, &["a"], &[]));
    }
}

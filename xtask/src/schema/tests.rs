//! Tests the generated schemas and reference pages as a whole.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use super::document::{ProtocolSchema, walk};
use super::{check, everything, files, write};

#[test]
fn references_resolve_and_definitions_have_descriptions() {
    for published in everything().unwrap() {
        let ProtocolSchema { protocol, version, document, .. } = &published;
        let has_no_description =
            |definition: &Value| definition["description"].as_str().is_none_or(str::is_empty);
        let silent: Vec<&String> = published
            .definitions()
            .filter(|(_, one)| has_no_description(one))
            .map(|(name, _)| name)
            .collect();
        assert!(silent.is_empty(), "{protocol} {version}: no description: {silent:?}");
        assert!(published.definitions().count() > 20, "{protocol} {version}");
        walk(document, &mut |name, member| {
            if name == "$ref"
                && let Some(target) = member.as_str()
            {
                let pointer = target.strip_prefix('#').unwrap();
                assert!(document.pointer(pointer).is_some(), "{protocol} {version}: {target} does not exist");
            }
            assert_ne!(name, "x-open", "{protocol} {version}");
            if name == "description"
                && let Some(text) = member.as_str()
            {
                assert!(
                    !text.contains("](super") && !text.contains("](crate") && !text.contains("[`"),
                    "{text}"
                );
            }
        });
    }
}

#[test]
fn method_tables_name_definitions() {
    for published in everything().unwrap() {
        let methods = published.meta["methods"].as_array().unwrap();
        assert!(methods.len() > 3, "{} {}", published.protocol, published.version);
        for method in methods {
            for key in ["params", "result"] {
                if let Some(name) = method[key].as_str().filter(|_| method.get("extension").is_none()) {
                    let ProtocolSchema { protocol, version, .. } = &published;
                    let found = published.definition(name).is_some();
                    assert!(found, "{protocol} {version}: {} has no definition {name}", method["method"]);
                }
            }
        }
    }
}

#[test]
fn pages_have_no_rust_and_describe_each_type() {
    for (name, page) in files(&everything().unwrap()).unwrap() {
        if !name.ends_with(".md") {
            continue;
        }
        assert!(!page.contains("```"), "{name} has code");
        for line in page.lines() {
            let mut spans = line.split('`').skip(1).step_by(2);
            assert!(!spans.any(|span| span.contains("::")), "{name} has a Rust path: {line}");
        }
        let types = page.split("\n## ").skip(1).filter(|_| !name.ends_with("README.md"));
        for text in types {
            let first = text.lines().skip(1).find(|line| !line.is_empty()).unwrap_or_default();
            let is_silent = ["", "One of:", "And one of:"].contains(&first)
                || ["|", "- ", "Type:"].iter().any(|begin| first.starts_with(begin));
            assert!(!is_silent, "{name} has a type without a description: {text}");
        }
    }
}

#[test]
fn stale_missing_and_unknown_files_are_found() {
    let root = tempfile::tempdir().unwrap();
    let file = |text: &str| BTreeMap::from([("docs/schema/acp/v1.json".to_owned(), text.to_owned())]);
    assert!(check(root.path(), &file("1\n")).is_err(), "missing");
    write(root.path(), &file("1\n")).unwrap();
    check(root.path(), &file("1\n")).unwrap();
    assert!(check(root.path(), &file("2\n")).is_err(), "stale");
    fs::write(root.path().join("docs/schema/acp/v0.json"), "1\n").unwrap();
    assert!(check(root.path(), &file("1\n")).is_err(), "unknown");
    write(root.path(), &file("1\n")).unwrap();
    check(root.path(), &file("1\n")).unwrap();
}

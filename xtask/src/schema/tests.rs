use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use super::{Published, check, everything, files, write};

/// Calls `visit` with each member of each object.
fn members(value: &Value, visit: &mut dyn FnMut(&str, &Value)) {
    match value {
        Value::Object(object) => {
            for (name, member) in object {
                visit(name, member);
                members(member, visit);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| members(item, visit)),
        _ => {}
    }
}

#[test]
fn documents_are_whole_and_keep_nothing_to_themselves() {
    for published in everything().unwrap() {
        let Published { protocol, version, document, .. } = &published;
        let says_nothing = |definition: &Value| definition["description"].as_str().is_none_or(str::is_empty);
        let silent: Vec<&String> =
            published.definitions().filter(|(_, one)| says_nothing(one)).map(|(name, _)| name).collect();
        assert!(silent.is_empty(), "{protocol} {version}: nothing says what these are: {silent:?}");
        assert!(published.definitions().count() > 20, "{protocol} {version}");
        members(document, &mut |name, member| {
            if name == "$ref"
                && let Some(target) = member.as_str()
            {
                let pointer = target.strip_prefix('#').unwrap();
                assert!(document.pointer(pointer).is_some(), "{protocol} {version}: {target} is nowhere");
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
                    let Published { protocol, version, .. } = &published;
                    let found = published.definition(name).is_some();
                    assert!(found, "{protocol} {version}: {} has no definition {name}", method["method"]);
                }
            }
        }
    }
}

/// Pages are for people, who need not know Rust.
#[test]
fn pages_speak_of_the_wire_and_say_what_each_type_is() {
    for (name, page) in files(&everything().unwrap()).unwrap() {
        if !name.ends_with(".md") {
            continue;
        }
        assert!(!page.contains("```"), "{name} has code");
        for line in page.lines() {
            let mut spans = line.split('`').skip(1).step_by(2);
            assert!(!spans.any(|span| span.contains("::")), "{name} speaks Rust: {line}");
        }
        let types = page.split("\n## ").skip(1).filter(|_| !name.ends_with("README.md"));
        for text in types {
            let first = text.lines().skip(1).find(|line| !line.is_empty()).unwrap_or_default();
            let is_silent = ["", "One of:", "And one of:"].contains(&first)
                || ["|", "- ", "Type:"].iter().any(|begin| first.starts_with(begin));
            assert!(!is_silent, "{name} does not say what this is: {text}");
        }
    }
}

#[test]
fn a_file_that_is_stale_missing_or_a_stranger_is_found() {
    let root = tempfile::tempdir().unwrap();
    let file = |text: &str| BTreeMap::from([("docs/schema/acp/v1.json".to_owned(), text.to_owned())]);
    assert!(check(root.path(), &file("1\n")).is_err(), "missing");
    write(root.path(), &file("1\n")).unwrap();
    check(root.path(), &file("1\n")).unwrap();
    assert!(check(root.path(), &file("2\n")).is_err(), "stale");
    fs::write(root.path().join("docs/schema/acp/v0.json"), "1\n").unwrap();
    assert!(check(root.path(), &file("1\n")).is_err(), "a stranger");
    write(root.path(), &file("1\n")).unwrap();
    check(root.path(), &file("1\n")).unwrap();
}

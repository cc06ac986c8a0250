//! The claims of the page of layers about what is absent, and the setters of the table of limits, checked in the sources.
//!
//! The document has a table whose first column begins with a claim in bold and whose last column names the exceptions, each
//! a path below `crates` in backticks. Each claim has one check here. A row without a check, a check without a row, and an
//! exception that nothing needs are violations, so the table cannot differ from the sources.

use std::collections::BTreeMap;

use super::packages::architecture::{LAYERS, code_spans};
use super::sources::Source;
use super::violation::Violation;

/// The table of limits, by its path from the project's root.
pub(super) const LIMITS: &str = "docs/limits.md";

/// A claim, and whether the code of a line goes against it. The second argument is the line before.
type Claim = (&'static str, fn(&str, &str) -> bool);

const CLAIMS: [Claim; 7] = [
    ("Global state", has_global_state),
    ("Threads and tasks", starts_a_task),
    ("Unbounded channels", |line, _| contains_any(line, &["mpsc::unbounded(", "unbounded_channel("])),
    ("Branches on MCP's revision", |line, _| {
        contains_any(line, &["is_modern()", "::is_modern", "Revision::V2"])
    }),
    ("Features that take something away", |line, before| {
        is_cfg_not_feature(before) && line.trim().starts_with("pub ")
    }),
    ("Panics", |line, _| contains_any(line, &[".unwrap()", ".unwrap_err()", "panic!(", "unreachable!("])),
    ("Decisions by the text of an error", decides_by_text),
];

/// Types of a `static` that can change after it was made.
const MUTABLE: [&str; 8] = ["Atomic", "Cell", "Condvar", "Lock<", "Mutex", "OnceCell", "OnceLock", "RefCell"];

fn has_global_state(line: &str, _: &str) -> bool {
    let declared = line.split_once("static ").filter(|(before, _)| !before.ends_with(['\'', '_']));
    // A `LazyLock` makes one value and never another.
    let is_mutable = |(_, rest): (&str, &str)| {
        rest.contains(':') && contains_any(&rest.replace("LazyLock<", ""), &MUTABLE)
    };
    declared.is_some_and(is_mutable) || contains_any(line, &["thread_local!", "task_local!"])
}

fn starts_a_task(line: &str, _: &str) -> bool {
    const STARTS: [&str; 10] = [
        "thread::spawn",
        "thread::Builder",
        "spawn_blocking",
        "spawn_local",
        "tokio::spawn",
        "task::spawn",
        "Handle::try_current",
        "Handle::current",
        "TokioExecutor",
        "JoinSet",
    ];
    contains_any(line, &STARTS) && !line.trim_start().starts_with("use ")
}

fn is_cfg_not_feature(line: &str) -> bool {
    line.contains("cfg(not(feature")
}

fn decides_by_text(line: &str, _: &str) -> bool {
    let tests = [".contains(", ".starts_with(", ".ends_with("];
    ["to_string()", ".message", ".message()"]
        .iter()
        .any(|text| tests.iter().any(|test| line.contains(&format!("{text}{test}"))))
}

fn contains_any(line: &str, words: &[&str]) -> bool {
    words.iter().any(|word| line.contains(word))
}

/// Checks the sources by the table of the document.
pub(super) fn check(document: &str, sources: &[Source]) -> Vec<Violation> {
    check_claims(document, sources, &CLAIMS)
}

fn check_claims(document: &str, sources: &[Source], claims: &[Claim]) -> Vec<Violation> {
    let wrong = |what: String| Violation::new(LAYERS, "claims", what);
    let rows = rows(document);
    let unknown = rows.keys().filter(|name| claims.iter().all(|(known, _)| known != *name));
    let mut violations: Vec<_> =
        unknown.map(|name| wrong(format!("no check for the claim `{name}`"))).collect();
    for (name, goes_against) in claims {
        let Some(exceptions) = rows.get(name) else {
            violations.push(wrong(format!("the table has no row `{name}`")));
            continue;
        };
        let mut needed = vec![false; exceptions.len()];
        for source in sources.iter().filter(|source| source.is_in_crate()) {
            let mut before = "";
            for (number, line) in (1..).zip(source.code.lines()) {
                if goes_against(line, before) {
                    match exceptions.iter().position(|exception| covers(exception, &source.path)) {
                        Some(index) => needed[index] = true,
                        None => violations.push(Violation::new(
                            format!("{}:{number}", source.path),
                            "claims",
                            format!("{name}: {LAYERS} says that there is none here"),
                        )),
                    }
                }
                before = line;
            }
        }
        let unneeded = exceptions.iter().zip(needed).filter(|(_, needed)| !needed);
        violations.extend(
            unneeded
                .map(|(exception, _)| wrong(format!("{name}: the exception `{exception}` is not needed"))),
        );
    }
    violations
}

/// Whether a path below `crates` is, or is within, an exception.
fn covers(exception: &str, path: &str) -> bool {
    let rest = path.strip_prefix("crates/").and_then(|path| path.strip_prefix(exception));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The exceptions of each claim.
fn rows(document: &str) -> BTreeMap<&str, Vec<&str>> {
    let section = document.split("\n## ").find(|section| section.starts_with("What is absent on purpose"));
    let rows = section.into_iter().flat_map(str::lines).filter_map(|line| {
        let (name, rest) = line.strip_prefix("| **")?.split_once("**")?;
        let exceptions = rest.trim_end().trim_end_matches('|').rsplit_once('|')?.1;
        Some((name, code_spans(exceptions)))
    });
    rows.collect()
}

/// Setters and constants that the table of limits names and no crate has.
pub(super) fn limits(document: &str, sources: &[Source]) -> Vec<Violation> {
    let rows = document.lines().filter_map(|line| line.trim_end().strip_suffix('|'));
    let named = rows.filter_map(|row| row.rsplit_once('|')).flat_map(|(_, place)| code_spans(place));
    let items = named.filter_map(|span| span.rsplit_once("::").map(|(_, item)| (span, item)));
    let exists = |item: &str| {
        let declarations = [format!("fn {item}("), format!("const {item}:"), format!("struct {item}")];
        // `Build` makes a setter of a field, which may have another name.
        let setters = [format!(" {item}: "), format!("name = {item},"), format!("name = {item})")];
        let contains =
            |source: &Source, texts: &[String]| texts.iter().any(|text| source.code.contains(text));
        sources.iter().filter(|source| source.is_in_crate()).any(|source| {
            contains(source, &declarations) || source.code.contains("Build)]") && contains(source, &setters)
        })
    };
    items
        .filter(|(_, item)| !exists(item))
        .map(|(span, _)| Violation::new(LIMITS, "limits", format!("no crate has `{span}`")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = "\
# Layers

## What is absent on purpose

| what | exceptions |
|---|---|
| **Global state**: a `static` that can change | `a/src/known.rs`: why |
";

    fn global_state(sources: &[Source]) -> Vec<String> {
        let violations = check_claims(DOCUMENT, sources, &CLAIMS[..1]);
        violations.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn exceptions_are_named_and_needed() {
        let changes = "static COUNT: AtomicU64 = AtomicU64::new(0);";
        let known = Source::new("crates/a/src/known.rs", changes);
        assert_eq!(global_state(std::slice::from_ref(&known)).len(), 0);
        let other = Source::new("crates/a/src/other.rs", format!("\n{changes}"));
        assert!(
            global_state(&[known, other])[0].starts_with("crates/a/src/other.rs:2: claims: Global state")
        );
        assert_eq!(
            global_state(&[]),
            ["docs/layers.md: claims: Global state: the exception `a/src/known.rs` is not needed"]
        );
    }

    #[test]
    fn a_row_has_a_check_and_a_check_has_a_row() {
        assert!(check_claims(DOCUMENT, &[], &[]).iter().any(|violation| violation.what.contains("no check")));
        assert!(check_claims("", &[], &CLAIMS).iter().all(|violation| violation.what.contains("no row")));
    }

    #[test]
    fn each_check_finds_its_own_violations_only() {
        let against = |name: &str, line: &str, before: &str| {
            let (_, check) = CLAIMS.iter().find(|(known, _)| *known == name).unwrap();
            check(line, before)
        };
        for (name, before, found, passed) in [
            (
                "Global state",
                "",
                "static A: Mutex<u8> = Mutex::new(0);",
                "static A: LazyLock<Finder<'static>> = b();",
            ),
            ("Global state", "", "thread_local! {", "fn f(x: &'static Mutex<u8>) {}"),
            ("Threads and tasks", "", "tokio::spawn(work)", "spawner.spawn(work)"),
            ("Unbounded channels", "", "let (a, b) = mpsc::unbounded();", "use mpsc::UnboundedSender;"),
            ("Branches on MCP's revision", "", "if revision.is_modern() {", "let modern = true;"),
            (
                "Features that take something away",
                "#[cfg(not(feature = ))]",
                "pub fn f() {}",
                "pub(crate) fn f() {}",
            ),
            ("Panics", "", "x.unwrap()", "x.unwrap_or(1)"),
            ("Decisions by the text of an error", "", "error.to_string().contains( )", "name.contains( )"),
        ] {
            assert!(against(name, found, before), "{name}: {found}");
            assert!(!against(name, passed, before), "{name}: {passed}");
        }
        assert!(!against("Features that take something away", "pub fn f() {}", ""));
    }

    #[test]
    fn limits_name_what_there_is() {
        let here = Source::new("crates/a/src/lib.rs", "pub fn limit(self, bytes: usize) {}");
        let table = "| what | default | where |\n|---|---|---|\n| a line | 32 MiB | `Lines::limit` |\n";
        assert_eq!(limits(table, &[here]), []);
        let derived =
            "#[derive(Build)]\npub struct Lines {\n    #[build(name = limit)]\n    bytes: usize,\n}";
        assert_eq!(limits(table, &[Source::new("crates/a/src/lib.rs", derived)]), []);
        assert_eq!(
            limits(table, &[Source::new("crates/a/src/lib.rs", "struct A { limit: usize }")]).len(),
            1
        );
        assert_eq!(limits(table, &[]).len(), 1);
    }
}

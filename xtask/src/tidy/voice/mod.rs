//! Phrases of comments, documents and names of tests that make a reader stop, counted for each crate.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};

use super::sources::Text;
use super::violation::Violation;

/// The counts of today: a package's folder, or a file or folder of documents, and a number for each of `HABITS`. They may only fall.
const COUNTS: &str = include_str!("counts.txt");

/// The counted habits, in the order of the columns, and the text to write instead.
const HABITS: [(&str, &str); 5] = [
    ("opening", "a noun, as \"The registered tools.\", or \"Returns\": \"Whether\" is for predicates"),
    ("verb", "the mechanism: sends, returns, reports, contains, receives"),
    ("absence", "\"`None` if …\""),
    ("pronoun", "the subject; again; while; \"is not a\""),
    ("test", "subject and outcome"),
];

/// The words and phrases of the columns `verb`, `absence` and `pronoun`.
const PHRASES: [(usize, &[&str]); 3] = [
    (1, &["says", "tells", "told", "hears", "heard"]),
    (2, &["none where", "where there is none"]),
    (3, &["nobody", "whoever", "anew", "meanwhile", "is no"]),
];

/// Phrases that begin like one of the list and are plain English.
const PLAIN: [&str; 2] = ["is no longer", "there is no"];

/// The beginnings of the names of tests that ask instead of naming an outcome.
const QUESTIONS: [&str; 3] = ["fn what_", "fn who_", "fn where_"];

type Counts = [Vec<String>; HABITS.len()];

/// Compares the habits of Rust files and documents with the counts of the repository.
pub(super) fn check(texts: &[Text<'_>]) -> Result<Vec<Violation>> {
    compare(COUNTS, texts)
}

fn compare(list: &str, texts: &[Text<'_>]) -> Result<Vec<Violation>> {
    let mut known = parse(list)?;
    let mut found: BTreeMap<&str, Counts> = BTreeMap::new();
    for (path, text) in texts {
        count(path, text, found.entry(place(path)).or_default());
    }
    let mut violations = Vec::new();
    for (place, found) in found {
        let known = known.remove(place).unwrap_or_default();
        let counts = found.each_ref().map(Vec::len);
        for (habit, (lines, known)) in found.iter().zip(known).enumerate() {
            if lines.len() > known {
                let (name, instead) = HABITS[habit];
                let what =
                    format!("{name}: {} of {known}; write {instead}:\n{}", lines.len(), lines.join("\n"));
                violations.push(Violation::new(place, "voice", what));
            }
        }
        if counts != known && counts.iter().zip(known).all(|(count, known)| *count <= known) {
            let what = format!("fewer than the counts, write: {}", line(place, counts));
            violations.push(Violation::new("xtask/src/tidy/voice/counts.txt", "voice", what));
        }
    }
    violations.extend(known.keys().map(|place| Violation::new(*place, "voice", "has counts and no text")));
    Ok(violations)
}

fn line(place: &str, counts: [usize; HABITS.len()]) -> String {
    format!("{place} {}", counts.map(|count| count.to_string()).join(" "))
}

fn parse(list: &str) -> Result<BTreeMap<&str, [usize; HABITS.len()]>> {
    let lines = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let (place, counts) = line.split_once(' ').unwrap_or((line, ""));
            let counts: Result<Vec<usize>, _> = counts.split_whitespace().map(str::parse).collect();
            let counts = counts.ok().and_then(|counts| counts.try_into().ok());
            Ok((place, counts.with_context(|| format!("counts.txt: not a place and its counts: {line}"))?))
        })
        .collect()
}

/// The folder or file whose counts a file belongs to.
fn place(path: &str) -> &str {
    let parts = match path.split('/').next() {
        Some("crates") if !path.starts_with("crates/agentwire/") => 3,
        Some("crates" | "tests") => 2,
        _ => 1,
    };
    path.match_indices('/').nth(parts - 1).map_or(path, |(end, _)| &path[..end])
}

/// Adds the lines of a file that have a habit, with their number.
fn count(path: &str, text: &str, counts: &mut Counts) {
    let is_rust = path.ends_with(".rs");
    let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
    for (at, line) in lines.iter().enumerate() {
        let mut add = |habit: usize| counts[habit].push(format!("  {path}:{}: {line}", at + 1));
        let is_test = at > 0 && lines[at - 1].starts_with("#[") && lines[at - 1].contains("test");
        if is_rust && is_test && QUESTIONS.iter().any(|question| line.contains(question)) {
            add(4);
        }
        if is_rust && !line.starts_with("//") {
            continue;
        }
        let doc = line.strip_prefix("/// ").or_else(|| line.strip_prefix("//! "));
        let opens = |word: &str| doc.is_some_and(|doc| doc.starts_with(word));
        if opens("What ") || opens("Which ") || opens("Whether ") && !is_predicate(&lines[at..]) {
            add(0);
        }
        let words = line.to_lowercase().split(|c: char| !c.is_alphanumeric()).collect::<Vec<_>>().join(" ");
        let words =
            PLAIN.iter().fold(format!(" {words} "), |words, plain| words.replace(&format!(" {plain} "), " "));
        for (habit, phrases) in PHRASES {
            let found = |phrase: &&str| words.matches(&format!(" {phrase} ")).count();
            (0..phrases.iter().map(found).sum()).for_each(|_| add(habit));
        }
    }
}

/// Whether the item behind a doc comment names `bool` or `AtomicBool`: in the signature of a function, or in the line of another item.
fn is_predicate(lines: &[&str]) -> bool {
    let is_flag = |line: &str| line.contains("bool") || line.contains("AtomicBool");
    let mut item = lines.iter().skip_while(|line| line.starts_with("//") || line.starts_with("#["));
    let Some(first) = item.next() else { return false };
    let ends = |line: &str| !first.contains("fn ") || line.contains(['{', ';']);
    is_flag(first)
        || !ends(first) && {
            let mut rest =
                item.scan(false, |ended, line| (!std::mem::replace(ended, ends(line))).then_some(line));
            rest.any(|line| is_flag(line))
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(path: &str, text: &str) -> [usize; HABITS.len()] {
        let mut counts = Counts::default();
        count(path, text, &mut counts);
        counts.each_ref().map(Vec::len)
    }

    #[test]
    fn habits_are_counted() {
        for (text, expected) in [
            ("/// What it has.\nx: u8,", [1, 0, 0, 0, 0]),
            ("/// Which it is.\nx: u8,", [1, 0, 0, 0, 0]),
            ("// What it has.\nx: u8,", [0; 5]),
            ("/// Whether it is.\nx: u8,", [1, 0, 0, 0, 0]),
            ("/// Whether it is.\nx: AtomicBool,", [0; 5]),
            ("/// Whether it is.\n#[must_use]\nfn f(\n    x: u8,\n) -> bool {", [0; 5]),
            ("/// Whether it is.\n///\n/// More.\nx: bool,", [0; 5]),
            ("/// Whether it is.\nfn f() {}\nfn g() -> bool {", [1, 0, 0, 0, 0]),
            ("// It Says so, and tells; `told_it` is.", [0, 3, 0, 0, 0]),
            ("let says = \"nobody\";", [0; 5]),
            ("// `None`, where there is none; none where it is absent.", [0, 0, 2, 0, 0]),
            ("// Nobody is no man: it is no longer, and there is no other.", [0, 0, 0, 2, 0]),
            ("#[test]\nfn what_it_is() {}\nfn who_is() {}", [0, 0, 0, 0, 1]),
        ] {
            assert_eq!(counts("a.rs", text), expected, "{text}");
        }
        assert_eq!(counts("a.md", "What nobody says"), [0, 1, 0, 1, 0]);
    }

    #[test]
    fn counts_may_only_fall() {
        let texts = [("crates/a/b/src/lib.rs", "// It says.\n// It says.")];
        let check = |list| compare(list, &texts).unwrap();
        assert_eq!(check("# c\n\ncrates/a/b 0 2 0 0 0"), []);
        assert_eq!(check("crates/a/b 0 1 0 0 0").len(), 1, "more");
        assert!(check("crates/a/b 0 1 0 0 0")[0].what.contains("src/lib.rs:2: // It says."));
        assert!(check("crates/a/b 0 3 0 0 0")[0].what.ends_with("write: crates/a/b 0 2 0 0 0"));
        assert_eq!(check("crates/a/b 0 2 0 0 0\ncrates/c 0 0 0 0 0").len(), 1, "gone");
        assert_eq!(check("").len(), 1, "new");
        assert!(compare("crates/a/b 0 2 0 0", &texts).is_err());
    }

    #[test]
    fn places_are_packages_and_documents() {
        for (path, expected) in [
            ("crates/mcp/http/src/client/mod.rs", "crates/mcp/http"),
            ("crates/agentwire/src/lib.rs", "crates/agentwire"),
            ("tests/fuzz/src/lib.rs", "tests/fuzz"),
            ("docs/guide/mcp.md", "docs"),
            ("README.md", "README.md"),
        ] {
            assert_eq!(place(path), expected);
        }
    }
}

//! Finds circles: files, or folders, of one crate that use each other's items, directly or through others.
//!
//! The folders are those directly below `src`. A circle of folders fails unless it is listed as known. A circle of up to four
//! files needs a comment in the crate's root, with the reason: `// circle: a.rs, b/mod.rs: why`. Larger circles of files fail
//! unless they are listed as known.

use std::collections::{BTreeMap, BTreeSet};

use super::known::Known;
use super::modules::Crate;
use super::sources::Source;
use super::violation::Violation;

/// The maximum number of files in a circle.
const MAX_FILES: usize = 4;

/// The beginning of the comment that explains a circle.
const COMMENT: &str = "// circle: ";

/// Files of one crate, each as its path below `src`.
type Circle = BTreeSet<String>;

/// Circles that are too large, that have no comment, and comments without a circle.
pub(super) fn check(sources: &[Source], known: &mut Known) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (folder, root) in roots(sources) {
        let mut explained = explained(&root.text);
        let read = Crate::read(folder, sources);
        let uses = read.uses();
        for circle in circles(folder, &by_folder(folder, &uses)) {
            let folders: Vec<String> = circle.iter().map(|name| format!("{folder}{name}")).collect();
            if !known.has_circle(&folders) {
                let names = circle.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
                violations.push(Violation::new(
                    &root.path,
                    "circles",
                    format!("{names}: folders use each other"),
                ));
            }
        }
        for circle in circles(folder, &uses) {
            if let Some(index) = explained.iter().position(|files| *files == circle)
                && circle.len() <= MAX_FILES
            {
                explained.remove(index);
                continue;
            }
            let files: Vec<String> = circle.iter().map(|file| format!("{folder}{file}")).collect();
            if known.has_circle(&files) {
                continue;
            }
            let names = circle.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
            let wanted = match circle.len() <= MAX_FILES {
                true => format!("use each other: break the circle, or say why in `{COMMENT}{names}: …`"),
                false => format!("a circle of {} files, at most {MAX_FILES}", circle.len()),
            };
            violations.push(Violation::new(&root.path, "circles", format!("{names}: {wanted}")));
        }
        let unneeded = explained.into_iter().map(|files| {
            let names = files.into_iter().collect::<Vec<_>>().join(", ");
            Violation::new(&root.path, "circles", format!("no circle of these files: {names}"))
        });
        violations.extend(unneeded);
    }
    violations
}

/// The folder `src/` and the root file of each crate.
fn roots(sources: &[Source]) -> impl Iterator<Item = (&str, &Source)> {
    let roots = sources.iter().rev().filter_map(|source| {
        let folder = ["lib.rs", "main.rs"].iter().find_map(|root| source.path.strip_suffix(root))?;
        folder.ends_with("/src/").then_some((folder, source))
    });
    // Of a library and a program in one folder, the library is the root: of the paths, which are sorted, `lib.rs` comes first.
    roots.collect::<BTreeMap<_, _>>().into_iter()
}

/// The circles that the comments of a crate's root name.
fn explained(root: &str) -> Vec<Circle> {
    let comments = root.split(COMMENT).skip(1);
    comments
        .filter_map(|comment| {
            let text: Vec<&str> = comment
                .lines()
                .enumerate()
                .map_while(|(n, line)| if n == 0 { Some(line) } else { line.strip_prefix("//") })
                .collect();
            let text = text.join(" ");
            let (files, why) = text.split_once(": ")?;
            let files = files.split(',').map(|file| file.trim().to_owned()).collect();
            (!why.trim().is_empty()).then_some(files)
        })
        .collect()
}

/// The files, or folders, that each file, or folder, uses.
type Uses<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// The folders that each folder uses, from the uses of its files.
fn by_folder<'a>(crate_folder: &str, uses: &Uses<'a>) -> Uses<'a> {
    let folder = |file: &&'a str| {
        let (name, _) = file.strip_prefix(crate_folder)?.split_once('/')?;
        Some(&file[..crate_folder.len() + name.len()])
    };
    let mut folders: Uses<'a> = BTreeMap::new();
    for (file, used) in uses {
        if let Some(from) = folder(file) {
            let others = used.iter().filter_map(folder).filter(|to| *to != from);
            folders.entry(from).or_default().extend(others);
        }
    }
    folders
}

/// The sets that can all reach each other, each of more than one.
fn circles(folder: &str, uses: &Uses<'_>) -> BTreeSet<Circle> {
    let reached: Uses<'_> = uses.keys().map(|file| (*file, reach(uses, file))).collect();
    let circle = |file: &&str| -> Circle {
        let mutual =
            reached[file].iter().filter(|other| reached.get(*other).is_some_and(|back| back.contains(file)));
        mutual.map(|other| other.trim_start_matches(folder).to_owned()).collect()
    };
    reached.keys().map(circle).filter(|circle| circle.len() > 1).collect()
}

/// All files that a file uses, directly or through others.
fn reach<'a>(uses: &Uses<'a>, file: &'a str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut left: Vec<&str> = vec![file];
    while let Some(file) = left.pop() {
        let next = uses.get(file).into_iter().flatten();
        left.extend(next.filter(|next| reached.insert(**next)));
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(root: &str, files: &[(&str, &str)], known: &str) -> Vec<String> {
        let root = Source::new("crates/c/src/lib.rs", format!("{root}\nmod a; mod b; mod c; mod d; mod e;"));
        let files = files.iter().map(|(path, text)| Source::new(format!("crates/c/src/{path}"), *text));
        let sources: Vec<Source> = std::iter::once(root).chain(files).collect();
        let mut known = Known::parse(known).unwrap();
        let mut violations = check(&sources, &mut known);
        violations.extend(known.unneeded());
        violations.into_iter().map(|violation| violation.what).collect()
    }

    const TWO: [(&str, &str); 2] = [("a.rs", "use crate::b::B;"), ("b.rs", "use crate::a::A;")];

    const FIVE: [(&str, &str); 5] = [
        ("a.rs", "use crate::b::B;"),
        ("b.rs", "use crate::c::C;"),
        ("c.rs", "use crate::d::D;"),
        ("d.rs", "use crate::e::E;"),
        ("e.rs", "use crate::a::A;"),
    ];

    #[test]
    fn a_small_circle_needs_a_sentence() {
        assert_eq!(found("", &[TWO[0], ("b.rs", "")], "").len(), 0, "one direction");
        assert!(found("", &TWO, "")[0].starts_with("a.rs, b.rs: use each other"));
        assert_eq!(found("// circle: a.rs, b.rs: one type in\n// two files.", &TWO, "").len(), 0);
        assert_eq!(found("// circle: a.rs, c.rs: another.", &TWO, "").len(), 2, "not this one, and stale");
        assert_eq!(found("// circle: a.rs, b.rs: ", &TWO, "").len(), 1, "no reason");
        assert_eq!(found("// circle: a.rs, b.rs: why.", &[], "").len(), 1, "stale");
    }

    #[test]
    fn a_circle_of_folders_must_be_known() {
        let files = [
            ("a/mod.rs", "mod x;"),
            ("a/x.rs", "use crate::b::B;"),
            ("a/y.rs", ""),
            ("b/mod.rs", "use crate::a::y::Y;"),
        ];
        let one_way = [files[0], files[1], files[2], ("b/mod.rs", "")];
        assert_eq!(found("", &one_way, "").len(), 0);
        let folders = |known| found("", &files, known);
        assert_eq!(folders(""), ["a, b: folders use each other"]);
        assert_eq!(folders("circle crates/c/src/ a b: why").len(), 0);
    }

    #[test]
    fn a_large_circle_must_be_known() {
        let explained = "// circle: a.rs, b.rs, c.rs, d.rs, e.rs: why.";
        assert_eq!(found(explained, &FIVE, "").len(), 2, "too large for a sentence, which is stale then");
        let known = "circle crates/c/src/ a.rs b.rs c.rs d.rs e.rs: why";
        assert_eq!(found("", &FIVE, known).len(), 0);
        assert_eq!(found("", &TWO, known).len(), 3, "the list must shrink with the circle");
    }
}

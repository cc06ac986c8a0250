//! The lengths of files and functions, and how many files a folder has. What is larger holds more than one idea.

use std::collections::BTreeMap;

use super::known::Known;
use super::sources::Source;
use super::violation::Violation;

/// Lines of a file in a `src` folder, its comments and tests included.
const FILE_LIMIT: usize = 400;

/// Lines of another Rust file: tests of a crate, examples.
const TEST_FILE_LIMIT: usize = 600;

/// Lines of a function, from its `fn` to its last brace.
const FUNCTION_LIMIT: usize = 60;

/// Lines of a function in another Rust file.
const TEST_FUNCTION_LIMIT: usize = 80;

/// Files beside each other in a folder below `src`.
const FOLDER_LIMIT: usize = 15;

/// Files and functions that are too long, and folders with too many files, that are not known to be.
pub(super) fn check(sources: &[Source], known: &mut Known) -> Vec<Violation> {
    let mut violations = folders(sources, known);
    for Source { path, text, code } in sources {
        let is_source = path.starts_with("src/") || path.contains("/src/");
        let (limit, function_limit) = match is_source {
            true => (FILE_LIMIT, FUNCTION_LIMIT),
            false => (TEST_FILE_LIMIT, TEST_FUNCTION_LIMIT),
        };
        let lines = text.lines().count();
        if lines > limit && !known.has_long_file(path) {
            violations.push(Violation::new(path, "length", format!("{lines} lines, at most {limit}")));
        }
        for Function { name, line, lines } in functions(code) {
            if lines > function_limit && !known.has_long_function(path, name) {
                let what = format!("`{name}` has {lines} lines, at most {function_limit}");
                violations.push(Violation::new(format!("{path}:{line}"), "length", what));
            }
        }
    }
    violations
}

/// Folders with too many files.
fn folders(sources: &[Source], known: &mut Known) -> Vec<Violation> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (folder, name) in sources.iter().filter_map(|source| source.path.rsplit_once('/')) {
        let is_source = folder.ends_with("/src") || folder.contains("/src/");
        // A module's root is not a file beside the others.
        if is_source && !["lib.rs", "main.rs", "mod.rs"].contains(&name) {
            *counts.entry(folder).or_default() += 1;
        }
    }
    let full = counts.into_iter().filter(|(_, count)| *count > FOLDER_LIMIT);
    full.filter(|(folder, count)| !known.has_full_folder(folder, *count))
        .map(|(folder, count)| {
            let what = format!("{count} files, at most {FOLDER_LIMIT}: group those of one idea");
            Violation::new(folder, "length", what)
        })
        .collect()
}

struct Function<'a> {
    name: &'a str,
    line: usize,
    lines: usize,
}

/// The functions with a body, in code without comments and literals. One within another is listed, too.
fn functions(code: &str) -> Vec<Function<'_>> {
    let starts = code.match_indices("fn ").filter(|(at, _)| {
        let before = code[..*at].chars().next_back();
        !before.is_some_and(|before| before.is_alphanumeric() || before == '_')
    });
    let function = |(at, _): (usize, &str)| {
        let rest = &code[at..];
        let name = rest[3..]
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .next()
            .filter(|name| !name.is_empty())?;
        let body = body(rest)?;
        let line = code[..at].matches('\n').count() + 1;
        Some(Function { name, line, lines: rest[..body].matches('\n').count() + 1 })
    };
    starts.filter_map(function).collect()
}

/// The end of a function that begins here; `None` if it has no body.
fn body(function: &str) -> Option<usize> {
    let (mut brackets, mut braces) = (0_usize, 0_usize);
    for (at, character) in function.char_indices() {
        match character {
            '(' | '[' if braces == 0 => brackets += 1,
            ')' | ']' if braces == 0 => brackets = brackets.checked_sub(1)?,
            ';' if braces == 0 && brackets == 0 => return None,
            '{' if brackets == 0 => braces += 1,
            '}' if brackets == 0 => {
                braces = braces.checked_sub(1)?;
                if braces == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str, known: &str) -> Vec<String> {
        let violations = check(&[Source::new(path, text)], &mut Known::parse(known).unwrap());
        violations.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn files_have_a_limit_by_their_folder() {
        let lines = |count| "//\n".repeat(count);
        assert_eq!(found("crates/a/src/b.rs", &lines(400), "").len(), 0);
        assert_eq!(
            found("crates/a/src/b.rs", &lines(401), ""),
            ["crates/a/src/b.rs: length: 401 lines, at most 400"]
        );
        assert_eq!(found("crates/a/src/b.rs", &lines(401), "lines crates/a/src/b.rs: why").len(), 0);
        assert_eq!(found("crates/a/tests/it/b.rs", &lines(600), "").len(), 0);
        assert_eq!(found("crates/a/tests/it/b.rs", &lines(601), "").len(), 1);
    }

    #[test]
    fn folders_have_a_limit() {
        let violations = |count: usize, known: &str| {
            let sources: Vec<_> =
                (0..count).map(|at| Source::new(format!("crates/r/a/src/b/c{at}.rs"), "")).collect();
            let root = Source::new("crates/r/a/src/b/mod.rs", "");
            let sources: Vec<_> = sources.into_iter().chain([root]).collect();
            folders(&sources, &mut Known::parse(known).unwrap()).len()
        };
        assert_eq!([violations(15, ""), violations(16, "")], [0, 1]);
        let known = "folder crates/r/a/src/b 16: why";
        assert_eq!([violations(16, known), violations(17, known)], [0, 1]);
    }

    #[test]
    fn functions_have_a_limit() {
        let long = |body| {
            format!(
                "trait T {{ fn none(x: [u8; 2]); }}\nimpl T {{\n    pub(crate) fn f(a: [u8; 2]) {{\n{}    }}\n}}",
                "\n".repeat(body)
            )
        };
        assert_eq!(found("src/a.rs", &long(58), "").len(), 0);
        assert_eq!(found("src/a.rs", &long(59), ""), ["src/a.rs:3: length: `f` has 61 lines, at most 60"]);
        assert_eq!(found("src/a.rs", &long(59), "function src/a.rs f: why").len(), 0);
        let type_only = format!("type F = fn (u8);\nstruct S {{{}}}", "\n".repeat(100));
        assert_eq!(found("src/a.rs", &type_only, "").len(), 0);
    }
}

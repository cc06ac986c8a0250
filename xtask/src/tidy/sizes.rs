//! The lengths of files and functions. What is longer holds more than one idea.

use super::known::Known;
use super::sources::Source;
use super::violation::Violation;

/// Lines of a file in a `src` folder, its comments and tests included.
const FILE_LIMIT: usize = 400;

/// Lines of another Rust file: tests of a crate, examples.
const TEST_FILE_LIMIT: usize = 600;

/// Lines of a function, from its `fn` to its last brace.
const FUNCTION_LIMIT: usize = 80;

/// Files and functions that are too long and not known to be.
pub(super) fn check(sources: &[Source], known: &mut Known) -> Vec<Violation> {
    let mut violations = Vec::new();
    for Source { path, text, code } in sources {
        let is_source = path.starts_with("src/") || path.contains("/src/");
        let limit = if is_source { FILE_LIMIT } else { TEST_FILE_LIMIT };
        let lines = text.lines().count();
        if lines > limit && !known.has_long_file(path) {
            violations.push(Violation::new(path, "length", format!("{lines} lines, at most {limit}")));
        }
        for Function { name, line, lines } in functions(code) {
            if lines > FUNCTION_LIMIT && !known.has_long_function(path, name) {
                let what = format!("`{name}` has {lines} lines, at most {FUNCTION_LIMIT}");
                violations.push(Violation::new(format!("{path}:{line}"), "length", what));
            }
        }
    }
    violations
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

/// The end of a function that begins here; none where it has no body.
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
    fn functions_have_a_limit() {
        let long = |body| {
            format!(
                "trait T {{ fn none(x: [u8; 2]); }}\nimpl T {{\n    pub(crate) fn f(a: [u8; 2]) {{\n{}    }}\n}}",
                "\n".repeat(body)
            )
        };
        assert_eq!(found("src/a.rs", &long(78), "").len(), 0);
        assert_eq!(found("src/a.rs", &long(79), ""), ["src/a.rs:3: length: `f` has 81 lines, at most 80"]);
        assert_eq!(found("src/a.rs", &long(79), "function src/a.rs f: why").len(), 0);
        let type_only = format!("type F = fn (u8);\nstruct S {{{}}}", "\n".repeat(100));
        assert_eq!(found("src/a.rs", &type_only, "").len(), 0);
    }
}

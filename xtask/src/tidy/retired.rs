//! Identifiers that were replaced and must not come back.

use anyhow::{Context as _, Result, ensure};

use super::sources::Source;
use super::violation::Violation;

/// The list: the scope, the retired identifier and what replaces it, on each line. The scope is a crate's folder below
/// `crates`, `xtask`, or `*` for all of them. A line that begins with `#` is a comment.
const LIST: &str = include_str!("retired.txt");

/// One line of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Retired<'a> {
    scope: &'a str,
    identifier: &'a str,
    replacement: &'a str,
}

/// Reads the list of the repository.
pub(super) fn list() -> Result<Vec<Retired<'static>>> {
    parse(LIST)
}

fn parse(list: &str) -> Result<Vec<Retired<'_>>> {
    let mut all: Vec<Retired<'_>> = Vec::new();
    for line in list.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        let mut word = || words.next().with_context(|| format!("retired.txt: not `SCOPE OLD NEW`: {line}"));
        let retired = Retired { scope: word()?, identifier: word()?, replacement: word()? };
        ensure!(words.next().is_none(), "retired.txt: more than `SCOPE OLD NEW`: {line}");
        all.push(retired);
    }
    Ok(all)
}

/// The lines of `crates/*/src` and `xtask/src` whose code has a retired identifier.
pub(super) fn check(list: &[Retired<'_>], sources: &[Source]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for source in sources {
        let Some((scope, _)) = scope(&source.path) else { continue };
        let here: Vec<_> = list.iter().filter(|retired| ["*", scope].contains(&retired.scope)).collect();
        for (number, line) in (1..).zip(source.code.lines()) {
            let words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
            for word in words {
                for retired in here.iter().filter(|retired| retired.identifier == word) {
                    violations.push(Violation::new(
                        format!("{}:{number}", source.path),
                        "retired",
                        format!("`{word}`, write `{}`", retired.replacement),
                    ));
                }
            }
        }
    }
    violations
}

/// The crate that a source file belongs to, and the rest of the path.
fn scope(path: &str) -> Option<(&str, &str)> {
    let in_crate = path.strip_prefix("crates/").unwrap_or(path);
    let (scope, rest) = in_crate.split_once("/src/")?;
    (scope.matches('/').count() <= 1 && (in_crate != path || scope == "xtask")).then_some((scope, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: &str = "# Why.\n\ncore/peer Scribe EncodeBuffer\n* Outlet ResponseStream\n";

    fn found(path: &str, text: &str) -> Vec<String> {
        let source = Source::new(path, text);
        let violations = check(&parse(SHORT).unwrap(), &[source]);
        violations.into_iter().map(|violation| violation.to_string()).collect()
    }

    #[test]
    fn a_retired_identifier_is_found_where_it_is_retired() {
        let expected = ["crates/core/peer/src/a.rs:2: retired: `Scribe`, write `EncodeBuffer`"];
        assert_eq!(found("crates/core/peer/src/a.rs", "\nstruct Scribe;"), expected);
        assert_eq!(found("crates/tools/cli/src/a.rs", "struct Scribe;").len(), 0, "another crate");
        assert_eq!(found("crates/tools/cli/src/a.rs", "use b::{c, Outlet};").len(), 1, "all crates");
        assert_eq!(found("xtask/src/a.rs", "fn f(x: Outlet) {}").len(), 1);
        assert_eq!(found("tests/src/a.rs", "fn f(x: Outlet) {}").len(), 0);
    }

    #[test]
    fn longer_words_comments_and_literals_are_not_identifiers() {
        assert_eq!(found("crates/tools/cli/src/a.rs", "struct Outlets; // Outlet\nf(\"Outlet\")").len(), 0);
    }

    #[test]
    fn the_list_of_the_repository_can_be_read() {
        assert!(!list().unwrap().is_empty());
        assert!(parse("peer Scribe").is_err() && parse("peer Scribe to EncodeBuffer").is_err());
    }
}

//! Patterns of paths.

use std::path::{Component, Path};

use regex_lite::{Regex, RegexBuilder};

use super::invalid_rule::InvalidRule;

/// The size limit of a compiled pattern, in bytes.
const PATTERN_LIMIT: usize = 64 << 10;

/// A pattern of absolute paths, matched in linear time: `**` is any number of folders, `*` any part of a name, `?` a character
/// of a name.
#[derive(Clone, Debug)]
pub(super) struct PathPattern {
    text: String,
    regex: Regex,
}

impl PathPattern {
    pub(super) fn new(pattern: &str) -> Result<Self, InvalidRule> {
        let invalid = |why| InvalidRule { rule: pattern.to_owned(), why };
        let drive = pattern.get(1..3) == Some(":/");
        if !pattern.starts_with('/') && !pattern.starts_with("**/") && !drive {
            return Err(invalid("a pattern of paths begins with `/`, `**/` or a drive"));
        }
        if pattern.split('/').any(|name| matches!(name, "." | "..")) {
            return Err(invalid("a pattern of paths has no `.` and no `..`"));
        }
        let regex = RegexBuilder::new(&regex(pattern)).size_limit(PATTERN_LIMIT).build();
        let regex = regex.map_err(|_| invalid("the pattern is too long"))?;
        Ok(Self { text: pattern.to_owned(), regex })
    }

    /// Returns whether the pattern matches a path, whose `.` and `..` are resolved by their text. None for a path that is not
    /// absolute.
    pub(super) fn matches(&self, path: &Path) -> Option<bool> {
        Some(self.regex.is_match(&normalized(path)?))
    }
}

impl PartialEq for PathPattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for PathPattern {}

/// Translates a pattern into a regular expression for a whole path.
fn regex(pattern: &str) -> String {
    let mut regex = String::from("^(?s:");
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        let (expression, length) = match first {
            // Between slashes it is none, one or more folders, at the end all that follows.
            '*' if rest.starts_with("**/") => ("(?:.*/)?".to_owned(), 3),
            '*' if rest.starts_with("**") => (".*".to_owned(), 2),
            '*' => ("[^/]*".to_owned(), 1),
            '?' => ("[^/]".to_owned(), 1),
            _ => {
                let end = rest.find(['*', '?']).unwrap_or(rest.len());
                (regex_lite::escape(&rest[..end]), end)
            }
        };
        regex.push_str(&expression);
        rest = &rest[length..];
    }
    regex + ")$"
}

/// Returns an absolute path with `/` between its names, without `.`, and with each `..` resolved by the name before it. None
/// for a path that is not absolute, or not UTF-8.
fn normalized(path: &Path) -> Option<String> {
    let mut prefix = "";
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            Component::Prefix(drive) => prefix = drive.as_os_str().to_str()?,
            Component::RootDir | Component::CurDir => {}
            Component::ParentDir => drop(names.pop()),
            Component::Normal(name) => names.push(name.to_str()?),
        }
    }
    path.has_root().then(|| format!("{prefix}/{}", names.join("/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, path: &str, matches: Option<bool>) {
        let pattern = PathPattern::new(pattern).expect("it is a pattern");
        assert_eq!(pattern.matches(Path::new(path)), matches, "{pattern:?}, {path:?}");
    }

    #[test]
    fn a_star_stays_within_a_name_and_two_do_not() {
        check("/repo/**", "/repo/src/lib.rs", Some(true));
        check("/repo/**", "/repo/", Some(false));
        check("/repo/*", "/repo/a", Some(true));
        check("/repo/*", "/repo/a/b", Some(false));
        check("/repo/**/*.rs", "/repo/lib.rs", Some(true));
        check("/repo/**/*.rs", "/repo/a/b/lib.rs", Some(true));
        check("/repo/**/*.rs", "/repo/a/b/lib.rs.txt", Some(false));
        check("**/.env", "/a/b/.env", Some(true));
        check("**/.env", "/a/b/x.env", Some(false));
        check("/repo/a?c", "/repo/abc", Some(true));
        check("/repo/a?c", "/repo/a/c", Some(false));
        check("/repo/(a|b)[c]", "/repo/(a|b)[c]", Some(true));
        check("/repo/(a|b)[c]", "/repo/a", Some(false));
    }

    #[test]
    fn a_path_is_compared_without_detours() {
        check("/repo/**", "/repo/../etc/passwd", Some(false));
        check("/repo/**", "/repo/a/../../etc/passwd", Some(false));
        check("/repo/**", "/repo/./a//b/", Some(true));
        check("/repo/**", "/../../repo/a", Some(true));
        check("/repo/**", "/repository/a", Some(false));
        check("/repo/**", "repo/a", None);
        check("/repo/**", "", None);
        check("/repo/**", "/repo/a\nb", Some(true));
        check("/etc/**", "/x\n/etc/passwd", Some(false));
    }

    #[test]
    fn a_pattern_that_matches_no_path_is_refused() {
        for (pattern, why) in [
            ("src/**", "a pattern of paths begins with `/`, `**/` or a drive"),
            ("", "a pattern of paths begins with `/`, `**/` or a drive"),
            ("*.rs", "a pattern of paths begins with `/`, `**/` or a drive"),
            ("/repo/../etc/**", "a pattern of paths has no `.` and no `..`"),
        ] {
            let error = PathPattern::new(pattern).expect_err("it is none");
            assert_eq!(error.to_string(), format!("{pattern:?} is no rule: {why}"));
        }
        assert!(PathPattern::new("C:/repo/**").is_ok());
        assert!(PathPattern::new(&format!("/{}", "?".repeat(100_000))).is_err());
    }

    #[test]
    fn a_long_path_takes_linear_time() {
        let pattern = PathPattern::new("/**/a*a*a*a*b/**/c").expect("it is a pattern");
        let path = format!("/{}", "a".repeat(1 << 20));
        assert_eq!(pattern.matches(Path::new(&path)), Some(false));
    }
}

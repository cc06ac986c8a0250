//! Patterns of absolute paths, and the folders of rules.

use std::path::{Component, Path, Prefix, PrefixComponent};

use regex_lite::{Regex, RegexBuilder};

/// The size limit of a compiled pattern, in bytes.
const PATTERN_LIMIT: usize = 64 << 10;

/// The error for an unusable pattern of paths or of commands, with the reason.
///
/// ```
/// use agentwire_acp_toolkit::PermissionRule;
///
/// let error = PermissionRule::reject().path("src/**").expect_err("no path of a call is relative");
/// assert_eq!(error.to_string(), r#""src/**" cannot be used: a pattern of paths begins with `/`, `**/` or a drive"#);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{pattern:?} cannot be used: {why}")]
pub struct InvalidPattern {
    pub(crate) pattern: String,
    pub(crate) why: &'static str,
}

/// How a pattern compares letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CaseSensitivity {
    /// `a` is not `A`: for paths that are allowed.
    Sensitive,
    /// `a` is `A`, as on the file systems of macOS and Windows: for paths that are denied.
    Insensitive,
}

/// A pattern of absolute paths, matched in linear time: `**` is any number of folders, `*` any part of a name, `?` a character
/// of a name. A `/**` at the end also matches the folder before it.
#[derive(Clone, Debug)]
pub(crate) struct PathPattern {
    letters: CaseSensitivity,
    regex: Regex,
}

impl PathPattern {
    pub(crate) fn new(pattern: &str, letters: CaseSensitivity) -> Result<Self, InvalidPattern> {
        let invalid = |why| InvalidPattern { pattern: pattern.to_owned(), why };
        let drive = pattern.get(1..3) == Some(":/");
        if !pattern.starts_with('/') && !pattern.starts_with("**/") && !drive {
            return Err(invalid("a pattern of paths begins with `/`, `**/` or a drive"));
        }
        if pattern.split('/').any(|name| matches!(name, "." | "..")) {
            return Err(invalid("a pattern of paths has no `.` and no `..`"));
        }
        if pattern.len() > 1 && pattern.ends_with('/') {
            return Err(invalid("a path has no `/` at its end; a folder and all in it is `/folder/**`"));
        }
        let text = letters.of(pattern.to_owned());
        let regex = compiled(&regex(&text)).map_err(|_| invalid("the pattern is too long"))?;
        Ok(Self { letters, regex })
    }

    /// A folder and all that is in it, whatever characters its name has.
    pub(crate) fn folder(folder: &Path, letters: CaseSensitivity) -> Result<Self, InvalidPattern> {
        let invalid = |why| InvalidPattern { pattern: folder.to_string_lossy().into_owned(), why };
        let text = normalized(folder).ok_or_else(|| invalid("a folder is an absolute path in UTF-8"))?;
        let text = letters.of(text);
        let regex = format!("^(?s:{}(?:/.*)?)$", regex_lite::escape(text.trim_end_matches('/')));
        let regex = compiled(&regex).map_err(|_| invalid("the path is too long"))?;
        Ok(Self { letters, regex })
    }

    /// Returns whether the pattern matches a path, whose `.` and `..` are resolved by their text. `None` for a path that is not
    /// absolute or not UTF-8.
    pub(crate) fn matches(&self, path: &Path) -> Option<bool> {
        Some(self.regex.is_match(&self.letters.of(normalized(path)?)))
    }
}

impl PartialEq for PathPattern {
    fn eq(&self, other: &Self) -> bool {
        (self.regex.as_str(), self.letters) == (other.regex.as_str(), other.letters)
    }
}

impl Eq for PathPattern {}

impl CaseSensitivity {
    fn of(self, text: String) -> String {
        match self {
            Self::Sensitive => text,
            Self::Insensitive => text.to_lowercase(),
        }
    }
}

fn compiled(regex: &str) -> Result<Regex, regex_lite::Error> {
    RegexBuilder::new(regex).size_limit(PATTERN_LIMIT).build()
}

/// Translates a pattern into a regular expression for a whole path.
fn regex(pattern: &str) -> String {
    let mut regex = String::from("^(?s:");
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        let (expression, length) = match first {
            '/' if rest == "/**" => ("(?:/.*)?".to_owned(), 3),
            // `**/` matches any number of folders, also none.
            '*' if rest.starts_with("**/") => ("(?:.*/)?".to_owned(), 3),
            '*' if rest.starts_with("**") => (".*".to_owned(), 2),
            '*' => ("[^/]*".to_owned(), 1),
            '?' => ("[^/]".to_owned(), 1),
            _ => {
                let end = rest[first.len_utf8()..].find(['*', '?', '/']);
                let end = end.map_or(rest.len(), |end| end + first.len_utf8());
                (regex_lite::escape(&rest[..end]), end)
            }
        };
        regex.push_str(&expression);
        rest = &rest[length..];
    }
    regex + ")$"
}

/// Returns an absolute path with `/` between its names, without `.`, and with each `..` resolved by the name before it. `None`
/// for a path that is not absolute or not UTF-8.
fn normalized(path: &Path) -> Option<String> {
    let mut prefix = String::new();
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            Component::Prefix(component) => prefix = drive(component)?,
            Component::RootDir | Component::CurDir => {}
            Component::ParentDir => drop(names.pop()),
            Component::Normal(name) => names.push(name.to_str()?),
        }
    }
    path.has_root().then(|| format!("{prefix}/{}", names.join("/")))
}

/// Returns the drive of a path of Windows, or the share, in the one way in which patterns are written.
fn drive(prefix: PrefixComponent<'_>) -> Option<String> {
    match prefix.kind() {
        Prefix::Disk(letter) | Prefix::VerbatimDisk(letter) => Some(format!("{}:", char::from(letter))),
        Prefix::UNC(server, share) | Prefix::VerbatimUNC(server, share) => {
            Some(format!("//{}/{}", server.to_str()?, share.to_str()?))
        }
        _ => prefix.as_os_str().to_str().map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, path: &str, matches: Option<bool>) {
        let pattern = PathPattern::new(pattern, CaseSensitivity::Sensitive).expect("it is a pattern");
        assert_eq!(pattern.matches(Path::new(path)), matches, "{pattern:?}, {path:?}");
    }

    #[test]
    fn star_matches_within_a_name_and_two_stars_across_folders() {
        check("/repo/**", "/repo/src/lib.rs", Some(true));
        check("/repo/**", "/repo/", Some(true));
        check("/repo/**", "/repo", Some(true));
        check("/repo/**", "/re", Some(false));
        check("**/.git/**", "/a/.git", Some(true));
        check("**/.git/**", "/a/.git/hooks/x", Some(true));
        check("**/.git/**", "/a/.gitignore", Some(false));
        check("/**", "/", Some(true));
        check("/**/**", "/a/b", Some(true));
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
    fn dots_in_a_path_are_resolved_before_comparing() {
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
    fn folder_is_compared_literally() {
        let folder = |path: &str| PathPattern::folder(Path::new(path), CaseSensitivity::Sensitive);
        for (name, path, matches) in [
            ("/re*po/[a]", "/re*po/[a]", true),
            ("/re*po/[a]/", "/re*po/[a]/b/c", true),
            ("/re*po", "/reepo/a", false),
            ("/repo", "/repository", false),
            ("/repo/../other", "/other/a", true),
            ("/", "/a", true),
        ] {
            assert_eq!(folder(name).unwrap().matches(Path::new(path)), Some(matches), "{name} {path}");
        }
        assert_eq!(
            folder("src").unwrap_err().to_string(),
            "\"src\" cannot be used: a folder is an absolute path in UTF-8"
        );
        assert_ne!(folder("/a?").unwrap(), PathPattern::new("/a?", CaseSensitivity::Sensitive).unwrap());
    }

    #[test]
    fn case_is_ignored_only_on_request() {
        for (letters, matches) in [(CaseSensitivity::Sensitive, false), (CaseSensitivity::Insensitive, true)]
        {
            for (pattern, path) in [("**/.git/**", "/a/.GIT/config"), ("/ÄB/?", "/äb/C")] {
                let pattern = PathPattern::new(pattern, letters).expect("it is a pattern");
                assert_eq!(pattern.matches(Path::new(path)), Some(matches), "{pattern:?}");
            }
        }
    }

    #[cfg(windows)]
    #[test]
    fn a_drive_is_written_in_one_way() {
        check("C:/repo/**", r"C:\repo\a", Some(true));
        check("C:/repo/**", r"\\?\C:\repo\a", Some(true));
        check("//host/share/**", r"\\?\UNC\host\share\a", Some(true));
    }

    #[test]
    fn a_pattern_that_matches_no_path_is_refused() {
        for (pattern, why) in [
            ("src/**", "a pattern of paths begins with `/`, `**/` or a drive"),
            ("", "a pattern of paths begins with `/`, `**/` or a drive"),
            ("*.rs", "a pattern of paths begins with `/`, `**/` or a drive"),
            ("/repo/../etc/**", "a pattern of paths has no `.` and no `..`"),
            ("/repo/", "a path has no `/` at its end; a folder and all in it is `/folder/**`"),
        ] {
            let error = PathPattern::new(pattern, CaseSensitivity::Sensitive).expect_err("it is none");
            assert_eq!(error.to_string(), format!("{pattern:?} cannot be used: {why}"));
        }
        assert!(PathPattern::new("C:/repo/**", CaseSensitivity::Sensitive).is_ok());
        assert!(PathPattern::new(&format!("/{}", "?".repeat(100_000)), CaseSensitivity::Sensitive).is_err());
    }

    #[test]
    fn a_long_path_takes_linear_time() {
        let pattern =
            PathPattern::new("/**/a*a*a*a*b/**/c", CaseSensitivity::Insensitive).expect("it is a pattern");
        let path = format!("/{}", "a".repeat(1 << 20));
        assert_eq!(pattern.matches(Path::new(&path)), Some(false));
    }
}

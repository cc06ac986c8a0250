//! Today's exceptions from the rules for sizes and circles. The list may only shrink: an entry that nothing needs fails.

use anyhow::{Result, bail, ensure};

use super::violation::Violation;

/// The list: `lines PATH: WHY`, `function PATH NAME: WHY`, `folder PATH COUNT: WHY` or `circle FOLDER FILE…: WHY` on each line. A line
/// that begins with `#` is a comment.
const LIST: &str = include_str!("known.txt");

/// The exceptions, and which of them were needed.
pub(super) struct Known {
    entries: Vec<(Exception, bool)>,
}

#[derive(Debug, PartialEq, Eq)]
enum Exception {
    /// A file that is too long.
    Lines(String),
    /// A function that is too long, by its file and name.
    Function(String, String),
    /// A folder with too many files, and their number.
    Folder(String, usize),
    /// A file that is in a circle with others of the same line.
    Circle { line: usize, file: String },
}

impl Known {
    /// Reads the list of the repository.
    pub(super) fn list() -> Result<Self> {
        Self::parse(LIST)
    }

    pub(super) fn parse(list: &str) -> Result<Self> {
        let mut entries = Vec::new();
        for (number, line) in
            (1..).zip(list.lines()).filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
        {
            let (exception, why) = line.split_once(": ").unwrap_or((line, ""));
            ensure!(!why.trim().is_empty(), "known.txt: no reason: {line}");
            let words: Vec<&str> = exception.split_whitespace().collect();
            match words[..] {
                ["lines", path] => entries.push(Exception::Lines(path.into())),
                ["function", path, name] => entries.push(Exception::Function(path.into(), name.into())),
                ["folder", path, count] => entries.push(Exception::Folder(path.into(), count.parse()?)),
                ["circle", folder, ref files @ ..] => {
                    let circle = files.iter().map(|file| format!("{folder}{file}"));
                    entries.extend(circle.map(|file| Exception::Circle { line: number, file }));
                }
                _ => bail!(
                    "known.txt: not `lines PATH`, `function PATH NAME`, `folder PATH COUNT` or `circle FOLDER FILE…`: {line}"
                ),
            }
        }
        Ok(Self { entries: entries.into_iter().map(|exception| (exception, false)).collect() })
    }

    pub(super) fn has_long_file(&mut self, path: &str) -> bool {
        self.needs(&Exception::Lines(path.into()))
    }

    pub(super) fn has_long_function(&mut self, path: &str, name: &str) -> bool {
        self.needs(&Exception::Function(path.into(), name.into()))
    }

    /// Whether the list has this folder with this number of files.
    pub(super) fn has_full_folder(&mut self, path: &str, count: usize) -> bool {
        self.needs(&Exception::Folder(path.into(), count))
    }

    /// Whether one line of the list has all these files.
    pub(super) fn has_circle(&mut self, files: &[String]) -> bool {
        let line = self.entries.iter().find_map(|(exception, _)| match exception {
            Exception::Circle { line, file } if *file == files[0] => Some(*line),
            _ => None,
        });
        let Some(line) = line else { return false };
        // Every file, even after the first that is missing, so that each entry is reported once.
        let missing =
            files.iter().filter(|file| !self.needs(&Exception::Circle { line, file: (*file).clone() }));
        missing.count() == 0
    }

    fn needs(&mut self, exception: &Exception) -> bool {
        let entry = self.entries.iter_mut().find(|(known, _)| known == exception);
        entry.map(|(_, needed)| *needed = true).is_some()
    }

    /// The entries that nothing has needed.
    pub(super) fn unneeded(&self) -> Vec<Violation> {
        let unneeded = self.entries.iter().filter(|(_, needed)| !needed);
        unneeded
            .map(|(exception, _)| {
                let what = match exception {
                    Exception::Lines(path) => format!("{path} is short enough"),
                    Exception::Function(path, name) => format!("`{name}` in {path} is short enough, or gone"),
                    Exception::Folder(path, count) => format!("{path} does not have {count} files"),
                    Exception::Circle { file, .. } => format!("{file} is no longer in that circle"),
                };
                Violation::new("xtask/src/tidy/known.txt", "known", format!("remove the entry: {what}"))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_needed_or_violations() {
        let mut known = Known::parse(
            "# c\n\nlines a.rs: w\nfunction b.rs f: w\ncircle c/ d.rs e.rs: w\nfolder f/ 16: w\n",
        )
        .unwrap();
        assert_eq!(known.unneeded().len(), 5);
        assert!(known.has_long_file("a.rs") && !known.has_long_file("b.rs"));
        assert!(known.has_long_function("b.rs", "f") && !known.has_long_function("b.rs", "g"));
        assert!(known.has_circle(&["c/d.rs".into(), "c/e.rs".into()]));
        assert!(known.has_full_folder("f/", 16) && !known.has_full_folder("f/", 17), "a folder that grew");
        assert!(!known.has_circle(&["c/d.rs".into(), "c/f.rs".into()]), "a circle that grew");
        assert_eq!(known.unneeded(), []);
    }

    #[test]
    fn the_list_of_the_repository_can_be_read() {
        assert!(Known::list().is_ok());
        assert!(Known::parse("lines: why").is_err() && Known::parse("words a b: why").is_err());
        assert!(Known::parse("lines a.rs").is_err() && Known::parse("lines a.rs: ").is_err(), "no reason");
    }
}

//! Completion by Tab: slash commands, colon commands, modes, options and file paths.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agentwire_jsonrpc::Printable;
use agentwire_sync::{Mutex, MutexGuard};

use super::commands::COMMANDS;

/// The most files that are offered.
const MOST: usize = 200;

/// The names that Tab completes. Clones share them.
#[derive(Clone, Debug, Default)]
pub(in crate::chat) struct Completions(Arc<Mutex<Known>>);

/// The names that can be completed.
#[derive(Debug, Default)]
pub(in crate::chat) struct Known {
    pub(in crate::chat) folder: PathBuf,
    /// The agent's slash commands: name and description.
    pub(in crate::chat) commands: Vec<(String, String)>,
    /// The modes: id and name.
    pub(in crate::chat) modes: Vec<(String, String)>,
    /// The options: id and values.
    pub(in crate::chat) options: Vec<(String, Vec<String>)>,
}

/// A replacement for the end of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::chat) struct Candidate {
    /// Where the replaced text begins, in bytes.
    pub(in crate::chat) start: usize,
    pub(in crate::chat) text: String,
    pub(in crate::chat) about: Option<String>,
    /// Whether a space may follow. False for a folder.
    pub(in crate::chat) is_whole: bool,
}

impl Completions {
    /// Locks the names for reading or writing.
    pub(in crate::chat) fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock()
    }

    /// The possible continuations of the line up to the cursor. Texts with control characters are left out: the person would
    /// send characters that the terminal does not show.
    pub(in crate::chat) fn complete(&self, line: &str) -> Vec<Candidate> {
        let mut candidates = self.candidates(line);
        candidates.retain(|candidate| Printable::one_line(&candidate.text).is_plain());
        candidates
    }

    fn candidates(&self, line: &str) -> Vec<Candidate> {
        let known = self.known();
        let start = line.trim_end_matches(|c: char| !c.is_whitespace()).len();
        let quoted = line.rfind("@\"").filter(|at| !line[at + 2..].contains('"'));
        if let Some(at) = quoted {
            return files(&known.folder, at, &line[at + 2..]);
        }
        if let Some(path) = line[start..].strip_prefix('@').filter(|path| !path.starts_with('@')) {
            return files(&known.folder, start, path);
        }
        let words: Vec<_> = line[..start].split_whitespace().collect();
        let typed = &line[start..];
        match &*words {
            [] if typed.starts_with('/') => {
                matching(start, typed, known.commands.iter().map(|(name, about)| (format!("/{name}"), about)))
            }
            [] if typed.starts_with(':') => {
                matching(start, typed, COMMANDS.iter().map(|(name, _, about)| (format!(":{name}"), about)))
            }
            [":mode"] => matching(start, typed, known.modes.iter().map(|(id, name)| (id.clone(), name))),
            [":option"] => matching(start, typed, known.options.iter().map(|(id, _)| (id.clone(), ""))),
            [":option", option] => {
                let options = known.options.iter().filter(|(id, _)| id == option);
                let values = options.flat_map(|(_, values)| values).map(|value| (value.clone(), ""));
                matching(start, typed, values)
            }
            _ => Vec::new(),
        }
    }
}

fn matching<A: AsRef<str>>(
    start: usize,
    typed: &str,
    words: impl Iterator<Item = (String, A)>,
) -> Vec<Candidate> {
    let fits = words.filter(|(word, _)| word.starts_with(typed));
    let candidates = fits.map(|(text, about)| {
        let about = Some(about.as_ref().to_owned()).filter(|about| !about.is_empty());
        Candidate { start, text, about, is_whole: true }
    });
    candidates.collect()
}

/// The files whose path begins with `typed`. Includes hidden ones only if `typed` has the dot.
fn files(folder: &Path, start: usize, typed: &str) -> Vec<Candidate> {
    let (place, name) = typed.rsplit_once('/').map_or(("", typed), |(place, name)| (place, name));
    let above = &typed[..typed.len() - name.len()];
    let place = if above == "/" { Path::new("/") } else { Path::new(place) };
    let Ok(entries) = fs::read_dir(folder.join(place)) else { return Vec::new() };
    let names = entries.flatten().filter_map(|entry| {
        let found = entry.file_name().into_string().ok()?;
        let hidden = found.starts_with('.') && !name.starts_with('.');
        let is_folder = entry.path().is_dir();
        (found.starts_with(name) && !hidden && !found.contains(['"', '\n'])).then_some((found, is_folder))
    });
    let mut names: Vec<_> = names.take(MOST).collect();
    names.sort();
    let candidate = |(found, is_folder): (String, bool)| {
        let end = if is_folder { "/" } else { "" };
        let path = format!("{above}{found}{end}");
        let text = match path.contains(char::is_whitespace) {
            true if is_folder => format!("@\"{path}"),
            true => format!("@\"{path}\""),
            false => format!("@{path}"),
        };
        Candidate { start, text, about: None, is_whole: !is_folder }
    };
    names.into_iter().map(candidate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completions_of_tab() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("src")).unwrap();
        for file in ["src/main.rs", "a b.txt", ".hidden"] {
            fs::write(folder.path().join(file), "").unwrap();
        }
        let words = Completions::default();
        *words.known() = Known {
            folder: folder.path().into(),
            commands: [("plan", "Make a plan"), ("play", ""), ("pl\u{9b}2J", ""), ("plan\n:quit", "")]
                .map(|(name, about)| (name.into(), about.into()))
                .into(),
            modes: vec![("ask".into(), "Ask".into())],
            options: vec![("model".into(), vec!["large".into(), "small".into()])],
        };
        let texts = |line: &str| -> Vec<_> {
            words.complete(line).into_iter().map(|found| (found.start, found.text)).collect()
        };
        let offer = |start, texts: &[&str]| -> Vec<(usize, String)> {
            texts.iter().map(|text| (start, text.to_string())).collect()
        };
        assert_eq!(texts("/pl"), offer(0, &["/plan", "/play"]));
        assert_eq!(texts("say /pl"), []);
        assert_eq!(texts(":mo"), offer(0, &[":mode"]));
        assert_eq!(texts(":mode "), offer(6, &["ask"]));
        assert_eq!(texts(":option m"), offer(8, &["model"]));
        assert_eq!(texts(":option model s"), offer(14, &["small"]));
        assert_eq!(texts("see @"), offer(4, &["@\"a b.txt\"", "@src/"]));
        assert_eq!(texts("see @src/m"), offer(4, &["@src/main.rs"]));
        assert_eq!(texts("see @\"a b"), offer(4, &["@\"a b.txt\""]));
        assert_eq!(texts("see @@"), []);
        // Some spaces are more than one byte long.
        assert_eq!(texts("see\u{a0}@src/m"), offer(5, &["@src/main.rs"]));
    }
}

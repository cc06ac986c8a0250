//! Reads `FILE` and `FILE:NAME` of the command line, and finds the base folder of a file's relative paths.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use agentwire_jsonrpc::nearest;

use crate::failure::Usage;
use crate::output::text::quoted;
use crate::programs;

/// A configuration file, and the name of a server in it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FileAndName<'a> {
    pub(super) path: &'a Path,
    pub(super) name: Option<&'a str>,
}

/// The most entries of a folder that are compared with a mistyped name.
const ENTRIES: usize = 1000;

/// The end of the names of configuration files.
const ENDING: &str = ".json";

/// Reads `FILE` or `FILE:NAME`. `None` if the text is a URL or a command line. A text without spaces that ends in [`ENDING`] and
/// is not a file is an error: no program has such a name.
pub(super) fn file_and_name(text: &str) -> Result<Option<FileAndName<'_>>, Usage> {
    let starts =
        |scheme: &str| text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    if starts("http://") || starts("https://") {
        return Ok(None);
    }
    let ends = text.match_indices(ENDING).map(|(at, _)| at + ENDING.len());
    let mut missing = None;
    for end in ends {
        let (file, rest) = text.split_at(end);
        let name = match rest.strip_prefix(':') {
            Some(name) if !name.is_empty() => Some(name),
            None if rest.is_empty() => None,
            _ => continue,
        };
        let path = Path::new(file);
        if path.is_file() {
            return Ok(Some(FileAndName { path, name }));
        }
        missing = missing.or(Some(file));
    }
    match missing {
        // A URL of another scheme has advice of its own.
        Some(file) if !text.contains(char::is_whitespace) && !text.contains("://") => {
            Err(no_such_file(Path::new(file)))
        }
        _ => Ok(None),
    }
}

/// Refuses a word that is similar to the name of a configuration file, if it is neither a file nor a command.
pub(super) fn check_file(text: &str) -> Result<(), Usage> {
    let word = text.split_once(':').map_or(text, |(file, _)| file);
    let path = Path::new(word);
    let Some(name) = path.file_name().and_then(OsStr::to_str) else { return Ok(()) };
    let is_known = text.contains(char::is_whitespace) || path.exists() || programs::find(word).is_some();
    if is_known || !name.contains('.') {
        return Ok(());
    }
    match near_file(path) {
        Some(meant) => {
            let word = quoted(word);
            Err(Usage(format!("there is no file {word}, and no such command; did you mean {meant}?")))
        }
        None => Ok(()),
    }
}

/// The error for a file that is not there.
pub(super) fn no_such_file(path: &Path) -> Usage {
    let meant = near_file(path).map(|meant| format!("; did you mean {meant}?")).unwrap_or_default();
    Usage(format!("{}: there is no such file{meant}", path.display()))
}

/// The configuration file of the same folder whose name is nearest to that of a path, quoted.
fn near_file(path: &Path) -> Option<String> {
    let name = path.file_name().and_then(OsStr::to_str)?;
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let entries = folder.read_dir().into_iter().flatten().take(ENTRIES).flatten();
    let names: Vec<_> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let meant = nearest(name, names.iter().map(String::as_str).filter(|name| name.ends_with(ENDING)))?;
    let meant = folder.join(meant);
    Some(quoted(&meant.strip_prefix(".").unwrap_or(&meant).to_string_lossy()))
}

/// The folder in which the servers of a file start, and at which their relative paths begin: that of the file, or its parent if
/// the file is in an editor's own folder.
pub(super) fn base_folder(path: &Path) -> PathBuf {
    const OF_EDITORS: [&str; 3] = [".vscode", ".cursor", ".claude"];
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().unwrap_or(Path::new("/"));
    let is_of_editor = folder.file_name().is_some_and(|name| OF_EDITORS.iter().any(|other| name == *other));
    let above = folder.parent().filter(|_| is_of_editor);
    above.unwrap_or(folder).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_for_a_mistyped_file_names_the_nearest_one() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().display();
        std::fs::write(folder.path().join("mine.json"), "").unwrap();
        let check = |name: &str| check_file(&format!("{place}/{name}")).map_err(|Usage(why)| why);
        for name in ["mine.jsn", "mine.jsn:files", "mne.jso"] {
            let why = check(name).unwrap_err();
            assert!(why.ends_with("mine.json`?") && why.starts_with("there is no file `"), "{why}");
        }
        for name in ["other.example", "mine", "mine.jsn x"] {
            assert_eq!(check(name), Ok(()), "{name}");
        }
        assert_eq!(check_file("sh").map_err(|Usage(why)| why), Ok(()));
        let Usage(why) = no_such_file(&folder.path().join("mien.json"));
        assert!(why.contains("mien.json: there is no such file; did you mean `"), "{why}");
    }

    #[test]
    fn a_file_is_distinguished_from_a_command_and_a_url() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a b.json.json");
        std::fs::write(&path, "").unwrap();
        let file = path.to_str().unwrap();
        let named = format!("{file}:x.json:y");
        assert_eq!(file_and_name(file).unwrap(), Some(FileAndName { path: &path, name: None }));
        assert_eq!(file_and_name(&named).unwrap(), Some(FileAndName { path: &path, name: Some("x.json:y") }));
        for text in [
            "npx server",
            "server --config a.json",
            "server",
            "https://example.com/mcp.json",
            "file:///a.json",
            "a.json x",
            "b.jsonl",
        ] {
            assert_eq!(file_and_name(text).unwrap(), None, "{text}");
        }
        for text in ["no.json", "no.json:x"] {
            assert_eq!(file_and_name(text).unwrap_err().0, "no.json: there is no such file");
        }
    }

    #[test]
    fn servers_of_an_editor_start_in_the_folder_of_the_project() {
        for (file, expected) in
            [("/no/p/.vscode/mcp.json", "/no/p"), ("/no/p/.mcp.json", "/no/p"), ("/x.json", "/")]
        {
            assert_eq!(base_folder(Path::new(file)), Path::new(expected), "{file}");
        }
    }
}

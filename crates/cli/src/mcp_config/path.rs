//! `FILE` and `FILE:NAME` on the command line, and the folder that a file's relative paths begin at.

use std::path::{Path, PathBuf};

use crate::failure::Usage;

/// A configuration file, and the name of a server in it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FileAndName<'a> {
    pub(super) path: &'a Path,
    pub(super) name: Option<&'a str>,
}

/// The end of the names of configuration files.
const ENDING: &str = ".json";

/// Reads `FILE` or `FILE:NAME`. None if the text is something else: a URL, or a command line. A text without spaces that ends
/// as a file's name does, and is none, is an error: no program has such a name.
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
        Some(file) if !text.contains(char::is_whitespace) => {
            Err(Usage(format!("{file}: there is no such file")))
        }
        _ => Ok(None),
    }
}

/// The folder in which the servers of a file start, and from which their relative paths are taken: that of the file, or the one
/// above where editors keep the file in a folder of their own.
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
    fn a_file_is_told_from_a_command_and_a_url() {
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

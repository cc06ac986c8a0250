//! The file to which a code host attaches the findings about a program.

use std::path::{Component, Path};
use std::{fmt::Write as _, iter};

use crate::subject::{CommandLine, Target};

/// The first word of a command that is the relative path of a file, as a relative URI. A program that is looked up on the search
/// path is none, nor is a file outside the folder.
pub(super) fn file_of(target: &Target) -> Option<String> {
    let Target::Command(command) = target else { return None };
    let CommandLine { program, arguments, folder, .. } = command;
    let is_path = |program: &&String| Path::new(program).components().count() > 1;
    let words = iter::once(program).filter(is_path).chain(arguments);
    words.into_iter().find_map(|word| {
        let path = folder.as_deref().unwrap_or(Path::new("")).join(word);
        relative_uri(Path::new(word)).filter(|_| path.is_file())
    })
}

fn relative_uri(path: &Path) -> Option<String> {
    let mut parts = Vec::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::Normal(part) => parts.push(encoded(part.to_str()?)),
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(parts.join("/"))
}

/// A part of a path with percent signs for what a URI cannot have.
fn encoded(part: &str) -> String {
    let mut uri = String::new();
    for byte in part.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            uri.push(char::from(byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_a_command_is_a_relative_path_that_exists() {
        let file = |words: &[&str]| {
            let folder = env!("CARGO_MANIFEST_DIR");
            file_of(&Target::Command(CommandLine::new(words.iter().copied()).unwrap().folder(folder)))
        };
        assert_eq!(file(&["python", "./src/lib.rs", "Cargo.toml"]).as_deref(), Some("src/lib.rs"));
        assert_eq!(file(&["./src/lib.rs", "Cargo.toml"]).as_deref(), Some("src/lib.rs"));
        for words in [
            &["node"][..],
            &["Cargo.toml"],
            &["node", "src", "no/such/file"],
            &["node", "../conformance/Cargo.toml"],
            &["node", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")],
        ] {
            assert_eq!(file(words), None, "{words:?}");
        }
        assert_eq!(file_of(&Target::Url("http://x/mcp".into())), None);
        assert_eq!(encoded("a b%ä"), "a%20b%25%C3%A4");
    }
}

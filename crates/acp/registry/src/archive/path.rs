//! Paths that stay in their folder.

use std::path::{Component, Path, PathBuf};

/// A relative path without `..`. None for any other one, and for an empty one.
pub(super) fn plain_path(text: &str) -> Option<PathBuf> {
    let text = if cfg!(windows) { text.replace('\\', "/") } else { text.to_owned() };
    // On Windows a colon names a drive or a stream.
    if text.contains('\0') || (cfg!(windows) && text.contains(':')) {
        return None;
    }
    let mut path = PathBuf::new();
    for component in Path::new(&text).components() {
        match component {
            Component::Normal(name) => path.push(name),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    (!path.as_os_str().is_empty()).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_inside_are_plain() {
        assert_eq!(plain_path("./a/b"), Some("a/b".into()));
        for bad in ["", ".", "..", "../a", "a/../b", "/a", "a\0"] {
            assert_eq!(plain_path(bad), None, "{bad}");
        }
    }
}

//! The directories of a session, and the paths in them that are denied.

use std::path::{Path, PathBuf};

use crate::path_pattern::PathPattern;

/// The directories of a session.
#[derive(Clone, Debug)]
pub(crate) struct Roots {
    /// The directories as absolute paths without links. A directory within another is left out.
    real: Vec<PathBuf>,
    /// The directories by their given names, in order, each with the path that the name resolved to.
    named: Vec<(PathBuf, PathBuf)>,
    /// The patterns of paths that the agent cannot access.
    denied: Vec<PathPattern>,
}

/// The relation of an absolute path without links to the roots.
#[cfg(unix)]
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RootRelation<'a> {
    /// The path is a root.
    Root(&'a Path),
    /// The path is another name of this directory, which is a root or in one.
    Alias(&'a Path),
    /// A root is below the path. `real`: the way to that root has no links.
    Above { real: bool },
    /// The path is neither of these.
    Outside,
}

impl Roots {
    /// Resolves the names once, so a link that is exchanged later gives access to no other directory.
    pub(crate) fn new(directories: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        let named: Vec<_> = directories.into_iter().map(|directory| resolved(directory.into())).collect();
        let mut real: Vec<PathBuf> = Vec::new();
        for (_, directory) in &named {
            if !real.iter().any(|outer| directory.starts_with(outer)) {
                real.retain(|inner| !inner.starts_with(directory));
                real.push(directory.clone());
            }
        }
        Self { real, named, denied: Vec::new() }
    }

    pub(crate) fn deny(&mut self, pattern: PathPattern) {
        self.denied.push(pattern);
    }

    /// Returns whether a path without links is denied, or cannot be compared with a pattern.
    pub(crate) fn denies(&self, real: &Path) -> bool {
        self.denied.iter().any(|pattern| pattern.matches(real) != Some(false))
    }

    /// Returns the first directory, by its given name.
    pub(crate) fn first(&self) -> Option<&Path> {
        self.named.first().map(|(name, _)| &**name)
    }

    /// Returns whether a path without links is in one of the directories.
    pub(crate) fn contain(&self, real: &Path) -> bool {
        self.real.iter().any(|root| real.starts_with(root))
    }

    /// Returns whether the text of a path is below one of the directories.
    pub(crate) fn seem_to_contain(&self, path: &Path) -> bool {
        self.contain(path) || self.named.iter().any(|(name, _)| path.starts_with(name))
    }

    #[cfg(unix)]
    pub(crate) fn relation(&self, path: &Path) -> RootRelation<'_> {
        if let Some(root) = self.real.iter().find(|root| *root == path) {
            return RootRelation::Root(root);
        }
        if let Some((_, real)) = self.named.iter().find(|(name, _)| name == path) {
            return RootRelation::Alias(real);
        }
        match self.real.iter().any(|root| root.starts_with(path)) {
            true => RootRelation::Above { real: true },
            false if self.named.iter().any(|(name, _)| name.starts_with(path)) => {
                RootRelation::Above { real: false }
            }
            false => RootRelation::Outside,
        }
    }
}

/// Returns a directory's name as an absolute path, and the directory without links. The missing part of a directory
/// that does not exist yet is kept as it is.
fn resolved(directory: PathBuf) -> (PathBuf, PathBuf) {
    let name = std::path::absolute(&directory).unwrap_or(directory);
    let real = name.ancestors().find_map(|existing| {
        let real = existing.canonicalize().ok()?;
        let missing = name.strip_prefix(existing).ok()?;
        Some(missing.components().fold(real, |real, component| real.join(component)))
    });
    let real = real.unwrap_or_else(|| name.clone());
    (name, real)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn inner_roots_are_part_of_outer_ones() {
        let roots = Roots::new(["/no/such/a/b", "/no/such/a", "/no/such/c", "/no/such/a/d"]);
        assert_eq!(roots.real, ["/no/such/a", "/no/such/c"].map(PathBuf::from));
        assert_eq!(roots.first(), Some(Path::new("/no/such/a/b")));
        assert_eq!(roots.relation(Path::new("/no/such/a")), RootRelation::Root(Path::new("/no/such/a")));
        assert_eq!(roots.relation(Path::new("/no/such")), RootRelation::Above { real: true });
        assert_eq!(roots.relation(Path::new("/no/such/ab")), RootRelation::Outside);
        assert!(!roots.contain(Path::new("/no/such/ab")));
    }
}

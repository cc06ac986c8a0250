use std::path::{Path, PathBuf};

/// The directories of a session.
#[derive(Debug)]
pub(crate) struct Roots {
    /// Free of links, absolute, and none within another: what is in the inner one is in the outer one.
    real: Vec<PathBuf>,
    /// The directories as they were named, in order, with what each of these names stood for then.
    named: Vec<(PathBuf, PathBuf)>,
}

/// What an absolute path without links is to the roots.
#[cfg(unix)]
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Standing<'a> {
    /// It is a root.
    Root(&'a Path),
    /// It is another name of this directory, which is a root or in one.
    Alias(&'a Path),
    /// A root is somewhere below it. `real` if there are no links on the way to that root.
    Above { real: bool },
    /// It has nothing to do with them.
    Outside,
}

impl Roots {
    /// Looks once where the names lead. What they lead to later makes no difference: a link that is exchanged
    /// opens no new directory.
    pub(crate) fn new(directories: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        let named: Vec<_> = directories.into_iter().map(|directory| resolved(directory.into())).collect();
        let mut real: Vec<PathBuf> = Vec::new();
        for (_, directory) in &named {
            if !real.iter().any(|outer| directory.starts_with(outer)) {
                real.retain(|inner| !inner.starts_with(directory));
                real.push(directory.clone());
            }
        }
        Self { real, named }
    }

    /// The first directory, as it was named.
    pub(crate) fn first(&self) -> Option<&Path> {
        self.named.first().map(|(name, _)| &**name)
    }

    /// Whether a path without links is in one of them.
    pub(crate) fn contain(&self, real: &Path) -> bool {
        self.real.iter().any(|root| real.starts_with(root))
    }

    /// Whether a path is in one of them by its text alone.
    pub(crate) fn seem_to_contain(&self, path: &Path) -> bool {
        self.contain(path) || self.named.iter().any(|(name, _)| path.starts_with(name))
    }

    #[cfg(unix)]
    pub(crate) fn standing(&self, path: &Path) -> Standing<'_> {
        if let Some(root) = self.real.iter().find(|root| *root == path) {
            return Standing::Root(root);
        }
        if let Some((_, real)) = self.named.iter().find(|(name, _)| name == path) {
            return Standing::Alias(real);
        }
        match self.real.iter().any(|root| root.starts_with(path)) {
            true => Standing::Above { real: true },
            false if self.named.iter().any(|(name, _)| name.starts_with(path)) => {
                Standing::Above { real: false }
            }
            false => Standing::Outside,
        }
    }
}

/// A directory's name, made absolute, and the directory without links. Of one that does not exist yet, what is missing is
/// taken by its name.
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
        assert_eq!(roots.standing(Path::new("/no/such/a")), Standing::Root(Path::new("/no/such/a")));
        assert_eq!(roots.standing(Path::new("/no/such")), Standing::Above { real: true });
        assert_eq!(roots.standing(Path::new("/no/such/ab")), Standing::Outside);
        assert!(!roots.contain(Path::new("/no/such/ab")));
    }
}

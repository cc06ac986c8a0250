//! The errors of our own configuration file, which do not show its values.

use std::path::Path;

use crate::failure::Usage;

/// An error at a place of the file, such as `agents.claude.env`.
pub(super) fn wrong(path: &Path, place: &str, why: &str) -> Usage {
    match place {
        "" => Usage(format!("{}: {why}", path.display())),
        place => Usage(format!("{}: {place}: {why}", path.display())),
    }
}

//! Finds programs in `PATH`.

use std::path::PathBuf;

use agentwire_transport_stdio::find_program;

/// The path of a program. Searches `PATH` for a name without `/`, as a shell does.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    find_program(program, std::env::split_paths(&path))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn names_are_looked_for_in_the_path() {
        assert!(find("sh").is_some_and(|path| path.is_absolute() && path.ends_with("sh")));
        assert_eq!(find("no-such-program-anywhere"), None);
    }
}

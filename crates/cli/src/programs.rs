//! The paths of programs.

use std::path::PathBuf;

/// The path of a program: a name without `/` is looked for in `PATH`, as a shell does it.
#[cfg(unix)]
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let is_program =
        |path: &PathBuf| path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok();
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(is_program);
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(program)).find(is_program)
}

#[cfg(not(unix))]
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    which::which(program).ok()
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn only_what_can_be_executed_is_a_program() {
        assert!(find("sh").is_some_and(|path| path.is_absolute() && path.ends_with("sh")));
        assert_eq!(find("no-such-program-anywhere"), None);
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(find(folder.path().to_str().unwrap()), None, "a folder");
        let file = folder.path().join("run");
        fs::write(&file, "").unwrap();
        assert_eq!(find(file.to_str().unwrap()), None, "a file");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(find(file.to_str().unwrap()), Some(file));
    }
}

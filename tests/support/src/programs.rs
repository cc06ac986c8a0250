//! The programs of the build that built this test.

use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{env, fs, io};

use crate::dep_info::sources;

/// Builds every program with the features that a test of the workspace gives it: examples take those of the tests.
const BUILD: &str = "cargo build --workspace --bins --examples";

/// Returns the path of a program of the workspace.
///
/// # Panics
///
/// If the program is missing, or older than one of its sources.
pub fn program(name: &str) -> PathBuf {
    built(&profile(), name)
}

/// Returns the path of an example of the workspace.
///
/// # Panics
///
/// If the example is missing, or older than one of its sources.
pub fn example(name: &str) -> PathBuf {
    built(&profile().join("examples"), name)
}

/// The folder of the profile, `target/[TRIPLE/]PROFILE`, in which this test is `deps/NAME`.
fn profile() -> PathBuf {
    let test = env::current_exe().expect("a test has a path");
    test.parent().and_then(Path::parent).expect("a test is in PROFILE/deps").to_owned()
}

fn built(folder: &Path, name: &str) -> PathBuf {
    find(folder, name).unwrap_or_else(|why| panic!("{why}; run `{BUILD}`"))
}

fn find(folder: &Path, name: &str) -> Result<PathBuf, String> {
    let program = folder.join(format!("{name}{}", env::consts::EXE_SUFFIX));
    let built = modified(&program).map_err(|_| format!("{} is missing", program.display()))?;
    for source in sources(folder, name) {
        if modified(&source).is_ok_and(|time| time > built) {
            return Err(format!("{} is older than {}", program.display(), source.display()));
        }
    }
    Ok(program)
}

fn modified(path: &Path) -> io::Result<SystemTime> {
    fs::metadata(path)?.modified()
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_missing_program_is_an_error_that_names_the_command() {
        let folder = tempfile::tempdir().unwrap();
        let why = std::panic::catch_unwind(|| built(folder.path(), "absent")).unwrap_err();
        let why = why.downcast_ref::<String>().unwrap();
        assert!(why.contains("absent is missing; run `cargo build --workspace --bins --examples`"), "{why}");
    }

    #[test]
    fn a_program_older_than_a_source_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let program = format!("tool{}", env::consts::EXE_SUFFIX);
        let info = format!(
            "{}: {} {}\n",
            path("tool").display(),
            path("a.rs").display(),
            path("b\\ c.rs").display()
        );
        for (name, text) in [("a.rs", ""), ("b c.rs", ""), (&*program, ""), ("tool.d", &info)] {
            fs::write(path(name), text).unwrap();
        }
        let built = modified(&path(&program)).unwrap();
        let touch = |name: &str, time| {
            File::options().write(true).open(path(name)).unwrap().set_modified(time).unwrap()
        };
        touch("b c.rs", built);
        touch("a.rs", built - Duration::from_secs(1));
        assert_eq!(find(folder.path(), "tool"), Ok(path(&program)));
        touch("b c.rs", built + Duration::from_secs(1));
        let why = find(folder.path(), "tool").unwrap_err();
        assert!(why.contains(&*program) && why.ends_with("b c.rs"), "{why}");
    }

    #[test]
    fn the_folder_of_the_profile_contains_this_test() {
        assert!(profile().join("deps").join(env::current_exe().unwrap().file_name().unwrap()).exists());
    }
}

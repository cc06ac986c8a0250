//! Finds the file of a program by its name, on Windows with the endings of `PATHEXT`.
//!
//! The system itself looks for `.exe` alone, but `npx`, `uvx` and most commands that package managers install are `.cmd` files there.
//! The standard library starts such a file through `cmd.exe`. It quotes the arguments so that `cmd.exe` runs none of them, and refuses
//! those that cannot be quoted; it does so only if the name of the program ends with `.bat` or `.cmd`.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The endings of the files that Windows can start. `PATHEXT` also lists scripts, which only a shell starts.
const STARTABLE: [&str; 4] = [".com", ".exe", ".bat", ".cmd"];

/// Finds the file of a program. A name is looked for in `folders`, in their order. On Windows an ending of `PATHEXT` may complete a
/// name or a path. Returns None if there is no such file, or if it cannot be executed.
pub fn find_program(
    program: impl AsRef<OsStr>,
    folders: impl IntoIterator<Item = PathBuf>,
) -> Option<PathBuf> {
    find(program.as_ref(), folders, &endings(), is_executable)
}

/// Returns the program to pass to [`std::process::Command`], which does not know `PATHEXT`. On Windows, that is the file
/// that [`find_program`] finds in the absolute folders of `path`, or of our own `PATH`; a relative path starts at
/// `directory`. On other systems, and if no file is found, it is `program`.
pub fn startable_program(program: &OsStr, path: Option<&OsStr>, directory: Option<&Path>) -> OsString {
    let own = env::var_os("PATH");
    let path = path.or(own.as_deref());
    let found = startable(program, path, directory, &endings(), is_executable);
    found.map_or_else(|| program.to_owned(), OsString::from)
}

/// The file that completes a program. `None` on a system without `endings`, which completes no names.
fn startable(
    program: &OsStr,
    path: Option<&OsStr>,
    directory: Option<&Path>,
    endings: &[String],
    is_executable: impl Fn(&Path) -> bool,
) -> Option<PathBuf> {
    if endings.is_empty() {
        return None;
    }
    if is_path(program, true) {
        let file = directory.map_or_else(|| program.into(), |directory| directory.join(program));
        return find(file.as_os_str(), [], endings, is_executable);
    }
    let folders = env::split_paths(path?).filter(|folder| folder.is_absolute());
    find(program, folders, endings, is_executable)
}

/// The first file of a program that can be executed. A system that completes no names has no `endings`.
fn find(
    program: &OsStr,
    folders: impl IntoIterator<Item = PathBuf>,
    endings: &[String],
    is_executable: impl Fn(&Path) -> bool,
) -> Option<PathBuf> {
    let files: Vec<PathBuf> = match is_path(program, !endings.is_empty()) {
        true => vec![program.into()],
        false => folders.into_iter().map(|folder| folder.join(program)).collect(),
    };
    files.into_iter().flat_map(|file| names(file, endings)).find(|file| is_executable(file))
}

/// The names that a file may have: as it is if it has an ending, and with each ending.
fn names(file: PathBuf, endings: &[String]) -> Vec<PathBuf> {
    let name = file.to_string_lossy().to_ascii_lowercase();
    let is_whole = endings.is_empty() || STARTABLE.iter().any(|ending| name.ends_with(ending));
    let with = |ending: &String| {
        let mut name = file.clone().into_os_string();
        name.push(ending);
        PathBuf::from(name)
    };
    let completed = endings.iter().map(with);
    is_whole.then(|| file.clone()).into_iter().chain(completed).collect()
}

/// Whether a program is given by its path. On Windows a colon follows a drive.
fn is_path(program: &OsStr, is_windows: bool) -> bool {
    let separators: &[u8] = if is_windows { b"/\\:" } else { b"/" };
    program.as_encoded_bytes().iter().any(|byte| separators.contains(byte))
}

/// The endings of programs on this system.
fn endings() -> Vec<String> {
    if cfg!(windows) { endings_of(env::var_os("PATHEXT").as_deref()) } else { Vec::new() }
}

/// The endings in a `PATHEXT` that Windows can start, in its order. All of [`STARTABLE`] if there are none.
fn endings_of(pathext: Option<&OsStr>) -> Vec<String> {
    let text = pathext.unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let listed = text.split(';').map(str::trim).filter(|ending| STARTABLE.contains(ending));
    let listed: Vec<String> = listed.map(str::to_owned).collect();
    if listed.is_empty() { STARTABLE.map(str::to_owned).to_vec() } else { listed }
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    file.is_file() && rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()
}

#[cfg(not(unix))]
fn is_executable(file: &Path) -> bool {
    file.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The file that is found among `files`, on a system with this `PATHEXT`.
    fn found(program: &str, files: &[&str], pathext: Option<&str>) -> Option<PathBuf> {
        let endings = endings_of(pathext.map(OsStr::new));
        let folders = ["/node", "/bin"].map(PathBuf::from);
        let is_file = |file: &Path| files.iter().any(|known| file == Path::new(known));
        find(program.as_ref(), folders, &endings, is_file)
    }

    #[test]
    fn name_is_completed_by_the_endings_of_pathext_in_their_order() {
        // Node.js installs these: the script for other shells has no ending.
        let node = ["/node/npx", "/node/npx.cmd", "/node/node.exe", "/bin/npx.exe", "/bin/tool.js"];
        let usual = Some(".COM;.EXE;.BAT;.CMD;.VBS;.JS;.MSC");
        for (program, file) in [
            ("npx", Some("/node/npx.cmd")),
            ("node", Some("/node/node.exe")),
            ("node.exe", Some("/node/node.exe")),
            ("NPX.CMD", None),
            ("npx.cmd", Some("/node/npx.cmd")),
            ("tool", None),
            ("tool.js", None),
            ("/node/npx", Some("/node/npx.cmd")),
            ("/node/npx.cmd", Some("/node/npx.cmd")),
            ("C:npx", None),
            ("", None),
        ] {
            assert_eq!(found(program, &node, usual), file.map(PathBuf::from), "{program}");
        }
        let both = ["/node/x.cmd", "/node/x.exe", "/bin/y.z.bat"];
        assert_eq!(found("x", &both, Some(".CMD;.EXE")), Some("/node/x.cmd".into()));
        assert_eq!(found("x", &both, None), Some("/node/x.exe".into()));
        assert_eq!(found("x", &both, Some(".PY")), Some("/node/x.exe".into()));
        assert_eq!(
            found("y.z", &both, None),
            Some("/bin/y.z.bat".into()),
            "`.z` is not the ending of a program"
        );
    }

    /// The program that the standard library gets on Windows, whose files are `files`. The paths have the form of this system.
    #[cfg(unix)]
    #[test]
    fn startable_program_is_the_file_that_pathext_completes() {
        let files = [
            "/node/npx.cmd",
            "/node/tool.exe",
            "/bin/old.bat",
            "/bin/npx.exe",
            "/x/sub/run.cmd",
            "here/no.exe",
        ];
        let endings = endings_of(Some(".COM;.EXE;.BAT;.CMD".as_ref()));
        let is_file = |file: &Path| files.iter().any(|known| file == Path::new(known));
        let npx = Some("/node/npx.cmd");
        for (program, path, directory, file) in [
            ("npx", Some("/node:/bin"), None, npx),
            ("npx", Some("/bin:/node"), None, Some("/bin/npx.exe")),
            ("npx", Some("/node:/bin"), Some("/x"), npx),
            ("npx.cmd", Some("/bin:/node"), None, npx),
            ("tool", Some("/node"), None, Some("/node/tool.exe")),
            ("old", Some("/node:/bin"), None, Some("/bin/old.bat")),
            // A program is not taken from the directory that happens to be current.
            ("no", Some("here:"), None, None),
            ("npx", Some(""), None, None),
            ("npx", None, None, None),
            ("sub/run", Some("/node"), Some("/x"), Some("/x/sub/run.cmd")),
            ("./sub/run.cmd", None, Some("/x"), Some("/x/./sub/run.cmd")),
            ("sub/run", Some("/x"), None, None),
            ("/node/npx", None, Some("/x"), npx),
            ("/node/other", None, None, None),
        ] {
            let startable = |endings: &[String]| {
                let (path, directory) = (path.map(OsStr::new), directory.map(Path::new));
                startable(program.as_ref(), path, directory, endings, is_file)
            };
            assert_eq!(
                startable(&endings),
                file.map(PathBuf::from),
                "{program} in {path:?} from {directory:?}"
            );
            assert_eq!(startable(&[]), None, "{program} on a system without endings");
        }
    }

    #[test]
    fn systems_without_endings_take_a_name_as_it_is() {
        let is_file =
            |file: &Path| ["/bin/npx", "/node/npx.cmd", "/x y"].iter().any(|known| file == Path::new(known));
        let folders = || ["/node", "/bin"].map(PathBuf::from);
        assert_eq!(find("npx".as_ref(), folders(), &[], is_file), Some("/bin/npx".into()));
        assert_eq!(find("/x y".as_ref(), folders(), &[], is_file), Some("/x y".into()));
        assert_eq!(find("c:npx".as_ref(), folders(), &[], is_file), None);
    }

    #[cfg(unix)]
    #[test]
    fn only_what_can_be_executed_is_found() {
        use std::fs;
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run");
        fs::write(&file, "").unwrap();
        let find = || find_program("run", [folder.path().to_owned()]);
        assert_eq!(
            (find(), find_program(folder.path(), [])),
            (None, None),
            "a file without the right, and a folder"
        );
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(find(), Some(file.clone()));
        assert_eq!(find_program(&file, []), Some(file));
        assert_eq!(startable_program("run".as_ref(), None, None), "run");
    }

    /// A `.cmd` file runs and passes its arguments on, as those of npm do, and `cmd.exe` runs none of them.
    #[cfg(windows)]
    #[tokio::test]
    async fn batch_file_is_started_with_quoted_arguments() {
        use futures::StreamExt as _;

        let folder = tempfile::tempdir().unwrap();
        std::fs::write(
            folder.path().join("tool.cmd"),
            "@echo off\r\n>arguments echo %*\r\necho {\"jsonrpc\":\"2.0\",\"method\":\"started\"}\r\n",
        )
        .unwrap();
        let hostile = [
            "\" & echo x> pwned & \"",
            "%CMDCMDLINE:~-1%&echo x>pwned",
            "a b",
            "^&echo x>pwned",
            "&echo x>pwned",
        ];
        let path = std::env::join_paths([folder.path().to_owned()]).unwrap();
        let command =
            super::super::Command::new("tool").args(hostile).env("Path", path).current_dir(folder.path());
        let mut child = super::super::Child::spawn(command).unwrap();
        let first = child.next().await.expect("it writes a line").expect("it is a message");
        assert!(matches!(first, agentwire_transport::Packet::Frame { .. }), "{first:?}");
        while child.next().await.is_some_and(|packet| packet.is_ok()) {}
        let arguments = std::fs::read_to_string(folder.path().join("arguments")).unwrap();
        assert!(arguments.contains("\"a b\"") && arguments.contains("&echo x>pwned"), "{arguments}");
        assert!(!folder.path().join("pwned").exists());
    }

    /// A line end would cut the command line of `cmd.exe`.
    #[cfg(windows)]
    #[tokio::test]
    async fn batch_file_is_not_started_with_an_argument_that_cannot_be_quoted() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("tool.cmd"), "@echo off\r\n").unwrap();
        let spawn = |argument: &str| {
            let command = super::super::Command::new("tool").arg(argument).env("PATH", folder.path());
            super::super::Child::spawn(command)
        };
        for argument in ["a\nb", "a\rb", "a\r\n"] {
            assert!(spawn(argument).is_err(), "{argument:?}");
        }
        assert!(spawn("a b").is_ok());
    }
}

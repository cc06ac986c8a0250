//! The source files of a program, from the dep-info files that cargo and rustc write.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cargo;

/// Returns the sources of the program `folder/name` and of the local crates that it links.
///
/// Cargo writes them to `name.d` for the targets that its command line selects. `cargo test` selects examples, but builds a
/// program only as a dependency of its package's integration tests, so that file is missing until `cargo build` has run.
pub(crate) fn sources(folder: &Path, name: &str) -> Vec<PathBuf> {
    match fs::read_to_string(folder.join(format!("{name}.d"))) {
        Ok(text) => parse(&text),
        Err(_) => sources_of_crates(&folder.join("deps"), &name.replace('-', "_")),
    }
}

/// Returns the sources that the first rule of a dep-info file lists, which is a rule of a Makefile: a space within a path follows a
/// backslash.
fn parse(text: &str) -> Vec<PathBuf> {
    const SPACE: &str = "\0";
    let rule = text.lines().next().unwrap_or_default().replace("\\ ", SPACE);
    let sources = rule.split_once(": ").map_or("", |(_, sources)| sources);
    sources.split_whitespace().map(|path| root().join(path.replace(SPACE, " "))).collect()
}

/// Collects the sources from rustc's dep-info files in `deps`, of which each has those of one crate. Files of earlier builds list
/// sources that may be gone.
fn sources_of_crates(deps: &Path, program: &str) -> Vec<PathBuf> {
    let crates: Vec<_> =
        fs::read_dir(deps).into_iter().flatten().filter_map(|entry| read(&entry.ok()?.path())).collect();
    let own = crates.iter().filter(|(name, _)| name == program).flat_map(|(_, sources)| sources);
    let mut found: Vec<_> = own.cloned().collect();
    let Some(package) =
        found.first().and_then(|main| main.ancestors().find(|path| path.join("Cargo.toml").exists()))
    else {
        return found;
    };
    let packages = packages(package);
    let linked = crates.iter().filter(|(name, _)| name.starts_with("lib")).flat_map(|(_, sources)| sources);
    found.extend(linked.filter(|path| packages.iter().any(|package| path.starts_with(package))).cloned());
    found.retain(|path| path.exists());
    found
}

/// Returns the crate of a dep-info file `deps/NAME-HASH.d` and its sources. The name of a library begins with `lib`, as that of the
/// built file does.
fn read(path: &Path) -> Option<(String, Vec<PathBuf>)> {
    let stem = path.file_name()?.to_str()?.strip_suffix(".d")?;
    let (name, _) = stem.rsplit_once('-')?;
    let text = fs::read_to_string(path).ok()?;
    let kind = if text.contains(&format!("lib{stem}.")) { "lib" } else { "" };
    Some((format!("{kind}{name}"), parse(&text)))
}

/// Returns the folders of the local packages that a package links.
fn packages(package: &Path) -> Vec<PathBuf> {
    let mut tree = cargo();
    tree.args([
        "tree",
        "--quiet",
        "--offline",
        "--all-features",
        "--edges",
        "normal,build",
        "--prefix",
        "none",
    ]);
    let output = tree.current_dir(package).output().expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tree = String::from_utf8(output.stdout).expect("cargo writes UTF-8");
    let paths =
        tree.lines().filter_map(|line| line.trim_end_matches(" (*)").rsplit_once(" (")?.1.strip_suffix(')'));
    paths.map(PathBuf::from).filter(|path| path.is_absolute()).collect()
}

/// The folder of the workspace, to which rustc's paths of its members' sources are relative.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("this package is in WORKSPACE/tests/support")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_spaces_belong_to_the_path() {
        let text = "/target/a\\ b/x: /a\\ b/main.rs crates/core/peer/src/lib.rs /c.rs\n\n/a\\ b/main.rs:\n";
        let expected = ["/a b/main.rs".into(), root().join("crates/core/peer/src/lib.rs"), "/c.rs".into()];
        assert_eq!(parse(text), expected);
        assert_eq!(parse("/target/x:\n"), [""; 0].map(PathBuf::from));
    }

    #[test]
    fn without_cargo_s_dep_info_sources_are_those_of_the_linked_crates() {
        let folder = tempfile::tempdir().unwrap();
        let deps = folder.path().join("deps");
        fs::create_dir(&deps).unwrap();
        let write = |stem: &str, target: &str, source: &str| {
            let text =
                format!("/target/debug/deps/{stem}.d: {source}\n\n/target/debug/deps/{target}: {source}\n");
            fs::write(deps.join(format!("{stem}.d")), text).unwrap();
        };
        // The second file is that of a test, a source is gone, and nothing links `xtask`.
        write("agentwire_jsonrpc-1", "libagentwire_jsonrpc-1.rlib", "crates/core/jsonrpc/src/lib.rs");
        write("agentwire_jsonrpc-2", "agentwire_jsonrpc-2", "crates/core/jsonrpc/src/error.rs");
        write("agentwire_sync-1", "libagentwire_sync-1.rlib", "crates/core/sync/src/gone.rs");
        write("xtask-1", "libxtask-1.rlib", "xtask/src/main.rs");
        write("everything_server-1", "everything_server-1", "tests/conformance/server/main.rs");
        let found = sources(folder.path(), "everything-server");
        let expected = ["tests/conformance/server/main.rs", "crates/core/jsonrpc/src/lib.rs"];
        assert_eq!(found, expected.map(|path| root().join(path)));
    }
}

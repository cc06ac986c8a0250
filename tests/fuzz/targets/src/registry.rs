//! The data of a registry: its index, and archives.

use std::fs;
use std::io::Write as _;
use std::path::{Component, Path};

use agentwire_agent_registry::{Index, Kind, Limits, Plan, PlanOptions, unpack};
use tempfile::TempDir;

pub(crate) const INDEX_WORDS: &[&[u8]] = &[
    br#"{"agents":["#,
    br#""id":"a""#,
    br#""version":"1.0.0""#,
    br#""distribution":{"#,
    br#""npx":{"package":"a@1.0.0"}"#,
    br#""args":["--acp"]"#,
    br#""env":{"A":"b"}"#,
    br#""cmd":"../a""#,
    br"\u001b[2J",
    b"../",
];

pub(crate) const ARCHIVE_WORDS: &[&[u8]] = &[
    b"../",
    b"/etc/",
    b"ustar",
    b"PK\x01\x02",
    b"PK\x03\x04",
    b"PK\x05\x06",
    b"0000755\0",
    b"path=",
    b"size=",
];

const FILES: u64 = 64;
const BYTES: u64 = 1 << 20;

/// An index is one or not, and what a person reads of a plan has one line for each thing, and nothing that controls a terminal.
pub(crate) fn index(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let Ok(index) = Index::parse(text, "the registry") else { return };
    for entry in &index.agents {
        assert!(!entry.id.contains(['/', '.', '\\']) && !entry.version.contains(['/', '\\', '\n']));
        for kind in [Kind::Npx, Kind::Uvx, Kind::Binary] {
            let Ok(plan) = Plan::new(entry, &index, &PlanOptions::default().kind(kind)) else { continue };
            let shown = plan.to_string();
            assert!(shown.chars().all(|letter| letter == '\n' || !letter.is_control()), "{shown:?}");
            assert!(shown.lines().count() <= 5 + plan.env.len(), "{shown:?}");
            assert!(!plan.source.starts_with('-'), "an option: {}", plan.source);
        }
    }
}

/// The first byte chooses the form. What is unpacked stays in its folder and in its limits.
pub(crate) fn archive(bytes: &[u8]) {
    let Some((form, rest)) = bytes.split_first() else { return };
    let place = TempDir::new().expect("there is room");
    let (archive, folder) = (place.path().join("archive"), place.path().join("files"));
    fs::create_dir(&folder).expect("there is room");
    let (name, content) = match form % 4 {
        0 => ("a.zip", rest.to_vec()),
        1 => ("a.tar.bz2", rest.to_vec()),
        2 => ("a.tgz", rest.to_vec()),
        // This gets past the checksum of gzip.
        _ => ("a.tgz", gzip(rest)),
    };
    fs::write(&archive, content).expect("there is room");
    let limits = Limits::default().files_limit(FILES).unpacked_limit(BYTES);
    let _unpacked = unpack(&archive, name, &folder, &limits);

    assert_eq!(fs::read_dir(place.path()).expect("it is there").count(), 2, "something is beside the folder");
    let (mut files, mut bytes) = (0, 0);
    count(&folder, &folder, &mut files, &mut bytes);
    assert!(files <= FILES && bytes <= BYTES, "{files} files with {bytes} bytes");
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(bytes).expect("a list takes all");
    gzip.finish().expect("a list takes all")
}

/// Counts what is in a folder, and checks that no link leads out of the root.
fn count(root: &Path, folder: &Path, files: &mut u64, bytes: &mut u64) {
    for entry in fs::read_dir(folder).expect("it is there") {
        let path = entry.expect("it is there").path();
        let metadata = path.symlink_metadata().expect("it is there");
        *files += 1;
        if metadata.is_dir() {
            count(root, &path, files, bytes);
        } else if metadata.is_symlink() {
            let target = fs::read_link(&path).expect("it is a link");
            assert!(is_inside(root, folder, &target), "{} leads to {}", path.display(), target.display());
        } else {
            assert!(metadata.is_file(), "{} is not a file", path.display());
            *bytes += metadata.len();
        }
    }
}

fn is_inside(root: &Path, folder: &Path, target: &Path) -> bool {
    let mut path = folder.to_owned();
    for component in target.components() {
        match component {
            Component::ParentDir => drop(path.pop()),
            Component::Normal(name) => path.push(name),
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return false,
        }
    }
    // A target like `../../x/..` would be back inside; none has `..` behind a name.
    path.starts_with(root)
}

//! Files within the session's directories, links, unsaved text and denied paths.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use agentwire_acp_client::Error;
use agentwire_acp_schema::v1::{ReadTextFileRequest, WriteTextFileRequest};
use agentwire_acp_toolkit::{BufferFuture, Buffers, Files};
use rustix::fs::{CWD, RenameFlags};
use tempfile::TempDir;

use crate::{invalid, missing};

/// A directory of the session and one outside, each with a file.
struct Fixture {
    _directory: TempDir,
    root: PathBuf,
    outside: PathBuf,
    files: Files,
}

impl Fixture {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path().canonicalize().unwrap();
        let (root, outside) = (base.join("root"), base.join("outside"));
        for (path, text) in [(&root, "hello"), (&outside, "secret")] {
            fs::create_dir_all(path.join("sub")).unwrap();
            fs::write(path.join("file"), text).unwrap();
            fs::write(path.join("sub/file"), text).unwrap();
        }
        let files = Files::new([&root]);
        Self { _directory: directory, root, outside, files }
    }

    async fn read(&self, path: impl AsRef<Path>) -> Result<String, Error> {
        read(&self.files, self.root.join(path)).await
    }

    async fn write(&self, path: impl AsRef<Path>, text: &str) -> Result<(), Error> {
        let request = WriteTextFileRequest::new("s", self.root.join(path), text);
        self.files.write(&request).await.map(drop)
    }

    fn link(&self, target: impl AsRef<Path>, name: &str) {
        symlink(target, self.root.join(name)).unwrap();
    }

    /// The names in the root.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.root).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

async fn read(files: &Files, path: impl Into<PathBuf>) -> Result<String, Error> {
    Ok(files.read(&ReadTextFileRequest::new("s", path)).await?.content)
}

#[tokio::test]
async fn fs_02_and_fs_04_written_text_is_read() {
    let fixture = Fixture::new();
    assert_eq!(fixture.read("file").await.unwrap(), "hello");
    fixture.write("new/deep/down", "a\r\nb\n").await.unwrap();
    fixture.write("file", "").await.unwrap();
    assert_eq!(fixture.read("new/deep/down").await.unwrap(), "a\r\nb\n");
    assert_eq!(fixture.read("new/../file").await.unwrap(), "");
    missing(fixture.write("absent/../other", "").await, &["absent/../other"]);
    let lines = ReadTextFileRequest::new("s", fixture.root.join("new/deep/down")).line(2).limit(1);
    assert_eq!(fixture.files.read(&lines).await.unwrap().content, "b\n");
    assert_eq!(fixture.names(), ["file", "new", "sub"]);
}

#[tokio::test]
async fn fs_07_paths_outside_are_refused_without_revealing_them() {
    let fixture = Fixture::new();
    let link = |target: &str, name| fixture.link(target, name);
    link("../outside", "directory");
    link("../outside/file", "direct");
    link("/etc", "absolute");
    link("sub/../../outside/file", "winding");
    link("../outside/new", "dangling");
    link("direct", "twice");
    let paths = [
        "/etc/passwd",
        "/etc/passwd-that-is-not-there",
        "../outside/file",
        "../outside/missing/file",
        "sub/../../outside/file",
        "../../../../../../../../etc/passwd",
        "directory/file",
        "directory/sub/file",
        "directory/missing",
        "direct",
        "twice",
        "absolute/passwd",
        "winding",
        "dangling",
        "../rooted",
        "..",
        "/",
    ];
    for path in paths {
        invalid(fixture.read(path).await, &[path, "outside"]);
        invalid(fixture.write(path, "overwritten").await, &[path, "outside"]);
    }
    assert_eq!(fs::read_to_string(fixture.outside.join("file")).unwrap(), "secret");
    assert!(!fixture.outside.join("new").exists() && !fixture.outside.join("missing").exists());
    invalid(read(&fixture.files, "file").await, &["file", "absolute"]);
}

#[tokio::test]
async fn links_that_stay_inside_are_followed_and_kept() {
    let fixture = Fixture::new();
    fixture.link("sub", "directory");
    fixture.link(fixture.root.join("sub/file"), "absolute");
    fixture.link("../root/file", "around");
    fixture.link("sub/fresh", "dangling");
    for path in ["directory/file", "absolute", "around", "directory/../file"] {
        assert_eq!(fixture.read(path).await.unwrap(), "hello", "{path}");
    }
    missing(fixture.read("dangling").await, &["dangling"]);
    fixture.write("dangling", "made").await.unwrap();
    fixture.write("absolute", "changed").await.unwrap();
    assert_eq!(fs::read_to_string(fixture.root.join("sub/fresh")).unwrap(), "made");
    assert_eq!(fs::read_to_string(fixture.root.join("sub/file")).unwrap(), "changed");
    assert!(fixture.root.join("absolute").is_symlink() && fixture.root.join("dangling").is_symlink());
    fixture.link("loop", "loop");
    invalid(fixture.read("loop").await, &["loop", "40"]);
}

#[tokio::test]
async fn roots_have_several_names_and_lead_to_each_other() {
    let fixture = Fixture::new();
    let alias = fixture.root.with_file_name("alias");
    symlink(&fixture.root, &alias).unwrap();
    fixture.link(&fixture.outside, "beside");
    let files = Files::new([alias.clone(), fixture.outside.clone()]);
    assert_eq!(read(&files, alias.join("file")).await.unwrap(), "hello");
    assert_eq!(read(&files, fixture.root.join("file")).await.unwrap(), "hello");
    assert_eq!(read(&files, alias.join("beside/file")).await.unwrap(), "secret");
    assert_eq!(read(&files, alias.join("../outside/file")).await.unwrap(), "secret");
    assert_eq!(
        read(&Files::new(["/"]), "/../etc/passwd").await.unwrap(),
        fs::read_to_string("/etc/passwd").unwrap()
    );
    // Above a link is what is above its target, and that is not above any root.
    let deep = fixture.root.with_file_name("deep");
    symlink(fixture.outside.join("sub"), &deep).unwrap();
    fs::create_dir(deep.join("inner")).unwrap();
    let deeper = Files::new([deep.join("inner"), fixture.root.clone()]);
    invalid(read(&deeper, deep.join("../root/file")).await, &["outside"]);
    // What an alias stood for when it was named is what it stands for.
    fs::remove_file(&alias).unwrap();
    symlink("/etc", &alias).unwrap();
    missing(read(&files, alias.join("passwd")).await, &["passwd"]);
}

#[tokio::test]
async fn a_root_that_is_made_later_has_both_its_names() {
    let fixture = Fixture::new();
    let alias = fixture.root.with_file_name("alias");
    symlink(&fixture.root, &alias).unwrap();
    let files = Files::new([alias.join("later/still")]);
    fs::create_dir_all(fixture.root.join("later/still")).unwrap();
    fs::write(fixture.root.join("later/still/file"), "there").unwrap();
    assert_eq!(read(&files, alias.join("later/still/file")).await.unwrap(), "there");
    assert_eq!(read(&files, fixture.root.join("later/still/file")).await.unwrap(), "there");
    // An attacker who exchanges the link in between opens nothing else.
    fs::create_dir_all(fixture.outside.join("later/still")).unwrap();
    fs::write(fixture.outside.join("later/still/file"), "secret").unwrap();
    fs::remove_file(&alias).unwrap();
    symlink(&fixture.outside, &alias).unwrap();
    assert_eq!(read(&files, alias.join("later/still/file")).await.unwrap(), "there");
}

#[tokio::test]
async fn an_inner_root_that_becomes_a_link_opens_nothing() {
    let fixture = Fixture::new();
    let files = Files::new([fixture.root.clone(), fixture.root.join("sub")]);
    fs::rename(fixture.root.join("sub"), fixture.root.join("moved")).unwrap();
    fixture.link("/etc", "sub");
    invalid(read(&files, fixture.root.join("sub/passwd")).await, &["outside"]);
}

#[tokio::test]
async fn only_text_files_within_the_limit_are_read() {
    let fixture = Fixture::new();
    let path = |name| fixture.root.join(name);
    rustix::fs::mknodat(CWD, path("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
    fs::write(path("binary"), b"text\xff").unwrap();
    fs::write(path("large"), "123456").unwrap();
    invalid(fixture.read("pipe").await, &["pipe", "regular"]);
    invalid(fixture.write("pipe", "").await, &["pipe", "regular"]);
    invalid(fixture.read("socket").await, &["socket", "regular"]);
    invalid(fixture.read("sub").await, &["sub", "directory"]);
    invalid(fixture.write("sub", "").await, &["sub", "directory"]);
    invalid(fixture.read("").await, &["directory"]);
    invalid(fixture.read("file/x").await, &["file/x", "directory"]);
    invalid(fixture.read("binary").await, &["binary", "UTF-8", "4"]);
    missing(fixture.read("absent").await, &["absent"]);
    missing(fixture.read("absent/file").await, &["absent/file"]);
    let small = Files::new([&fixture.root]).limit(5);
    invalid(read(&small, path("large")).await, &["large", "5 bytes"]);
    assert_eq!(read(&small, path("file")).await.unwrap(), "hello");
    // Its size is given as 0, and it never ends.
    let status = read(&Files::new(["/proc"]).limit(5), "/proc/self/status").await;
    if cfg!(target_os = "linux") {
        invalid(status, &["5 bytes"]);
    }
}

/// The length in JSON counts. It can be read in pieces.
#[tokio::test]
async fn text_longer_than_an_answer_is_refused() {
    let fixture = Fixture::new();
    let path = fixture.root.join("quotes");
    // Larger than a line in JSON only, and by default.
    fs::write(&path, "\"\"\"\n".repeat(5 << 20)).unwrap();
    invalid(read(&Files::new([&fixture.root]), &path).await, &["quotes", "41943040 bytes", "fewer lines"]);
    let files = Files::new([&fixture.root]).answer_limit(8);
    let lines = async |count| {
        let request = ReadTextFileRequest::new("s", &path).line(7).limit(count);
        files.read(&request).await.map(|response| response.content)
    };
    assert_eq!(lines(1).await.unwrap(), "\"\"\"\n");
    invalid(lines(2).await, &["16 bytes", "limit is 8"]);
    invalid(read(&files.buffers(Unsaved), &path).await, &["9 bytes", "limit is 8"]);
}

#[derive(Debug)]
struct Unsaved;

impl Buffers for Unsaved {
    fn text<'a>(&'a self, _: &'a Path) -> BufferFuture<'a, Option<String>> {
        Box::pin(std::future::ready(Some("123456789".to_owned())))
    }

    fn replace<'a>(&'a self, _: &'a Path, _: &'a str) -> BufferFuture<'a, bool> {
        Box::pin(std::future::ready(false))
    }
}

#[tokio::test]
async fn writing_changes_the_text_and_nothing_else() {
    let fixture = Fixture::new();
    let path = |name| fixture.root.join(name);
    fs::set_permissions(path("file"), fs::Permissions::from_mode(0o751)).unwrap();
    fixture.write("file", "new").await.unwrap();
    assert_eq!(fs::metadata(path("file")).unwrap().mode() & 0o777, 0o751);

    fs::hard_link(path("file"), path("sub/other-name")).unwrap();
    fixture.write("file", "both").await.unwrap();
    assert_eq!(fs::read_to_string(path("sub/other-name")).unwrap(), "both");

    // A process that has it open keeps the old text, whole.
    let before = fs::File::open(path("sub/file")).unwrap();
    fixture.write("sub/file", "replaced").await.unwrap();
    assert_eq!(std::io::read_to_string(before).unwrap(), "hello");
    assert_eq!(fixture.names(), ["file", "sub"], "no temporary file is left");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_file_with_attributes_is_written_to_in_place() {
    let fixture = Fixture::new();
    let path = fixture.root.join("file");
    let flags = rustix::fs::XattrFlags::empty();
    if rustix::fs::setxattr(&path, "user.origin", b"here", flags).is_err() {
        return; // This file system has none.
    }
    fixture.write("file", "new").await.unwrap();
    let mut value = [0; 16];
    assert_eq!(rustix::fs::getxattr(&path, "user.origin", &mut value), Ok(4));
    assert_eq!(fixture.read("file").await.unwrap(), "new");
}

/// Exchanges a directory and a file for links to the outside all the time, and reads and writes there in between.
#[cfg(target_os = "linux")]
#[test]
fn exchanging_files_for_links_gives_no_access_outside() {
    let fixture = Fixture::new();
    let path = |name| fixture.root.join(name);
    let pairs = [(path("sub"), path("link")), (path("file"), path("file-link"))];
    symlink(&fixture.outside, &pairs[0].1).unwrap();
    symlink(fixture.outside.join("file"), &pairs[1].1).unwrap();
    let stop = AtomicBool::new(false);
    let inside = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                for (real, link) in &pairs {
                    rustix::fs::renameat_with(CWD, real, CWD, link, RenameFlags::EXCHANGE).unwrap();
                }
            }
        });
        let _stop = Stopping(&stop);
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(reads_inside(&fixture))
    });
    assert!(inside > 0, "nothing was ever seen");
    assert_eq!(fs::read_to_string(fixture.outside.join("sub/file")).unwrap(), "secret");
    assert_eq!(fs::read_to_string(fixture.outside.join("file")).unwrap(), "secret");
    assert!(!fixture.outside.join("made").exists());
}

/// Reads and writes the exchanged files, and counts the successful reads.
#[cfg(target_os = "linux")]
async fn reads_inside(fixture: &Fixture) -> usize {
    let mut inside = 0;
    for path in ["sub/file", "file"].into_iter().cycle().take(3000) {
        match fixture.read(path).await {
            Ok(text) => {
                assert!(text == "hello" || text == "written", "{text}");
                inside += 1;
            }
            Err(error) => invalid::<()>(Err(error), &["outside"]),
        }
    }
    for path in ["sub/file", "file", "sub/made/file"].into_iter().cycle().take(900) {
        let _ = fixture.write(path, "written").await;
    }
    inside
}

#[cfg(target_os = "linux")]
struct Stopping<'a>(&'a AtomicBool);

#[cfg(target_os = "linux")]
impl Drop for Stopping<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// An editor that records the requested paths.
#[derive(Clone, Debug, Default)]
struct Editor {
    tabs: Arc<Mutex<HashMap<PathBuf, String>>>,
    asked: Arc<Mutex<Vec<PathBuf>>>,
}

impl Buffers for Editor {
    fn text<'a>(&'a self, path: &'a Path) -> BufferFuture<'a, Option<String>> {
        self.asked.lock().unwrap().push(path.to_owned());
        Box::pin(async { self.tabs.lock().unwrap().get(path).cloned() })
    }

    fn replace<'a>(&'a self, path: &'a Path, text: &'a str) -> BufferFuture<'a, bool> {
        self.asked.lock().unwrap().push(path.to_owned());
        Box::pin(async move {
            let mut tabs = self.tabs.lock().unwrap();
            tabs.get_mut(path).map(|tab| *tab = text.to_owned()).is_some()
        })
    }
}

#[tokio::test]
async fn fs_05_unsaved_text_replaces_the_file() {
    let mut fixture = Fixture::new();
    let editor = Editor::default();
    fixture.files = fixture.files.clone().buffers(editor.clone());
    let (file, fresh) = (fixture.root.join("sub/file"), fixture.root.join("fresh"));
    let open = |path: &Path, text: &str| editor.tabs.lock().unwrap().insert(path.to_owned(), text.to_owned());
    open(&file, "one\r\ntwo\n");
    open(&fresh, "never saved");
    fixture.link("sub", "link");
    for name in ["sub/file", "sub/../link/./file"] {
        assert_eq!(fixture.read(name).await.unwrap(), "one\r\ntwo\n", "{name}");
    }
    assert_eq!(fixture.read("fresh").await.unwrap(), "never saved");
    let lines = ReadTextFileRequest::new("s", &file).line(2).limit(1);
    assert_eq!(fixture.files.read(&lines).await.unwrap().content, "two\n");

    // What is open is not written to the disk, and what is not open is.
    fixture.write("link/file", "edited").await.unwrap();
    fixture.write("fresh", "edited too").await.unwrap();
    fixture.write("file", "saved").await.unwrap();
    fixture.write("new/file", "saved").await.unwrap();
    assert_eq!(fixture.read("sub/file").await.unwrap(), "edited");
    assert_eq!(fs::read_to_string(&file).unwrap(), "hello");
    assert!(!fresh.exists());
    assert_eq!(fs::read_to_string(fixture.root.join("file")).unwrap(), "saved");
    assert_eq!(fixture.read("new/file").await.unwrap(), "saved");
    missing(fixture.read("absent").await, &["absent"]);
    missing(fixture.read("absent/file").await, &["absent/file"]);
    invalid(fixture.read("sub").await, &["directory"]);

    // The editor is never asked about what is outside, not by any name.
    open(&fixture.outside.join("file"), "unsaved secret");
    fixture.link("../outside", "out");
    open(&fixture.root.join("out/file"), "unsaved secret");
    let before = editor.asked.lock().unwrap().len();
    for path in ["../outside/file", "out/file"] {
        invalid(fixture.read(path).await, &["outside"]);
        invalid(fixture.write(path, "x").await, &["outside"]);
    }
    assert_eq!(editor.asked.lock().unwrap().len(), before);
}

#[tokio::test]
async fn denied_path_is_not_read_written_or_listed() {
    let mut fixture = Fixture::new();
    let editor = Editor::default();
    fs::create_dir(fixture.root.join(".git")).unwrap();
    fs::write(fixture.root.join(".git/config"), "secret").unwrap();
    fs::write(fixture.root.join("sub/.env"), "secret").unwrap();
    fixture.link(".git", "link");
    fixture.link("sub/file", ".env");
    let files = fixture.files.clone().buffers(editor.clone());
    fixture.files = files.deny("**/.git/**").unwrap().deny("**/.env").unwrap();
    for path in [
        ".git/config",
        "sub/../.git/config",
        "link/config",
        ".GIT/config",
        ".git/absent",
        ".git",
        "link",
        "sub/.env",
        ".env",
    ] {
        invalid(fixture.read(path).await, &["keeps agents out"]);
        invalid(fixture.write(path, "x").await, &["keeps agents out"]);
    }
    for path in ["new/.env", "new/.git/new", "new/.git/new/newer"] {
        missing(fixture.read(path).await, &[path]);
        invalid(fixture.write(path, "x").await, &["keeps agents out"]);
    }
    assert!(!fixture.root.join("new").exists(), "no folder is made on the way");
    assert_eq!(fs::read_to_string(fixture.root.join(".git/config")).unwrap(), "secret");
    assert!(editor.asked.lock().unwrap().is_empty());
    assert_eq!(fixture.read("sub/file").await.unwrap(), "hello");
    fixture.write("new/.gitignore", "x").await.unwrap();

    // A directory of the session can be denied as a whole.
    let all = Files::new([&fixture.root]).deny(&format!("{}/**", fixture.root.display())).unwrap();
    invalid(read(&all, fixture.root.join("file")).await, &["keeps agents out"]);
    let error = Files::new([&fixture.root]).deny(".git").unwrap_err();
    assert!(error.to_string().starts_with("\".git\" cannot be used: "), "{error}");
}

/// A file without room in memory is read after another one, and a file over the limit, alone.
#[tokio::test]
async fn reading_waits_for_memory() {
    let fixture = Fixture::new();
    fs::write(fixture.root.join("huge"), "x".repeat(900 << 10)).unwrap();
    let files = Files::new([&fixture.root]).memory_limit(100 << 10);
    let mut reads = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let (files, path) = (files.clone(), fixture.root.join("huge"));
        reads.spawn(async move { read(&files, path).await.unwrap().len() });
    }
    assert_eq!(reads.join_all().await, [900 << 10; 20]);
    let outside = read(&files, fixture.outside.join("file")).await;
    invalid(outside, &["outside"]);
    assert_eq!(
        read(&files, fixture.root.join("file")).await.unwrap(),
        "hello",
        "an error gives it back, too"
    );
}

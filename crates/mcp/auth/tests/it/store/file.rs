//! The store in a file: what is read, written and refused.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agentwire_mcp_auth::store::{CredentialStore as _, FileStore};
use tempfile::TempDir;

use super::{shown, text, write};

/// A store in a folder of its own that does not exist yet.
fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config/credentials.json");
    (folder, path)
}

/// Writes a file as another program would, which only its owner can read.
fn put(path: &Path, text: &str) {
    drop(FileStore::open(path).unwrap());
    fs::write(path, text).unwrap();
    #[cfg(unix)]
    set_mode(path, 0o600);
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

/// Asserts that neither reading nor writing works and that the file stays; returns the error.
async fn refused(store: &FileStore) -> String {
    let before = fs::read(store.path()).ok();
    let error = shown(&store.read("a").await.unwrap_err());
    let written = shown(&write(store, "a", "new").await.unwrap_err());
    assert_eq!(fs::read(store.path()).ok(), before, "the file was changed");
    let path = store.path().display();
    assert!(error.starts_with(&format!("cannot read {path}: ")), "{error}");
    assert!(written.starts_with(&format!("cannot write {path}: ")), "{written}");
    error
}

#[tokio::test]
async fn another_store_reads_what_was_written() {
    let (_folder, path) = place();
    let store = FileStore::open(&path).unwrap();
    assert_eq!(text(&store, "a").await, None);
    store.write("a", None).await.unwrap();
    assert!(!path.exists(), "removing what is not there writes nothing");
    write(&store, "a", "1").await.unwrap();
    write(&store, "https://a.example/\u{7}\"", "\u{0}é\"").await.unwrap();
    let other = FileStore::open(&path).unwrap();
    assert_eq!(text(&other, "https://a.example/\u{7}\"").await.as_deref(), Some("\u{0}é\""));
    other.write("a", None).await.unwrap();
    assert_eq!(text(&store, "a").await, None);
    let names: Vec<_> =
        fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(names.iter().all(|name| !name.to_string_lossy().ends_with(".tmp")), "{names:?}");
}

#[tokio::test]
async fn the_format_is_the_documented_one() {
    let (_folder, path) = place();
    put(&path, r#"{ "version": 1, "entries": { "a": "1" } }"#);
    let store = FileStore::open(&path).unwrap();
    assert_eq!(text(&store, "a").await.as_deref(), Some("1"));
    write(&store, "b", "2").await.unwrap();
    let written: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert_eq!(written, serde_json::json!({ "version": 1, "entries": { "a": "1", "b": "2" } }));
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_owner_can_read_the_file() {
    let (_folder, path) = place();
    let store = FileStore::open(&path).unwrap();
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    write(&store, "a", "1").await.unwrap();
    assert_eq!(mode(&path), 0o600);
    let _held = store.lock("a").await.unwrap();
    let locks = path.with_file_name("credentials.json.locks");
    assert_eq!(mode(&locks), 0o700);
    for entry in fs::read_dir(&locks).unwrap() {
        assert_eq!(mode(&entry.unwrap().path()), 0o600);
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_that_others_can_read_is_refused() {
    for bits in [0o640, 0o604, 0o620, 0o602] {
        let (_folder, path) = place();
        put(&path, r#"{ "version": 1, "entries": {} }"#);
        let store = FileStore::open(&path).unwrap();
        set_mode(&path, bits);
        let error = refused(&store).await;
        assert!(error.contains(&format!("has mode {bits:04o}")), "{error}");
        assert!(error.ends_with(&format!("run `chmod 600 {}`", path.display())), "{error}");
        assert!(FileStore::open(&path).is_err());
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_folder_to_which_others_may_write_is_refused() {
    let (_folder, path) = place();
    put(&path, r#"{ "version": 1, "entries": {} }"#);
    let store = FileStore::open(&path).unwrap();
    set_mode(path.parent().unwrap(), 0o770);
    assert!(refused(&store).await.contains("has mode 0770"));
    set_mode(path.parent().unwrap(), 0o755);
    assert_eq!(text(&store, "a").await, None);
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_of_another_user_is_refused() {
    let (_folder, path) = place();
    put(&path, r#"{ "version": 1, "entries": {} }"#);
    let store = FileStore::open(&path).unwrap();
    // Only root can give a file away.
    if std::os::unix::fs::chown(&path, Some(12_345), None).is_ok() {
        assert!(refused(&store).await.contains("belongs to the user number 12345"));
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_is_not_followed() {
    let (folder, path) = place();
    let target = folder.path().join("target");
    put(&target, r#"{ "version": 1, "entries": { "a": "1" } }"#);
    let store = FileStore::open(&path).unwrap();
    std::os::unix::fs::symlink(&target, &path).unwrap();
    assert!(refused(&store).await.contains("`credentials.json` is a link"));
    assert!(FileStore::open(&path).is_err());
    assert!(fs::read_to_string(&target).unwrap().contains("\"a\""));
}

#[cfg(unix)]
#[tokio::test]
async fn links_in_the_place_of_helper_files_are_not_followed() {
    let (folder, path) = place();
    let store = FileStore::open(&path).unwrap();
    let target = folder.path().join("target");
    fs::write(&target, "kept").unwrap();
    std::os::unix::fs::symlink(&target, path.with_file_name("credentials.json.tmp")).unwrap();
    write(&store, "a", "1").await.unwrap();
    std::os::unix::fs::symlink(&target, path.with_file_name("credentials.json.lock")).unwrap();
    assert!(write(&store, "a", "2").await.is_err());
    assert_eq!(fs::read_to_string(&target).unwrap(), "kept");
    assert_eq!(text(&store, "a").await.as_deref(), Some("1"));
}

#[cfg(unix)]
#[tokio::test]
async fn irregular_file_is_refused_without_waiting() {
    let (_folder, path) = place();
    let store = FileStore::open(&path).unwrap();
    let made = std::process::Command::new("mkfifo").args(["-m", "600"]).arg(&path).status().unwrap();
    assert!(made.success());
    let error = tokio::time::timeout(crate::DEADLINE, store.read("a")).await.unwrap().unwrap_err();
    let error = shown(&error);
    assert!(error.contains("`credentials.json` is not a regular file"), "{error}");
}

#[tokio::test]
async fn a_damaged_file_is_never_overwritten() {
    for damaged in [
        "",
        "{",
        "null",
        r#"{ "version": 1, "entries": { "a": "hunter2" }"#,
        r#"{ "version": 1, "entries": { "a": 1 } }"#,
        r#"{ "version": 1, "entries": "hunter2" }"#,
        r#"{ "version": "hunter2", "entries": {} }"#,
        r#"{ "version": 1 }"#,
        r#"{ "version": 1, "entries": {}, "hunter2": 1 }"#,
    ] {
        let (_folder, path) = place();
        put(&path, damaged);
        let error = refused(&FileStore::open(&path).unwrap()).await;
        assert!(error.contains("it is damaged at line") && !error.contains("hunter2"), "{damaged}: {error}");
    }
    let (_folder, path) = place();
    put(&path, "");
    fs::write(&path, b"\xff").unwrap();
    assert!(refused(&FileStore::open(&path).unwrap()).await.contains("it is damaged"));
}

#[tokio::test]
async fn another_version_is_never_overwritten() {
    let (_folder, path) = place();
    put(&path, r#"{ "version": 2, "entries": { "a": { "text": "1" } } }"#);
    let error = refused(&FileStore::open(&path).unwrap()).await;
    assert!(error.ends_with("it has version 2, and this program knows version 1 only"), "{error}");
}

#[tokio::test]
async fn the_size_is_bounded() {
    let (_folder, path) = place();
    let store = FileStore::open(&path).unwrap().size_limit(100);
    write(&store, "a", "1").await.unwrap();
    let error = shown(&write(&store, "b", &"x".repeat(100)).await.unwrap_err());
    assert!(error.ends_with("it would be longer than the limit of 100 bytes"), "{error}");
    assert_eq!(text(&store, "a").await.as_deref(), Some("1"));
    write(&store.clone().size_limit(1000), "b", &"x".repeat(100)).await.unwrap();
    assert!(refused(&store).await.ends_with("it is longer than the limit of 100 bytes"));
}

#[tokio::test]
async fn a_key_that_the_reader_refuses_is_not_written() {
    let (_folder, path) = place();
    let store = FileStore::open(&path).unwrap();
    write(&store, "a", "1").await.unwrap();
    assert!(write(&store, "$serde_json::private::RawValue", "1").await.is_err());
    assert_eq!(text(&store, "a").await.as_deref(), Some("1"));
}

/// As on a full disk: the new file cannot be written.
#[tokio::test]
async fn a_failed_write_leaves_the_old_file() {
    let (_folder, path) = place();
    let store = FileStore::open(&path).unwrap();
    write(&store, "a", "1").await.unwrap();
    let temporary = path.with_file_name("credentials.json.tmp");
    fs::create_dir(&temporary).unwrap();
    assert!(write(&store, "a", "2").await.is_err());
    assert_eq!(text(&store, "a").await.as_deref(), Some("1"));
    fs::remove_dir(&temporary).unwrap();
    write(&store, "a", "2").await.unwrap();
    assert_eq!(text(&store, "a").await.as_deref(), Some("2"));
}

#[tokio::test]
async fn a_removed_folder_is_made_again() {
    let (_folder, path) = place();
    let store = FileStore::open(&path).unwrap();
    write(&store, "a", "1").await.unwrap();
    fs::remove_dir_all(path.parent().unwrap()).unwrap();
    assert_eq!(text(&store, "a").await, None);
    write(&store, "a", "2").await.unwrap();
    assert_eq!(text(&store, "a").await.as_deref(), Some("2"));
}

#[tokio::test]
async fn a_path_without_a_name_is_refused() {
    assert!(FileStore::open("/").is_err());
    assert!(FileStore::open("").is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writes_of_two_stores_do_not_lose_each_other() {
    let (_folder, path) = place();
    let (one, other) = (FileStore::open(&path).unwrap(), FileStore::open(&path).unwrap());
    let writes = (0..40).map(|n| {
        let store = if n % 2 == 0 { one.clone() } else { other.clone() };
        tokio::spawn(async move { write(&store, &format!("key {n}"), "1").await })
    });
    for written in futures::future::join_all(writes).await {
        written.unwrap().unwrap();
    }
    for n in 0..40 {
        assert_eq!(text(&one, &format!("key {n}")).await.as_deref(), Some("1"), "{n}");
    }
}

#[tokio::test]
async fn a_dropped_write_leaves_a_whole_file() {
    let (_folder, path) = place();
    let store = FileStore::open(&path).unwrap();
    write(&store, "a", "0").await.unwrap();
    let mut last = 0;
    for n in 1..=60_u64 {
        let _ = tokio::time::timeout(Duration::from_micros(n * 25), write(&store, "a", &n.to_string())).await;
        let now: u64 = text(&store, "a").await.unwrap().parse().unwrap();
        assert!(last <= now && now <= n, "{last} <= {now} <= {n}");
        last = now;
    }
    write(&store, "a", "done").await.unwrap();
    assert_eq!(text(&store, "a").await.as_deref(), Some("done"));
}

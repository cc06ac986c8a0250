//! The store in a sealed file, with a keyring in memory.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use agentwire_mcp_auth::store::{CredentialStore as _, FileStore, KeyringStore};
use keyring_core::{Entry, mock};
use tempfile::TempDir;

use super::{shown, text, write};

const SERVICE: &str = "example";

struct Place {
    _folder: TempDir,
    path: PathBuf,
    keyring: Arc<keyring_core::CredentialStore>,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("credentials.json");
        Self { _folder: folder, path, keyring: mock::Store::new().unwrap() }
    }

    fn store(&self) -> KeyringStore {
        KeyringStore::open(Arc::clone(&self.keyring), SERVICE, &self.path).unwrap()
    }

    fn entry(&self) -> Entry {
        Entry::new_in_store(&self.keyring, SERVICE, &self.path.display().to_string()).unwrap()
    }

    /// Lets the next call of the keyring fail.
    fn fail(&self, error: keyring_core::Error) {
        let entry = self.entry();
        let mock: &mock::Cred = entry.as_any().downcast_ref().unwrap();
        mock.set_error(error);
    }
}

#[tokio::test]
async fn the_file_alone_shows_no_entry() {
    let place = Place::new();
    let store = place.store();
    assert_eq!(text(&store, "a").await, None);
    assert!(place.entry().get_password().is_err(), "reading makes no key");
    let long = "hunter2".repeat(10_000);
    write(&store, "a", &long).await.unwrap();
    assert_eq!(text(&place.store(), "a").await, Some(long));
    assert!(!fs::read_to_string(&place.path).unwrap().contains("hunter2"));
    let key = place.entry().get_password().unwrap();
    assert_eq!(key.len(), 43, "32 bytes in base64");
    for shown in [format!("{store:?}"), fs::read_to_string(&place.path).unwrap()] {
        assert!(!shown.contains(&key), "{shown}");
    }
}

#[tokio::test]
async fn an_entry_cannot_be_moved_to_another_name() {
    let place = Place::new();
    let store = place.store();
    write(&store, "a", "hunter2").await.unwrap();
    let file = FileStore::open(&place.path).unwrap();
    let sealed = file.read("a").await.unwrap();
    file.write("b", sealed).await.unwrap();
    let error = store.read("b").await.unwrap_err();
    let error = shown(&error);
    assert!(error.ends_with("an entry was not sealed with the key in the keyring"), "{error}");
    assert_eq!(text(&store, "a").await.as_deref(), Some("hunter2"));
}

#[tokio::test]
async fn a_lost_key_is_not_replaced_while_the_file_is_there() {
    let place = Place::new();
    write(&place.store(), "a", "1").await.unwrap();
    place.entry().delete_credential().unwrap();
    let store = place.store();
    for error in [store.read("a").await.unwrap_err(), write(&store, "b", "2").await.unwrap_err()] {
        let end = "the keyring has no key for the file; remove the file and log in again";
        let error = shown(&error);
        assert!(error.ends_with(end), "{error}");
    }
    store.write("a", None).await.expect("a logout needs no key");
    fs::remove_file(&place.path).unwrap();
    write(&store, "b", "2").await.unwrap();
    assert_eq!(text(&store, "b").await.as_deref(), Some("2"));
}

#[tokio::test]
async fn a_key_that_another_process_has_replaced_is_read_again() {
    let place = Place::new();
    let old = place.store();
    write(&old, "a", "1").await.unwrap();
    place.entry().delete_credential().unwrap();
    fs::remove_file(&place.path).unwrap();
    write(&place.store(), "a", "2").await.unwrap();
    assert_eq!(text(&old, "a").await.as_deref(), Some("2"));
}

/// As the kernel's keyring outside of a login session.
#[tokio::test]
async fn a_key_that_is_found_at_the_second_look_is_used() {
    let place = Place::new();
    write(&place.store(), "a", "1").await.unwrap();
    place.fail(keyring_core::Error::NoEntry);
    assert_eq!(text(&place.store(), "a").await.as_deref(), Some("1"));
}

#[tokio::test]
async fn a_failing_keyring_is_an_error_and_nothing_is_written() {
    let place = Place::new();
    place.fail(keyring_core::Error::BadEncoding(b"hunter2".to_vec()));
    let error = write(&place.store(), "a", "1").await.unwrap_err();
    let text = shown(&error);
    assert!(text.ends_with("Password data is not valid UTF-8"), "{text}");
    assert!(!format!("{error:?}").contains("104, 117, 110"), "no bytes of an entry in {error:?}");
    assert!(!place.path.exists());
    place.entry().set_password("no key").unwrap();
    let error = write(&place.store(), "a", "1").await.unwrap_err();
    let text = shown(&error);
    assert!(text.ends_with("the entry in the keyring is not a key"), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_stores_make_one_key() {
    let place = Place::new();
    let writes = (0..8).map(|n| {
        let store = place.store();
        tokio::spawn(async move { write(&store, &n.to_string(), "1").await })
    });
    for write in writes.collect::<Vec<_>>() {
        write.await.unwrap().unwrap();
    }
    let store = place.store();
    for n in 0..8 {
        assert_eq!(text(&store, &n.to_string()).await.as_deref(), Some("1"), "{n}");
    }
}

#[tokio::test]
async fn a_key_is_held_by_one() {
    let place = Place::new();
    let (one, other) = (place.store(), place.store());
    let held = one.lock("a").await.unwrap();
    let wait = std::time::Duration::from_millis(100);
    assert!(tokio::time::timeout(wait, other.lock("a")).await.is_err());
    drop(held);
    other.lock("a").await.unwrap();
}

//! The behaviour of every store, and that of `FileStore` alone.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use agentwire_acp_sessions::{
    FileStore, Fsync, ListQuery, MemoryStore, SessionHeader, SessionStore, StoreError, StoreWarning,
    Timestamp,
};
use agentwire_jsonrpc::{RawJson, WithCauses};
use futures::executor::block_on;
use futures::{StreamExt as _, future};
use tempfile::TempDir;

/// A record that holds this text.
pub(crate) fn record(text: impl Into<String>) -> RawJson {
    RawJson::encode(&text.into()).expect("text has a JSON form")
}

/// All records of a session, and the error behind them.
pub(crate) async fn read(store: &dyn SessionStore, session_id: &str) -> (Vec<RawJson>, Option<StoreError>) {
    let session = match store.read(&session_id.into()).await {
        Ok(session) => session.expect("there is such a session"),
        Err(error) => return (Vec::new(), Some(error)),
    };
    let mut items = session.records.collect::<Vec<_>>().await;
    let error = items.pop_if(|last| last.is_err()).and_then(Result::err);
    (items.into_iter().map(|item| item.expect("nothing follows an error")).collect(), error)
}

/// All records of a session that is undamaged.
pub(crate) async fn read_well(store: &dyn SessionStore, session_id: &str) -> Vec<RawJson> {
    match read(store, session_id).await {
        (records, None) => records,
        (_, Some(error)) => panic!("{error}"),
    }
}

/// The one file in a directory whose name ends like this.
pub(crate) fn file(directory: &Path, ending: &str) -> PathBuf {
    let names = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = names.filter(|path| path.to_str().unwrap().ends_with(ending)).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    files.remove(0)
}

/// A store that does not wait for the disk, as there is no power cut in a test.
pub(crate) fn open(directory: impl AsRef<Path>) -> FileStore {
    FileStore::open(directory).unwrap().fsync(Fsync::Never)
}

/// A header whose times are these milliseconds.
pub(crate) fn header(session_id: &str, updated: u64) -> SessionHeader {
    SessionHeader::new(session_id, "/project").updated(Timestamp::from_millis(updated))
}

#[test]
fn a_store_that_is_opened_again_has_what_it_had() {
    block_on(async {
        for fsync in [Fsync::Never, Fsync::EveryTurn, Fsync::Always] {
            let directory = TempDir::new().unwrap();
            // Two levels that there are not yet.
            let path = directory.path().join("of/sessions");
            let first =
                header("one", 1).title("The first".to_owned()).additional_directories(["/more".into()]);
            let renamed = header("two", 2).title("Ünïcödé".to_owned());
            let store = open(&path).fsync(fsync);
            store.create(&first).await.unwrap();
            store.create(&header("two", 2)).await.unwrap();
            store.append(&"one".into(), &[record("a"), record("\u{2028}\n"), record("")]).await.unwrap();
            store.append(&"one".into(), &[]).await.unwrap();
            store.sync(&"one".into()).await.unwrap();
            store.append(&"one".into(), &[record("x".repeat(300_000))]).await.unwrap();
            store.update_header(&renamed).await.unwrap();
            store.sync(&"two".into()).await.unwrap();
            drop(store);

            let store = open(&path).fsync(fsync);
            assert_eq!(store.list(&ListQuery::new()).await.unwrap(), [renamed, first.clone()]);
            assert_eq!(store.read(&"one".into()).await.unwrap().unwrap().header, first);
            let all = [record("a"), record("\u{2028}\n"), record(""), record("x".repeat(300_000))];
            assert_eq!(read_well(&store, "one").await, all);
            assert_eq!(read_well(&store, "two").await, []);
            assert_eq!(store.take_warnings(), []);
        }
    });
}

#[test]
fn a_record_reads_back_byte_by_byte() {
    block_on(async {
        let directory = TempDir::new().unwrap();
        let texts = ["1.0e+02", r#"{"b":1,"a":1e400,"b":2}"#, r#""\u00e9\ud800""#, "null", "[ 1 ,\t2 ]"];
        let records = texts.map(|text| RawJson::parse(text.into()).unwrap());
        let store = open(&directory);
        store.create(&header("one", 1)).await.unwrap();
        store.append(&"one".into(), &records).await.unwrap();
        let read: Vec<_> = read_well(&store, "one").await.iter().map(ToString::to_string).collect();
        assert_eq!(read, texts);
    });
}

#[test]
fn reading_gives_what_there_was_when_it_began() {
    block_on(async {
        let directory = TempDir::new().unwrap();
        for store in [&open(&directory) as &dyn SessionStore, &MemoryStore::new()] {
            store.create(&header("one", 1)).await.unwrap();
            store.append(&"one".into(), &[record("a")]).await.unwrap();
            let session = store.read(&"one".into()).await.unwrap().unwrap();
            store.append(&"one".into(), &[record("b")]).await.unwrap();
            let records: Vec<_> = session.records.map(Result::unwrap).collect().await;
            assert_eq!(records, [record("a")]);
        }
    });
}

#[test]
fn a_list_in_pages_has_each_session_once() {
    block_on(async {
        let directory = TempDir::new().unwrap();
        for store in [&open(&directory) as &dyn SessionStore, &MemoryStore::new()] {
            // Four moments for thirty sessions, so that most share one with others.
            for number in 0..30 {
                store.create(&header(&format!("session-{number:02}"), number % 4)).await.unwrap();
            }
            let all = store.list(&ListQuery::new()).await.unwrap();
            let order: Vec<_> =
                all.iter().map(|header| (header.updated, header.session_id.to_string())).collect();
            let mut sorted = order.clone();
            sorted.sort_by(|(at, id), (other_at, other_id)| other_at.cmp(at).then(id.cmp(other_id)));
            assert_eq!((order.len(), &order), (30, &sorted));

            let mut query = ListQuery::new().limit(7);
            let mut listed = Vec::new();
            loop {
                let page = store.list(&query).await.unwrap();
                let Some(last) = page.last() else { break };
                query = query.after(last.position());
                // One that was listed goes to the front, and one that is behind all others goes away.
                store.update_header(&header(page[0].session_id.as_str(), 100)).await.unwrap();
                store.delete(&"session-28".into()).await.unwrap();
                listed.extend(page);
            }
            let expected: Vec<_> =
                all.into_iter().filter(|header| *header.session_id != *"session-28").collect();
            assert_eq!(listed, expected);
        }
    });
}

#[test]
fn missing_session_is_not_found() {
    block_on(async {
        let directory = TempDir::new().unwrap();
        let long = "a".repeat(1_000_000);
        for store in [&open(&directory) as &dyn SessionStore, &MemoryStore::new()] {
            for id in ["", "no-such-session", "..", "../lock", long.as_str()] {
                let session_id = &id.into();
                assert!(store.read(session_id).await.unwrap().is_none());
                assert!(!store.delete(session_id).await.unwrap());
                for result in [
                    store.append(session_id, &[record("a")]).await,
                    store.sync(session_id).await,
                    store.update_header(&header(id, 1)).await,
                ] {
                    assert!(matches!(result, Err(StoreError::NotFound { .. })), "{result:?}");
                }
            }
        }
    });
}

#[test]
fn a_session_is_created_once_and_deleted_for_good() {
    block_on(async {
        let directory = TempDir::new().unwrap();
        let store = open(&directory);
        let (first, second) = (header("one", 1), header("one", 2));
        let created = <[_; 2]>::from(future::join(store.create(&first), store.create(&second)).await);
        assert!(matches!(created, [Ok(()), Err(StoreError::Exists { .. })]), "{created:?}");
        store.append(&"one".into(), &[record("secret")]).await.unwrap();
        assert!(store.delete(&"one".into()).await.unwrap());
        assert!(!store.delete(&"one".into()).await.unwrap());
        let left: Vec<_> =
            fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, [""; 0]);
        drop(store);

        let store = open(&directory);
        assert_eq!(store.list(&ListQuery::new()).await.unwrap(), []);
        store.create(&header("one", 3)).await.unwrap();
        assert_eq!(read_well(&store, "one").await, []);
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_many_concurrent_creations_of_a_session_succeeds() {
    let directory = TempDir::new().unwrap();
    let store = std::sync::Arc::new(open(&directory));
    for round in 0..50 {
        let id = format!("session-{round}");
        let creations = (0..4).map(|at| {
            let (store, header) = (store.clone(), header(&id, at));
            tokio::spawn(async move { store.create(&header).await.map(|()| header) })
        });
        let created = future::join_all(creations).await.into_iter().map(Result::unwrap);
        let (created, refused): (Vec<_>, Vec<_>) = created.partition(Result::is_ok);
        assert_eq!(created.len(), 1, "{refused:?}");
        assert!(refused.iter().all(|result| matches!(result, Err(StoreError::Exists { .. }))), "{refused:?}");

        // A connection that waited for its files while it was deleted finds no session.
        let session_id = &id.as_str().into();
        let more = [record("x".repeat(100_000))];
        let (deleted, appended) =
            future::join(store.delete(session_id), store.append(session_id, &more)).await;
        assert!(deleted.unwrap());
        assert!(matches!(appended, Err(StoreError::NotFound { .. })), "{appended:?}");
    }
}

#[test]
fn no_id_leaves_the_directory_or_meets_another() {
    let longest_plain = "a".repeat(100);
    let longest_odd = "A".repeat(100);
    let ids = [
        "",
        ".",
        "..",
        "../up",
        "/etc/passwd",
        "a/b",
        r"a\b",
        "a",
        "A",
        "=61",
        "61",
        "=",
        "a.header",
        "lock",
        "con",
        "nul",
        "C:x",
        "ä",
        "a\u{308}",
        "\0",
        "a\n",
        " a",
        "a ",
        "session-a",
        "🦀",
        &longest_plain,
        &longest_odd,
    ];
    block_on(async {
        let outer = TempDir::new().unwrap();
        let directory = outer.path().join("sessions");
        let store = open(&directory);
        for id in ids {
            store.create(&header(id, 1)).await.unwrap();
            store.append(&id.into(), &[record(id)]).await.unwrap();
        }
        let too_long = store.create(&header(&"a".repeat(101), 1)).await;
        assert!(matches!(too_long, Err(StoreError::Id { .. })), "{too_long:?}");
        drop(store);

        assert_eq!(fs::read_dir(&outer).unwrap().count(), 1);
        let names =
            fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let names: BTreeSet<_> = names.map(|name| name.to_lowercase()).collect();
        assert_eq!(names.len(), 2 * ids.len());
        let fits = |name: &String| name.starts_with("session-") && name.len() < 255;
        assert!(names.iter().all(fits), "{names:?}");

        let store = open(&directory);
        for id in ids {
            assert_eq!(read_well(&store, id).await, [record(id)]);
        }
    });
}

#[test]
#[cfg(unix)]
fn only_the_owner_may_read() {
    use std::os::unix::fs::PermissionsExt as _;
    block_on(async {
        let outer = TempDir::new().unwrap();
        let directory = outer.path().join("of/sessions");
        let store = open(&directory);
        store.create(&header("one", 1)).await.unwrap();
        store.update_header(&header("one", 2)).await.unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!([mode(&outer.path().join("of")), mode(&directory)], [0o700; 2]);
        let files: Vec<_> =
            fs::read_dir(&directory).unwrap().map(|entry| mode(&entry.unwrap().path())).collect();
        assert_eq!(files, [0o600; 3]);
    });
}

/// The directory is a disk of its own to everybody else: nothing in it is followed, and nothing is taken that others may have
/// put there.
#[test]
#[cfg(unix)]
fn a_planted_link_leads_nowhere() {
    use std::os::unix::fs::symlink;
    block_on(async {
        for kind in ["new", "header", "journal", "lock", "aside-1", "deleted"] {
            let outer = TempDir::new().unwrap();
            let (directory, victim) = (outer.path().join("sessions"), outer.path().join("victim"));
            fs::write(&victim, "mine").unwrap();
            drop(open(&directory));
            symlink(&victim, directory.join(format!("session-one.{kind}"))).unwrap();
            let missing = outer.path().join("missing");
            symlink(&missing, directory.join(format!("session-two.{kind}"))).unwrap();

            let store = open(&directory);
            for id in ["one", "two"] {
                let created = store.create(&header(id, 1)).await;
                match kind {
                    // What is only in the way of a session's own files goes.
                    "new" | "aside-1" | "deleted" => created.unwrap(),
                    _ => {
                        let error = created.unwrap_err().to_string();
                        assert!(error.contains(id), "{error}");
                        continue;
                    }
                }
                store.append(&id.into(), &[record("a")]).await.unwrap();
                store.update_header(&header(id, 2)).await.unwrap();
                assert_eq!(read_well(&store, id).await, [record("a")]);
                assert!(store.delete(&id.into()).await.unwrap());
            }
            drop(store);
            assert_eq!(fs::read_to_string(&victim).unwrap(), "mine", "{kind}");
            assert!(!missing.exists(), "{kind}");
        }
    });
}

#[test]
#[cfg(unix)]
fn a_link_in_the_place_of_a_file_that_was_there_is_told() {
    use std::os::unix::fs::symlink;
    block_on(async {
        let outer = TempDir::new().unwrap();
        let (directory, victim) = (outer.path().join("sessions"), outer.path().join("victim"));
        let store = open(&directory);
        store.create(&header("one", 1)).await.unwrap();
        store.append(&"one".into(), &[record("a")]).await.unwrap();
        drop(store);
        let path = directory.join("session-one.journal");
        fs::rename(&path, &victim).unwrap();
        let before = fs::read(&victim).unwrap();
        symlink(&victim, &path).unwrap();

        let store = open(&directory);
        for error in [
            store.append(&"one".into(), &[record("b")]).await.unwrap_err(),
            read(&store, "one").await.1.unwrap(),
        ] {
            let error = WithCauses::new(&error).to_string();
            assert!(error.contains(path.to_str().unwrap()) && error.contains("link"), "{error}");
        }
        assert_eq!(fs::read(&victim).unwrap(), before);
    });
}

#[test]
#[cfg(unix)]
fn a_directory_that_others_may_write_to_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let outer = TempDir::new().unwrap();
    let directory = outer.path().join("sessions");
    block_on(open(&directory).create(&header("one", 1))).unwrap();
    let set_mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    for mode in [0o777, 0o1777, 0o770, 0o720, 0o702] {
        set_mode(&directory, mode);
        let error = FileStore::open(&directory).unwrap_err();
        assert!(matches!(error, StoreError::NotPrivate { .. }), "{error:?}");
        let error = error.to_string();
        let remedy = format!("chmod 700 {}", directory.display());
        assert!(error.contains(&format!("{mode:04o}")) && error.contains(&remedy), "{error}");
    }
    for mode in [0o700, 0o755] {
        set_mode(&directory, mode);
        assert_eq!(block_on(open(&directory).list(&ListQuery::new())).unwrap().len(), 1);
    }
    // So is a file that others may write to.
    let path = directory.join("session-one.header");
    set_mode(&path, 0o666);
    let store = open(&directory);
    let warnings = store.take_warnings();
    assert!(matches!(&warnings[..], [StoreWarning::LeftOut { file, .. }] if *file == path), "{warnings:?}");
    // A user who may give files away can see that those of others are refused, too.
    if std::os::unix::fs::chown(&directory, Some(12_345), None).is_ok() {
        let error = FileStore::open(&directory).unwrap_err().to_string();
        assert!(error.contains("12345"), "{error}");
    }
}

#[test]
fn interrupted_deletion_is_completed() {
    block_on(async {
        let directory = TempDir::new().unwrap();
        let path = |name: &str| directory.path().join(name);
        let store = open(&directory);
        for id in ["changed", "deleted", "half-deleted", "new", "kept"] {
            store.create(&header(id, 1)).await.unwrap();
        }
        drop(store);
        // What each leaves that is cut off in the middle.
        fs::write(path("session-changed.new"), "0000").unwrap();
        fs::rename(path("session-deleted.header"), path("session-deleted.deleted")).unwrap();
        fs::rename(path("session-half-deleted.header"), path("session-half-deleted.deleted")).unwrap();
        fs::remove_file(path("session-half-deleted.journal")).unwrap();
        fs::rename(path("session-new.header"), path("session-new.new")).unwrap();
        fs::write(path("somebody-else.txt"), "stays").unwrap();

        let store = open(&directory);
        let listed = store.list(&ListQuery::new()).await.unwrap();
        let ids: Vec<_> = listed.iter().map(|header| header.session_id.as_str()).collect();
        assert_eq!(ids, ["changed", "kept"]);
        assert_eq!(store.take_warnings(), []);
        let left: BTreeSet<_> =
            fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        let expected = [
            "session-changed.header",
            "session-changed.journal",
            "session-kept.header",
            "session-kept.journal",
            "somebody-else.txt",
        ];
        assert_eq!(left, expected.map(Into::into).into());
    });
}

#[test]
fn journal_with_records_is_not_a_session_that_was_just_being_created() {
    block_on(async {
        let directory = TempDir::new().unwrap();
        let path = |name: &str| directory.path().join(name);
        let store = open(&directory);
        store.create(&header("one", 1)).await.unwrap();
        store.append(&"one".into(), &[record("a")]).await.unwrap();
        drop(store);
        // What is left where the restoring of a lost header is cut off; or a power cut undoes the last step of a creation.
        fs::rename(path("session-one.header"), path("session-one.new")).unwrap();

        let store = open(&directory);
        let warnings = store.take_warnings();
        assert!(matches!(&warnings[..], [StoreWarning::HeaderRestored { .. }]), "{warnings:?}");
        assert_eq!(read_well(&store, "one").await, [record("a")]);
        assert!(!path("session-one.new").exists());
    });
}

#[test]
fn a_lost_header_is_taken_from_the_journal() {
    block_on(async {
        let first = header("one", 1).title("As created".to_owned());
        for lost in [None, Some(""), Some("0000"), Some("not a header\n")] {
            let directory = TempDir::new().unwrap();
            let store = open(&directory);
            store.create(&first).await.unwrap();
            store.update_header(&header("one", 2).title("As renamed".to_owned())).await.unwrap();
            store.append(&"one".into(), &[record("a")]).await.unwrap();
            drop(store);
            let path = file(directory.path(), ".header");
            match lost {
                None => fs::remove_file(&path).unwrap(),
                Some(text) => fs::write(&path, text).unwrap(),
            }

            let store = open(&directory);
            let warnings = store.take_warnings();
            assert!(
                matches!(&warnings[..], [StoreWarning::HeaderRestored { file, .. }] if *file == path),
                "{warnings:?}"
            );
            assert_eq!(store.list(&ListQuery::new()).await.unwrap(), std::slice::from_ref(&first));
            assert_eq!(read_well(&store, "one").await, [record("a")]);
            drop(store);
            assert_eq!(open(&directory).take_warnings(), [], "it is restored once");
        }
    });
}

#[test]
fn a_session_of_which_nothing_is_readable_is_left_out_and_left_alone() {
    block_on(async {
        let directory = TempDir::new().unwrap();
        let store = open(&directory);
        store.create(&header("one", 1)).await.unwrap();
        store.create(&header("two", 1)).await.unwrap();
        drop(store);
        for kind in ["header", "journal"] {
            fs::write(directory.path().join(format!("session-one.{kind}")), "!\n").unwrap();
        }
        let store = open(&directory);
        let warnings = store.take_warnings();
        assert!(matches!(&warnings[..], [StoreWarning::LeftOut { .. }]), "{warnings:?}");
        assert_eq!(store.list(&ListQuery::new()).await.unwrap().len(), 1);
        let again = store.create(&header("one", 2)).await;
        assert!(matches!(again, Err(StoreError::Exists { .. })), "{again:?}");
        assert_eq!(fs::read_to_string(directory.path().join("session-one.journal")).unwrap(), "!\n");
    });
}

#[test]
fn journal_that_another_program_has_changed_is_not_written_to() {
    block_on(async {
        let directory = TempDir::new().unwrap();
        let store = open(&directory);
        store.create(&header("one", 1)).await.unwrap();
        store.append(&"one".into(), &[record("a"), record("b")]).await.unwrap();
        store.sync(&"one".into()).await.unwrap();
        let path = file(directory.path(), ".journal");
        let length = fs::metadata(&path).unwrap().len();
        fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(length - 3).unwrap();

        let appended = store.append(&"one".into(), &[record("c")]).await;
        assert!(matches!(appended, Err(StoreError::Corrupt { .. })), "{appended:?}");
        let (records, error) = read(&store, "one").await;
        assert_eq!(records, [record("a")]);
        assert!(matches!(error, Some(StoreError::Corrupt { .. })), "{error:?}");
        assert_eq!(fs::metadata(&path).unwrap().len(), length - 3);
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_sessions_are_appended_to_at_once() {
    let directory = TempDir::new().unwrap();
    let store = std::sync::Arc::new(open(&directory));
    let sessions = (0..64).map(|number| {
        let store = store.clone();
        tokio::spawn(async move {
            let id = format!("session-{number}");
            store.create(&header(&id, number)).await.unwrap();
            for step in 0..50 {
                // Two at once, the second of them too large to be written in place every now and then.
                let size = if (step + number) % 20 == 0 { 70_000 } else { 10 };
                let (one, two) =
                    ([record(format!("{step} first"))], [record(format!("{step} {}", "x".repeat(size)))]);
                let session_id = id.as_str().into();
                let (one, two) =
                    future::join(store.append(&session_id, &one), store.append(&session_id, &two)).await;
                one.and(two).unwrap();
                if step % 10 == 0 {
                    store.sync(&session_id).await.unwrap();
                    store.update_header(&header(&id, step)).await.unwrap();
                    assert_eq!(read_well(&*store, &id).await.len() as u64, 2 * (step + 1));
                    assert!(!store.list(&ListQuery::new()).await.unwrap().is_empty());
                }
            }
        })
    });
    for session in future::join_all(sessions).await {
        session.unwrap();
    }
    drop(store);

    let store = open(&directory);
    for number in 0..64 {
        let records = read_well(&store, &format!("session-{number}")).await;
        assert_eq!(records.len(), 100);
        for (step, pair) in records.chunks(2).enumerate() {
            assert!(pair.iter().all(|record| record.as_str().starts_with(&format!("\"{step} "))));
            assert_eq!(pair.iter().filter(|record| record.as_str().ends_with(" first\"")).count(), 1);
        }
    }
}

//! A `FileStore` on a simulated disk: each call of the disk in turn fails, or the power is cut at it.

use std::collections::BTreeMap;
use std::path::Path;

use agentwire_files::testing::{Fault, Random, Simulated};
use agentwire_jsonrpc::RawJson;
use futures::executor::block_on;
use futures_util::StreamExt as _;

use super::directory::Directory;
use crate::{FileStore, Fsync, ListQuery, SessionHeader, SessionStore, StoreError, StoreWarning};

const IDS: [&str; 3] = ["one", "Two", "../three"];

#[derive(Debug, Clone)]
enum Step {
    Create(usize),
    /// So many records, of about so many bytes.
    Append(usize, usize, usize),
    Sync(usize),
    Rename(usize),
    Delete(usize),
    /// Opens the store again.
    Reopen,
}

fn steps(random: &mut Random, count: usize) -> Vec<Step> {
    let mut steps = vec![Step::Create(0), Step::Create(1)];
    steps.extend((0..count).map(|_| {
        let id = random.below(IDS.len());
        match random.below(16) {
            0 => Step::Create(id),
            1..8 => Step::Append(id, 1 + random.below(3), random.below(150)),
            8..12 => Step::Sync(id),
            12 | 13 => Step::Rename(id),
            14 => Step::Delete(id),
            _ => Step::Reopen,
        }
    }));
    steps
}

/// The expected content of a session.
#[derive(Debug, Default, Clone)]
struct Expected {
    /// Whether it may be there, and whether it must.
    possible: bool,
    certain: bool,
    /// Whether it must be there after a power cut, too.
    durable: bool,
    acknowledged: Vec<RawJson>,
    /// How many of them a power cut must leave.
    durable_records: usize,
    /// The records that were appended behind so many acknowledged ones, and were not acknowledged.
    failed: Vec<(usize, Vec<RawJson>)>,
    /// The titles that it was to have, in order; the one that it has; and the first that it may have after a power cut.
    titles: Vec<Option<String>>,
    title: usize,
    durable_title: usize,
}

impl Expected {
    fn created(fsync: Fsync) -> Self {
        let durable = fsync != Fsync::Never;
        Self { possible: true, certain: true, durable, titles: vec![None], ..Self::default() }
    }
}

struct Run {
    disk: Simulated,
    fsync: Fsync,
    store: Option<FileStore>,
    sessions: BTreeMap<usize, Expected>,
    numbers: usize,
}

fn open(disk: &Simulated, fsync: Fsync) -> Result<FileStore, StoreError> {
    Ok(FileStore::with(Directory::with(Path::new("/sessions"), Box::new(disk.clone())))?.fsync(fsync))
}

async fn read(store: &FileStore, id: &str) -> Result<Option<(SessionHeader, Vec<RawJson>)>, StoreError> {
    let Some(session) = store.read(&id.into()).await? else { return Ok(None) };
    let mut records = Vec::new();
    for record in session.records.collect::<Vec<_>>().await {
        records.push(record?);
    }
    Ok(Some((session.header, records)))
}

/// Names the file, or the session.
fn names_the_place(error: &StoreError) {
    match error {
        StoreError::Io { path, .. } => assert!(path.starts_with("/sessions"), "{error}"),
        StoreError::Stopped { .. } | StoreError::NotFound { .. } | StoreError::Exists { .. } => {}
        error => panic!("{error:?}"),
    }
}

impl Run {
    fn new(disk: &Simulated, fsync: Fsync) -> Self {
        Self { disk: disk.clone(), fsync, store: None, sessions: BTreeMap::new(), numbers: 0 }
    }

    fn record(&mut self, size: usize) -> RawJson {
        self.numbers += 1;
        RawJson::encode(&format!("{} {}", self.numbers, "x".repeat(size))).unwrap()
    }

    async fn all(&mut self, steps: &[Step]) {
        for step in steps {
            self.one(step).await;
        }
    }

    async fn one(&mut self, step: &Step) {
        if self.store.is_none() {
            match open(&self.disk, self.fsync) {
                Ok(store) => self.store = Some(store),
                Err(error) => return names_the_place(&error),
            }
        }
        let (fsync, store) = (self.fsync, self.store.take().unwrap());
        match step {
            Step::Reopen => return,
            Step::Create(id) => {
                let header = SessionHeader::new(IDS[*id], "/project");
                let session = self.sessions.entry(*id).or_default();
                match store.create(&header).await {
                    Ok(()) => {
                        assert!(!session.certain);
                        *session = Expected::created(fsync);
                    }
                    Err(error) => {
                        names_the_place(&error);
                        if !session.possible {
                            *session = Expected::created(Fsync::Never);
                            session.certain = false;
                        }
                    }
                }
            }
            Step::Append(id, count, size) => {
                let records: Vec<_> = (0..*count).map(|_| self.record(*size)).collect();
                let appended = store.append(&IDS[*id].into(), &records).await;
                let session = self.sessions.entry(*id).or_default();
                match appended {
                    Ok(()) => {
                        assert!(session.possible);
                        session.certain = true;
                        session.acknowledged.extend(records);
                        if fsync == Fsync::Always {
                            session.durable_records = session.acknowledged.len();
                        }
                    }
                    Err(error) => {
                        names_the_place(&error);
                        let absent = matches!(error, StoreError::NotFound { .. });
                        assert!(!(absent && session.certain), "it is lost");
                        session.failed.push((session.acknowledged.len(), records));
                    }
                }
            }
            Step::Sync(id) => {
                let synced = store.sync(&IDS[*id].into()).await;
                let session = self.sessions.entry(*id).or_default();
                match synced {
                    Ok(()) => {
                        assert!(session.possible);
                        // A store that has not written to it syncs nothing of it.
                        if fsync != Fsync::Never && store.shared.locks.get(&IDS[*id].into()).is_some() {
                            session.durable |= session.certain;
                            session.durable_records = session.acknowledged.len();
                            session.durable_title = session.title;
                        }
                    }
                    Err(error) => names_the_place(&error),
                }
            }
            Step::Rename(id) => {
                self.numbers += 1;
                let title = Some(format!("title {}", self.numbers));
                let header = SessionHeader::new(IDS[*id], "/project").title(title.clone());
                let renamed = store.update_header(&header).await;
                let session = self.sessions.entry(*id).or_default();
                session.titles.push(title);
                match renamed {
                    Ok(()) => {
                        session.title = session.titles.len() - 1;
                        if fsync == Fsync::Always {
                            session.durable_title = session.title;
                        }
                    }
                    Err(error) => names_the_place(&error),
                }
            }
            Step::Delete(id) => {
                let deleted = store.delete(&IDS[*id].into()).await;
                let session = self.sessions.entry(*id).or_default();
                match deleted {
                    Ok(existed) => {
                        assert!(existed || !session.certain);
                        let possible = fsync == Fsync::Never && session.possible;
                        let failed = vec![(0, std::mem::take(&mut session.acknowledged))];
                        *session = Expected {
                            possible,
                            failed,
                            titles: session.titles.clone(),
                            ..Expected::default()
                        };
                    }
                    Err(error) => {
                        names_the_place(&error);
                        (session.certain, session.durable) = (false, false);
                        (session.durable_records, session.durable_title) = (0, 0);
                    }
                }
            }
        }
        self.store = Some(store);
    }

    /// Checks that a disk has what it must have, and nothing that was not written, and that each session can be continued.
    async fn check(&mut self, disk: &Simulated, power_cut: bool) {
        self.store = None;
        let store = open(disk, self.fsync).unwrap();
        for (id, expected) in &self.sessions {
            let must = if power_cut { expected.durable } else { expected.certain };
            let claim = store.claim(&IDS[*id].into()).await.unwrap();
            let Some((header, records)) = read(&store, IDS[*id]).await.unwrap() else {
                assert!(!must, "{} is lost", IDS[*id]);
                continue;
            };
            assert!(expected.possible, "{} is back", IDS[*id]);
            let last = if power_cut { expected.durable_title } else { expected.title };
            let titles = &expected.titles[last.min(expected.titles.len() - 1)..];
            assert!(
                self.fsync == Fsync::Never || titles.contains(&header.title),
                "{:?} is none of {titles:?}",
                header.title
            );
            let least = if power_cut { expected.durable_records } else { expected.acknowledged.len() };
            let same =
                records.iter().zip(&expected.acknowledged).take_while(|(one, other)| one == other).count();
            let rest = &records[same..];
            let began = |(at, failed): &(usize, Vec<RawJson>)| *at <= same && failed.starts_with(rest);
            assert!(
                same >= least,
                "{same} of {least} records are left of {} (power cut: {power_cut}, {:?}): {records:?}",
                IDS[*id],
                self.fsync
            );
            assert!(
                rest.is_empty() || self.fsync == Fsync::Never || expected.failed.iter().any(began),
                "{rest:?} was not written to {} behind {same}",
                IDS[*id]
            );
            // It goes on.
            let more = RawJson::encode(&"more").unwrap();
            store.append(&IDS[*id].into(), std::slice::from_ref(&more)).await.unwrap();
            store.sync(&IDS[*id].into()).await.unwrap();
            let (_, now) = read(&store, IDS[*id]).await.unwrap().unwrap();
            assert_eq!(now, [&records[..], &[more]].concat());
            drop(claim);
        }
        for warning in store.take_warnings() {
            let expected = match warning {
                StoreWarning::TornTail { .. } => true,
                // Half of its first line may have been written.
                StoreWarning::HeaderRestored { .. } => self.disk.had_short_write(),
                _ => false,
            };
            assert!(expected || self.fsync == Fsync::Never, "{warning}");
        }
        let listed = store.list(&ListQuery::new()).await.unwrap();
        assert!(listed.len() <= IDS.len());
    }
}

/// How many calls it takes when nothing fails.
fn calls(steps: &[Step], fsync: Fsync) -> u64 {
    let disk = Simulated::new(0);
    block_on(Run::new(&disk, fsync).all(steps));
    disk.calls()
}

#[test]
fn a_power_cut_at_any_call_costs_nothing_that_was_durable() {
    for seed in 0..12 {
        let steps = steps(&mut Random::new(seed), 30);
        for fsync in [Fsync::EveryTurn, Fsync::Always, Fsync::Never] {
            for call in (seed % 3..calls(&steps, fsync)).step_by(3) {
                let disk = Simulated::new(seed);
                disk.fail(call, Fault::Off);
                let mut run = Run::new(&disk, fsync);
                block_on(async {
                    run.all(&steps).await;
                    for cut in 0..4 {
                        run.check(&disk.after_power_cut(call * 7 + cut), true).await;
                    }
                });
            }
        }
    }
}

#[test]
fn a_call_that_fails_costs_nothing_that_was_acknowledged() {
    for seed in 0..12 {
        let steps = steps(&mut Random::new(seed), 30);
        for fsync in [Fsync::EveryTurn, Fsync::Always, Fsync::Never] {
            for fault in [Fault::Io, Fault::Full, Fault::Short] {
                for call in (seed % 5..calls(&steps, fsync)).step_by(5) {
                    let disk = Simulated::new(seed);
                    disk.fail(call, fault);
                    let mut run = Run::new(&disk, fsync);
                    block_on(async {
                        run.all(&steps[..20]).await;
                        disk.heal();
                        // The store is still usable, and what failed may be tried again.
                        run.all(&[Step::Reopen]).await;
                        run.all(&steps[20..]).await;
                        run.store = None;
                        for cut in 0..2 {
                            run.check(&disk.after_power_cut(call * 7 + cut), true).await;
                        }
                        run.check(&disk, false).await;
                    });
                }
            }
        }
    }
}

#[test]
fn a_durable_append_covers_records_that_could_not_be_synced() {
    let id = IDS[0].into();
    let records = ["one", "two"].map(|text| RawJson::encode(&text.repeat(50)).unwrap());
    let mut failures = 0;
    for call in 0..12 {
        let disk = Simulated::new(call);
        block_on(async {
            let store = open(&disk, Fsync::EveryTurn).unwrap();
            store.create(&SessionHeader::new(IDS[0], "/project")).await.unwrap();
            store.append(&id, &records[..1]).await.unwrap();
            disk.fail(call, Fault::Io);
            failures += usize::from(store.sync(&id).await.is_err());
            disk.heal();
            drop(store);
            let store = open(&disk, Fsync::Always).unwrap();
            store.append(&id, &records[1..]).await.unwrap();
            drop(store);
            for cut in 0..20 {
                let store = open(&disk.after_power_cut(cut), Fsync::Always).unwrap();
                let (_, read) = read(&store, IDS[0]).await.unwrap().expect("the session is durable");
                assert_eq!(read, records, "call {call}, cut {cut}");
            }
        });
    }
    assert!(failures > 0);
}

//! Random operations on a store in a directory and on one in memory have the same results.

use agentwire_acp_sessions::{
    FileStore, Fsync, ListQuery, MemoryStore, SessionHeader, SessionStore, StoreError, Timestamp,
};
use futures::executor::block_on;
use proptest::collection::vec;
use proptest::prelude::*;
use tempfile::TempDir;

use crate::store::{open, read_well, record};

const IDS: [&str; 3] = ["one", "Two", "../three"];

#[derive(Debug, Clone)]
enum Step {
    Create(usize, u64),
    Append(usize, Vec<String>),
    Sync(usize),
    Rename(usize, u64, Option<String>),
    Delete(usize),
    Read(usize),
    List(Option<usize>),
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let id = 0..IDS.len();
    prop_oneof![
        2 => (id.clone(), 0..5u64).prop_map(|(id, at)| Step::Create(id, at)),
        4 => (id.clone(), vec(".{0,20}", 0..4)).prop_map(|(id, texts)| Step::Append(id, texts)),
        1 => id.clone().prop_map(Step::Sync),
        1 => (id.clone(), 0..5u64, proptest::option::of(".{0,20}"))
            .prop_map(|(id, at, title)| Step::Rename(id, at, title)),
        1 => id.clone().prop_map(Step::Delete),
        2 => id.prop_map(Step::Read),
        1 => proptest::option::of(0..4usize).prop_map(Step::List),
        1 => Just(Step::Reopen),
    ]
}

fn header(id: usize, updated: u64) -> SessionHeader {
    let mut header = SessionHeader::new(IDS[id], "/project").updated(Timestamp::from_millis(updated));
    header.created = Timestamp::from_millis(0);
    header
}

/// Does a step and returns its outcome, as far as it is visible.
async fn run(store: &dyn SessionStore, step: &Step) -> String {
    let outcome = |result: Result<(), StoreError>| format!("{result:?}");
    match step {
        Step::Create(id, at) => outcome(store.create(&header(*id, *at)).await),
        Step::Append(id, texts) => {
            let records: Vec<_> = texts.iter().map(record).collect();
            outcome(store.append(&IDS[*id].into(), &records).await)
        }
        Step::Sync(id) => outcome(store.sync(&IDS[*id].into()).await),
        Step::Rename(id, at, title) => {
            outcome(store.update_header(&header(*id, *at).title(title.clone())).await)
        }
        Step::Delete(id) => format!("{:?}", store.delete(&IDS[*id].into()).await),
        Step::Read(id) => match store.read(&IDS[*id].into()).await {
            Ok(Some(session)) => format!("{:?} {:?}", session.header, read_well(store, IDS[*id]).await),
            other => format!("{other:?}"),
        },
        Step::List(limit) => format!("{:?}", store.list(&ListQuery::new().limit(*limit)).await),
        Step::Reopen => String::new(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_directory_holds_what_memory_holds(
        steps in vec(step(), 1..40),
        fsync in prop_oneof![4 => Just(Fsync::Never), 1 => Just(Fsync::EveryTurn), 1 => Just(Fsync::Always)],
    ) {
        block_on(async {
            let directory = TempDir::new().unwrap();
            let memory = MemoryStore::new();
            let mut kept: Option<FileStore> = None;
            for step in &steps {
                if matches!(step, Step::Reopen) {
                    // Closed first: one directory has one store.
                    drop(kept.take());
                }
                let store = kept.get_or_insert_with(|| open(&directory).fsync(fsync));
                prop_assert_eq!(run(store, step).await, run(&memory, step).await, "{:?}", step);
                prop_assert_eq!(store.take_warnings(), []);
            }
            Ok(())
        })?;
    }
}

//! Task stores: records in files, which outlive the program, and stores that fail.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use agentwire_mcp_server::{MemoryTasks, TaskCursor, TaskOwner, TaskRecord, TaskStore, TaskStoreError};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::json;
use tokio::runtime::{Builder, Runtime};
use tokio::time::{Instant, sleep};

use super::subject::{
    alone_at, answer, cancel, in_session, opted, started, state, subject_with, tasks, text, until, update,
};
use crate::raw::code_of;
use crate::subject::Stopped;

/// A file for each record.
#[derive(Clone)]
struct Files(PathBuf);

impl Files {
    /// In a new folder of that name.
    fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        let _not_there = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("there is room");
        Self(folder)
    }

    fn path(&self, id: &str) -> PathBuf {
        self.0.join(format!("{id}.json"))
    }

    fn write(&self, record: &TaskRecord) -> Result<(), TaskStoreError> {
        let text = serde_json::to_string(record).map_err(TaskStoreError::new)?;
        fs::write(self.path(&record.id), text).map_err(TaskStoreError::new)
    }

    fn find(&self, id: &str) -> Result<Option<TaskRecord>, TaskStoreError> {
        // An id is any text that a client sends.
        if !id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)) {
            return Ok(None);
        }
        match fs::read_to_string(self.path(id)) {
            Ok(text) => serde_json::from_str(&text).map(Some).map_err(TaskStoreError::new),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(TaskStoreError::new(error)),
        }
    }

    fn all(&self) -> Result<Vec<TaskRecord>, TaskStoreError> {
        let mut records = Vec::new();
        for entry in fs::read_dir(&self.0).map_err(TaskStoreError::new)? {
            let path = entry.map_err(TaskStoreError::new)?.path();
            let text = fs::read_to_string(path).map_err(TaskStoreError::new)?;
            records.push(serde_json::from_str(&text).map_err(TaskStoreError::new)?);
        }
        records.sort_by_key(TaskRecord::cursor);
        Ok(records)
    }
}

impl TaskStore for Files {
    fn create(&self, record: TaskRecord) -> BoxFuture<'_, Result<(), TaskStoreError>> {
        async move { self.write(&record) }.boxed()
    }

    fn read<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<TaskRecord>, TaskStoreError>> {
        async move { self.find(id) }.boxed()
    }

    fn update(&self, record: TaskRecord) -> BoxFuture<'_, Result<bool, TaskStoreError>> {
        async move {
            let is_open = self.find(&record.id)?.is_some_and(|there| !there.is_final());
            if is_open {
                self.write(&record)?;
            }
            Ok(is_open)
        }
        .boxed()
    }

    fn remove<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), TaskStoreError>> {
        async move {
            let _not_there = fs::remove_file(self.path(id));
            Ok(())
        }
        .boxed()
    }

    fn list<'a>(
        &'a self,
        owner: Option<&'a TaskOwner>,
        after: Option<&'a TaskCursor>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<TaskRecord>, TaskStoreError>> {
        async move {
            let mut records = self.all()?;
            records.retain(|record| owner.is_none_or(|owner| record.owner == *owner));
            records.retain(|record| after.is_none_or(|after| record.cursor() > *after));
            records.truncate(limit);
            Ok(records)
        }
        .boxed()
    }
}

/// A program, with a clock of its own. What runs in it ends with it.
fn program() -> Runtime {
    Builder::new_current_thread().enable_time().start_paused(true).build().expect("there are threads")
}

#[test]
fn finished_tasks_outlive_the_program_and_others_have_failed() {
    let files = Files::new("restart");
    let stopped = Stopped::default();
    let (done, ids, of_session) = program().block_on(async {
        let server = subject_with(tasks().store(files.clone()), &stopped);
        let (done, ids) = alone_at(&server, async |raw| {
            let done = started(raw, "job", json!({ "seconds": 1 })).await;
            let done = until(raw, &done, "completed").await;
            let running = [started(raw, "deaf", json!({})).await, started(raw, "ask", json!({})).await];
            until(raw, &running[1], "input_required").await;
            (done, running)
        })
        .await;
        let client = in_session(&server, async |client| {
            let id = client.start("deaf", json!({})).await;
            // So that the end of the program is what ends it, and not that of the session.
            fs::read_to_string(files.path(&id)).expect("it was written before it was told of")
        });
        (done, ids, client.await)
    });
    let of_session: TaskRecord = serde_json::from_str(&of_session).expect("a record");
    files.write(&of_session).expect("there is room");

    program().block_on(async {
        let tasks = tasks().store(files.clone());
        assert_eq!(tasks.recover().await.expect("it can be read"), 3);
        assert_eq!(tasks.recover().await.expect("it can be read"), 0, "once is enough");
        let server = subject_with(tasks, &stopped);
        alone_at(&server, async |raw| {
            let id = done["taskId"].as_str().unwrap();
            assert_eq!(state(raw, id).await, done);
            for id in &ids {
                let failed = state(raw, id).await;
                assert_eq!((&failed["status"], &failed["error"]["code"]), (&json!("failed"), &json!(-32603)));
                assert!(
                    failed["statusMessage"].is_string() && failed.get("inputRequests").is_none(),
                    "{failed}"
                );
                update(raw, id, json!({ "name": answer("elicitation/create") })).await;
                cancel(raw, id).await;
                assert_eq!(state(raw, id).await, failed, "it is final");
            }
            let gone = opted(json!({ "taskId": of_session.id }));
            assert_eq!(raw.refusal_of("tasks/get", gone).await, -32602);
            // New ones run beside them.
            let id = started(raw, "job", json!({ "seconds": 1 })).await;
            assert_eq!(text(&until(raw, &id, "completed").await["result"]), "after 1 s");
        })
        .await;
    });
    fs::remove_dir_all(&files.0).expect("it is there");
}

/// A store that takes its time, or does not do what it is asked for.
#[derive(Default)]
pub(super) struct Difficult {
    pub(super) memory: Arc<MemoryTasks>,
    pub(super) delay: Duration,
    pub(super) fails: AtomicBool,
    /// How often a record was to be replaced.
    pub(super) updates: AtomicUsize,
}

impl Difficult {
    async fn suffer(&self) -> Result<(), TaskStoreError> {
        sleep(self.delay).await;
        if self.fails.load(Ordering::Relaxed) { Err(TaskStoreError::new("the disk is full")) } else { Ok(()) }
    }
}

impl TaskStore for Difficult {
    fn create(&self, record: TaskRecord) -> BoxFuture<'_, Result<(), TaskStoreError>> {
        async move {
            self.suffer().await?;
            self.memory.create(record).await
        }
        .boxed()
    }

    fn read<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<TaskRecord>, TaskStoreError>> {
        async move {
            self.suffer().await?;
            self.memory.read(id).await
        }
        .boxed()
    }

    fn update(&self, record: TaskRecord) -> BoxFuture<'_, Result<bool, TaskStoreError>> {
        async move {
            self.updates.fetch_add(1, Ordering::Relaxed);
            self.suffer().await?;
            self.memory.update(record).await
        }
        .boxed()
    }

    fn remove<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), TaskStoreError>> {
        self.memory.remove(id)
    }

    fn list<'a>(
        &'a self,
        owner: Option<&'a TaskOwner>,
        after: Option<&'a TaskCursor>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<TaskRecord>, TaskStoreError>> {
        self.memory.list(owner, after, limit)
    }
}

#[tokio::test(start_paused = true)]
async fn task_is_reported_once_the_store_has_it() {
    let store = Difficult { delay: Duration::from_secs(5), ..Difficult::default() };
    alone_at(&subject_with(tasks().store(store), &Stopped::default()), async |raw| {
        let begun = Instant::now();
        let id = started(raw, "job", json!({ "seconds": 60 })).await;
        assert_eq!(begun.elapsed().as_secs(), 5);
        assert_eq!(state(raw, &id).await["status"], "working");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn without_a_store_there_is_no_task() {
    let store = Arc::new(Difficult::default());
    let stopped = Stopped::default();
    alone_at(&subject_with(tasks().store(store.clone()), &stopped), async |raw| {
        store.fails.store(true, Ordering::Relaxed);
        let call = json!({ "name": "deaf", "arguments": {} });
        let refused = raw.ask("tools/call", opted(call)).await;
        assert_eq!(code_of(&refused), -32603);
        sleep(Duration::from_secs(1)).await;
        store.fails.store(false, Ordering::Relaxed);
        // The result outlives a store that fails for a while.
        let id = started(raw, "job", json!({ "seconds": 1 })).await;
        assert_eq!(text(&until(raw, &id, "completed").await["result"]), "after 1 s");
    })
    .await;
}

//! `TaskStore`: the trait of the storage of task records.

use agentwire_jsonrpc::{ErrorObject, WithCauses};
use std::error::Error;
use std::sync::Arc;

use futures::future::BoxFuture;

use crate::{TaskCursor, TaskOwner, TaskRecord};

/// The storage of the records of tasks.
///
/// The function of a task lives in one process; its record may outlive that. That process writes the state of the task. Any
/// process that shares the store may write its end: when a client cancels it there, or its node has died. The first end counts.
/// A store may forget expired records at any time; readers check [`TaskRecord::is_expired`] and ignore them.
pub trait TaskStore: Send + Sync + 'static {
    /// Keeps a new record. Once this is done, [`read`](Self::read) finds it.
    fn create(&self, record: TaskRecord) -> BoxFuture<'_, Result<(), TaskStoreError>>;

    /// The record of that id, if there is one.
    fn read<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<TaskRecord>, TaskStoreError>>;

    /// Replaces the record that has the same id, unless that is [final](TaskRecord::is_final). Returns whether it did. A record
    /// that is not there any more stays away. Of several updates at once that end a task, one returns true.
    fn update(&self, record: TaskRecord) -> BoxFuture<'_, Result<bool, TaskStoreError>>;

    /// Forgets the record of that id, if there is one.
    fn remove<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), TaskStoreError>>;

    /// The records of an owner, or all of them where none is named: in the order of [`TaskCursor`], those behind a place
    /// where one is given, and no more than `limit`. Of an owner, those of revisions without `tasks/list` may be left out.
    fn list<'a>(
        &'a self,
        owner: Option<&'a TaskOwner>,
        after: Option<&'a TaskCursor>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<TaskRecord>, TaskStoreError>>;
}

/// Why an operation of a store failed.
#[derive(Debug, thiserror::Error)]
#[error("the store of tasks failed")]
pub struct TaskStoreError(#[source] Box<dyn Error + Send + Sync>);

impl TaskStoreError {
    /// Creates an error with that cause.
    pub fn new(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(source.into())
    }
}

/// An internal error, with the reason.
impl From<TaskStoreError> for ErrorObject {
    fn from(error: TaskStoreError) -> Self {
        Self::internal_error(WithCauses::new(&error))
    }
}

/// A shared store.
impl<S: TaskStore + ?Sized> TaskStore for Arc<S> {
    fn create(&self, record: TaskRecord) -> BoxFuture<'_, Result<(), TaskStoreError>> {
        (**self).create(record)
    }

    fn read<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<TaskRecord>, TaskStoreError>> {
        (**self).read(id)
    }

    fn update(&self, record: TaskRecord) -> BoxFuture<'_, Result<bool, TaskStoreError>> {
        (**self).update(record)
    }

    fn remove<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), TaskStoreError>> {
        (**self).remove(id)
    }

    fn list<'a>(
        &'a self,
        owner: Option<&'a TaskOwner>,
        after: Option<&'a TaskCursor>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<TaskRecord>, TaskStoreError>> {
        (**self).list(owner, after, limit)
    }
}

//! The errors of a store.

use std::error::Error;

/// Why a store could not do an operation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The store cannot be reached, did not answer in time, or refuses for now. The operation may or may not have been done. It
    /// may succeed when it is repeated later.
    #[error("the store is unavailable")]
    Away(#[source] Box<dyn Error + Send + Sync>),
    /// The place of an event is taken, or its stream has ended: another node has taken the stream over.
    #[error("another node has taken the stream over")]
    TakenOver,
    /// The store has no room for this.
    #[error("the store is full")]
    Full(#[source] Box<dyn Error + Send + Sync>),
    /// The content of the store cannot be read.
    #[error("the content of the store cannot be read")]
    Damaged(#[source] Box<dyn Error + Send + Sync>),
}

impl StoreError {
    /// Creates an [`Away`](Self::Away).
    pub fn away(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Away(source.into())
    }

    /// Creates a [`Full`](Self::Full).
    pub fn full(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Full(source.into())
    }

    /// Creates a [`Damaged`](Self::Damaged).
    pub fn damaged(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Damaged(source.into())
    }
}

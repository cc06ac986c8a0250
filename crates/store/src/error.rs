//! Why a store could not do what it was asked for.

use std::error::Error;

/// Why a store could not do what it was asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The store cannot be reached, or did not answer in time. What it was asked for may have been done or not. Asked again later it
    /// may answer.
    #[error("the store is away: {0}")]
    Away(#[source] Box<dyn Error + Send + Sync>),
    /// Another node has taken over what this one writes to.
    #[error("another node has taken this over")]
    TakenOver,
    /// The store has no room for this.
    #[error("the store is full: {0}")]
    Full(#[source] Box<dyn Error + Send + Sync>),
    /// What the store has cannot be read.
    #[error("what the store has cannot be read: {0}")]
    Damaged(#[source] Box<dyn Error + Send + Sync>),
}

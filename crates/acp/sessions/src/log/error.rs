//! The error of a command of the update log.

use std::sync::Arc;

use agentwire_acp_agent::{Closed, Error};

use crate::store::StoreError;

/// Why a command of the update log failed.
#[derive(Clone, Debug)]
pub(crate) enum LogError {
    /// The turn or the session has ended.
    Ended,
    /// The session has no such mode, option or value.
    Invalid(Error),
    /// The update has no JSON.
    NotJson(Arc<str>),
    TooLong {
        bytes: usize,
        limit: usize,
    },
    Store(Arc<StoreError>),
    /// The update is written, and the client is gone.
    Closed(Closed),
}

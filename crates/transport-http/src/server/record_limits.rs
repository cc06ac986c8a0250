//! How large the record of a session may become that several nodes share.

/// What the record of a session may have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordLimits {
    /// How many URIs the client may subscribe to.
    pub(crate) subscriptions: usize,
    /// How many bytes the messages may have together.
    pub(crate) bytes: usize,
}

//! Limits on the size of the session records that several nodes share.

use agentwire_jsonrpc::RawJson;
use agentwire_store::SessionRecord;

use crate::server::admission::quota::Quota;

/// Limits for the records of sessions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordLimits {
    /// How many URIs the client may subscribe to.
    pub(crate) subscriptions: usize,
    /// How many bytes the messages may have together.
    pub(crate) bytes: usize,
    /// How many bytes of memory the records of all sessions take here.
    pub(crate) budget: usize,
}

/// One caller has up to this part of the memory for records.
const CALLER_SHARE: usize = 4;

/// The memory of a record beside its messages, and of a message beside its text.
const RECORD_COST: usize = 256;
const MESSAGE_COST: usize = size_of::<RawJson>() + 32;

impl RecordLimits {
    /// Counts the bytes of the records here. Each caller has room for the longest.
    pub(crate) fn quota(&self) -> Quota {
        let longest = self.bytes.saturating_add(RECORD_COST + (self.subscriptions + 3) * MESSAGE_COST);
        let of_caller = (self.budget / CALLER_SHARE).max(longest);
        Quota::new(self.budget.max(of_caller), of_caller)
    }
}

/// About how many bytes of memory a record takes.
pub(crate) fn record_size(record: &SessionRecord) -> usize {
    RECORD_COST + record.messages.iter().map(|message| message.len() + MESSAGE_COST).sum::<usize>()
}

//! JSON-RPC as clients have to speak it.

pub(super) mod audits;
pub(super) mod batches;
pub(super) mod malformed;
pub(super) mod meta;
pub(super) mod requests;
pub(super) mod results;
pub(super) mod schemas;

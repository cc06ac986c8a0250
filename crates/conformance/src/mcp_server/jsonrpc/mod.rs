//! JSON-RPC as servers have to speak it.

pub(super) mod batches;
pub(super) mod malformed;
pub(super) mod messages;
pub(super) mod meta;
pub(super) mod stateless;

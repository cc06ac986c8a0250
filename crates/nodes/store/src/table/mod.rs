//! The content of stores of one process, without locks, time or I/O. The stores in memory lock it, and the store of files records
//! each change as well.

pub(crate) mod event;
pub(crate) mod log;
pub(crate) mod once;
pub(crate) mod record;

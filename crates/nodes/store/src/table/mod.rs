//! The tables of stores of one process, without locks, time or I/O. The stores in memory lock them; the store of files also
//! records each change.

pub(crate) mod event;
pub(crate) mod log;
pub(crate) mod once;
pub(crate) mod record;

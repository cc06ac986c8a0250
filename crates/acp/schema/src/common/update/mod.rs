//! The updates that both versions share.

pub(crate) mod compaction;
pub(crate) mod notice;
pub(crate) mod plan;
pub(crate) mod tool;
pub(crate) mod usage;

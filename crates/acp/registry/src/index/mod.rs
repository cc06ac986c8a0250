//! The index of the registry: what each agent is, and how it can be installed.

mod agents;
mod entry;
mod parse;
mod source;

pub use agents::Index;
pub use entry::{Archive, Entry, Package};
pub(crate) use parse::is_id;
pub use source::IndexSource;

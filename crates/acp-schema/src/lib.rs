//! Wire types of the Agent Client Protocol.

mod common;
pub mod v1;

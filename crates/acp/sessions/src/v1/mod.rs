//! Version 1 of the protocol: its methods, and the conversion of updates.

mod agent;
pub(crate) mod update;

pub(crate) use self::agent::V1Agent;

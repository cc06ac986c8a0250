//! The beginning of a connection.

pub(crate) mod agent_capabilities;
pub(crate) mod authentication;
pub(crate) mod client_capabilities;
pub(crate) mod initialize;

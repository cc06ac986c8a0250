//! Runs calls as tasks, and answers the requests about them.

pub(crate) mod client;
pub(crate) mod follow;
pub(crate) mod node;
pub(crate) mod notifications;
pub(crate) mod plan;
pub(crate) mod recover;
pub(crate) mod remote;
pub(crate) mod report;
pub(crate) mod requests;
pub(crate) mod result;
pub(crate) mod run;

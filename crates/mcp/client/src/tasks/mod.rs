//! Calls that a server works on as tasks. There are two protocols: [`core`] is part of revision 2025-11-25, [`extension`]
//! is the tasks extension for modern servers. They share [`run`] and [`requests`].

pub(crate) mod core;
pub(crate) mod deadline;
pub(crate) mod extension;
pub(crate) mod handle;
pub(crate) mod report;
pub(crate) mod requests;
pub(crate) mod run;
pub(crate) mod settings;

pub use self::handle::{Task, TaskOrResult};
pub use self::report::TaskState;
pub use self::settings::Tasks;

//! The server features of the specification, except tasks.

#[macro_use]
pub(crate) mod resource_type;

pub(crate) mod call_tool;
pub(crate) mod completion;
pub(crate) mod logging;
pub(crate) mod prompts;
pub(crate) mod resource_contents;
pub(crate) mod resources;
pub(crate) mod tools;

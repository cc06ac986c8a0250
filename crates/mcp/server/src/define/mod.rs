//! The definitions that an author registers: tools, resources, templates and prompts, with their functions.

pub(crate) mod completion;
pub(crate) mod function;
pub(crate) mod layers;
pub(crate) mod names;
pub(crate) mod prompt;
pub(crate) mod registered;
pub(crate) mod registry;
pub(crate) mod resource;
pub(crate) mod resource_template;
pub(crate) mod state_slots;
pub(crate) mod template;
pub(crate) mod tool;
pub(crate) mod tool_error;
pub(crate) mod tool_result;

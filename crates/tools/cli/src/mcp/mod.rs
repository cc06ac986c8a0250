//! The commands of an MCP client: `inspect`, `resources`, `read`, `prompts`, `prompt`, `complete` and `request`.

pub(crate) mod arguments;
mod complete;
mod inspect;
mod lists;
mod prompts;
mod request;
mod resources;

pub(crate) use self::complete::complete;
pub(crate) use self::inspect::inspect;
pub(crate) use self::prompts::{prompt, prompts};
pub(crate) use self::request::request;
pub(crate) use self::resources::{read, resources};

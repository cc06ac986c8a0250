//! All MCP servers of one session, as one set of tools.
//!
//! ```no_run
//! use agentwire_mcp_hub::{ServerConfig, Target};
//! use serde_json::json;
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let servers = [
//!     ServerConfig::new("files", Target::parse("my-file-server --root /repo")?),
//!     ServerConfig::new("web", Target::parse("my-web-server")?),
//! ];
//! agentwire_mcp_hub::connect(servers, async |hub| {
//!     for tool in hub.tools().await {
//!         println!("{} of {}", tool.name, tool.server);
//!     }
//!     let found = hub.call("search", json!({ "for": "Agentwire" })).await;
//!     for server in hub.status() {
//!         println!("{}: {}", server.name, server.state);
//!     }
//!     found.map(|result| println!("{}", result.text()))
//! })
//! .await?;
//! # Ok(())
//! # }
//! ```
//!
//! Servers are connected to all at once, each within a time limit. One that cannot be reached, or dies, is
//! [reported](Hub::status) and costs its own tools only; the session goes on. All of them end with it.
//!
//! # Names
//!
//! A tool keeps its plain name while no other server has one of that name. Where two have, both are called
//! `server__tool`, and that form is always understood, also for a tool whose plain name is unique. Characters of
//! a server's name that language models do not take in the name of a tool (all but `A-Z a-z 0-9 _ -`) become
//! `_`, and where two names would still be one, the later gets a number: `files`, `files_2`.
//!
//! Names follow from the configuration and from what the servers list, not from who was faster:
//! [`Hub::tools`] waits until every server has answered or failed. They stay when a server dies, and calling a
//! tool of a dead server fails with the reason of its death.
//!
//! # Who drives it
//!
//! Nothing is spawned. [`connect`] runs everything for as long as a closure runs. [`Hub::new`] gives the parts: a
//! handle, which is cheap to clone, and a [`Driver`], one future that runs all connections. Dropping the driver
//! kills all servers; [`Hub::close`] ends them in good order.
//!
//! # What it does not do
//!
//! It speaks to processes over stdio. A URL is taken as a target, so that configurations can be read, but fails
//! with an error that says so. It does not restart servers, and does not merge resources and prompts:
//! [`Hub::server`] gives the handle on one server for those.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod call;
mod config;
mod connection;
mod driver;
mod hub;
mod names;
mod state;
mod status;

/// The words of the protocol.
pub use agentwire_mcp_schema as schema;

pub use call::{HubError, ToolCall};
pub use config::{Config, ServerConfig, Target};
pub use driver::Driver;
pub use hub::{Hub, connect};
pub use names::HubTool;
pub use status::{ServerState, ServerStatus};

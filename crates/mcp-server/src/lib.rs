//! MCP servers: a tool is an async function whose schema comes from its argument type.
//!
//! ```
//! use agentwire_mcp_server::{Context, Server, ToolError};
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Add {
//!     a: i64,
//!     b: i64,
//! }
//!
//! async fn add(Add { a, b }: Add, _cx: Context) -> Result<String, ToolError> {
//!     Ok((a + b).to_string())
//! }
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! # use agentwire_transport_stdio::stdio;
//! Server::new("calculator", "1.0.0").tool("add", "Add two numbers", add).serve(stdio()?).await?;
//! # Ok(())
//! # }
//! ```
//!
//! A [`Server`] is a set of registries: tools, resources and prompts, each a plain async function with a name.
//! It can serve any number of connections, over any [`Transport`](agentwire_transport::Transport), and change
//! while it does. What it advertises is what is registered, so it cannot lie.
//!
//! ```text
//!  request ─▶ handshake ─▶ registry ─▶ arguments, decoded once ─▶ your async fn ─▶ result ─▶ revision of the peer
//!                                                                     │
//!                                                  Context: progress, log, cancelled, client
//! ```
//!
//! # Handlers are `Send`
//!
//! A registry holds functions of many types, so they are boxed once, when they are registered, and have to say
//! then whether they may move between threads. They may: functions are `Send + Sync + 'static` and their
//! futures `Send`, so that the future of a connection can be spawned. Nothing here spawns anything.
//!
//! # What happens without you
//!
//! - The handshake of the revisions 2024-11-05 to 2025-11-25. A client that asks for something else gets the
//!   newest. What an older revision does not have is left out of what is sent, by
//!   [`Narrow`](schema::Narrow); what cannot be said to it at all is an error here.
//! - A request before `initialize` is answered with an error. Nothing that a client sends ends the server.
//! - Arguments of the wrong shape do not reach the function; the error names the member that is wrong.
//! - A cancelled call is dropped where it waits, and not answered. Destructors run.
//! - A function that panics is answered with an internal error; other calls go on.
//! - Lists come in pages, in the order of registration, and clients hear when they change.
//!
//! # What it does not do
//!
//! It opens no socket and knows no concrete transport. It does not check arguments against a schema beyond what
//! decoding them does, nor limit how often a tool reports progress. Completion, resource templates and
//! subscriptions are not offered yet.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod arguments;
mod client;
mod context;
mod prompt;
mod registry;
mod resource;
mod server;
mod session;
mod tool;
mod tool_error;
mod tool_result;

/// The words of the protocol.
pub use agentwire_mcp_schema as schema;

pub use agentwire_jsonrpc::ErrorObject;
pub use agentwire_peer::{Call, CallError, Cancelled, Closed, Config};
pub use arguments::NoArguments;
pub use client::Client;
pub use context::Context;
pub use prompt::{IntoPromptResult, ServerPrompt};
pub use resource::{IntoResourceContents, ServerResource};
pub use server::Server;
pub use tool::ServerTool;
pub use tool_error::ToolError;
pub use tool_result::{IntoToolResult, Structured};

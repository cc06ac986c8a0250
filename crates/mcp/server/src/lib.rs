//! MCP servers: a tool is an async function whose schema comes from its argument type.
//!
//! `agentwire_mcp_server` here is `agentwire::mcp::server` in the crate `agentwire`, with its feature `mcp-server`.
//!
//! ```
//! use agentwire_mcp_server::Server;
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Add {
//!     a: i64,
//!     b: i64,
//! }
//!
//! async fn add(Add { a, b }: Add) -> String {
//!     (a + b).to_string()
//! }
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! # use agentwire_transport_stdio::stdio;
//! Server::new("calculator", "1.0.0").tool("add", "Add two numbers", add).serve(stdio()?).await?;
//! # Ok(())
//! # }
//! ```
//!
//! A function takes what it needs of [`State`], its arguments and a [`Context`], in that order: see [`Function`].
//!
//! A [`Server`] is a set of registries: tools, resources, templates of resources and prompts, each an async function with
//! a name. Functions also [complete](ServerPrompt::complete) what a user types into a prompt or a template.
//! A server serves any number of connections, over any [`Transport`](agentwire_transport::Transport), and can change
//! while it does. It advertises what is registered.
//!
//! ```text
//!  request ─▶ lifecycle ─▶ dispatch ─▶ registry ─▶ layers ─▶ arguments, decoded once ─▶ your async fn ─▶ result
//!                                                                                         │
//!                                                   Context: progress, log, elicit, cancelled, client
//! ```
//!
//! # Legacy sessions and modern requests
//!
//! Up to revision 2025-11-25 a client begins a session with `initialize`. Since 2026-07-28 each request describes
//! its client in `_meta`. The specification calls the first *legacy* and the second *modern*. Every connection serves both, by
//! the same functions. A function can look at the [revision](Context::revision). The differences:
//!
//! | | in a session | a modern request |
//! |---|---|---|
//! | [`RemoteClient`] | as in `initialize` | as in the request; the [name](RemoteClient::info) may be missing |
//! | [`Context::log`] | from the level that the client set last | from the level in the request, and only until its answer |
//! | [`Context::elicit`], [`sample`](Context::sample), [`list_roots`](Context::list_roots) | send a request, and wait | end the function; it runs again when the client brings the answer |
//! | [`RemoteClient::call`] | sends a request | fails: such a client takes none |
//! | notifications of changes | after `notifications/initialized`, and `resources/subscribe` | `subscriptions/listen` |
//! | [caching](Server::caching) | is not sent | is sent with lists, resources and discovery |
//! | a cancelled call | its function is polled once more, then dropped | as in a session; over HTTP it is dropped at once |
//!
//! # Asking the client
//!
//! A function can ask the user, the client's model, and for the client's folders, while it works. It is written once:
//!
//! ```
//! use agentwire_mcp_server::{Context, Elicited, Form, NoArguments, ToolError, field};
//!
//! async fn clear(_: NoArguments, cx: Context) -> Result<&'static str, ToolError> {
//!     let form = Form::new("Remove all notes?").required("sure", field::boolean().default_value(false));
//!     match cx.elicit("confirm", form).await? {
//!         Elicited::Accept(answer) if answer["sure"] == true => Ok("removed"),
//!         _ => Ok("kept"),
//!     }
//! }
//! ```
//!
//! ```text
//!  in a session                                    a modern request
//!
//!  tools/call ───────────▶ clear                   tools/call ───────────▶ clear
//!  ◀── elicitation/create  … waits                 ◀── input_required      … is dropped
//!  result ───────────────▶ … goes on               tools/call, answer ───▶ clear, from its beginning
//!  ◀── result              "removed"               ◀── result              "removed"
//! ```
//!
//! Between the rounds the server keeps nothing: the client carries a `requestState`, encrypted and sealed, which holds the
//! answers so far. It is valid for the same request by the same caller, for 15 minutes. [`Server::input`] sets the times,
//! the limits, and the key, which machines that answer in each other's place share. A state that was changed, has expired or
//! belongs to another request is refused. See [`Context::elicit`] and `examples/elicitation.rs`.
//!
//! # Layers
//!
//! Middleware of tower fits around every tool, resource and prompt ([`Server::layer`]) and around a single one
//! ([`ServerTool::layer`]): time-outs, limits, load shedding, authorization. See `examples/layers.rs`.
//!
//! # Tasks
//!
//! A long call can go on as a task, whose client leaves and comes back for the result: by the protocol of 2025-11-25, where
//! the client asks for it, and by the extension of 2026-07-28, where the server decides. The function is the same as
//! for any call. [`Tasks`] defines how to spawn them, where to keep their records, and for how long. A
//! [tool](ServerTool::task) can allow tasks, or require one.
//!
//! ```text
//!  2025-11-25                                     2026-07-28
//!
//!  tools/call, task ─────▶ report                 tools/call ────────────▶ report, as in any call
//!  ◀── task                …                      ◀── task                 … it takes long
//!  tasks/get ────────────▶ … asks                 tasks/get ─────────────▶ … asks
//!  ◀── input_required      …                      ◀── input_required, with the questions
//!  tasks/result ─────────▶ …                      tasks/update, answer ──▶ … goes on
//!  ◀── elicitation/create  …                      tasks/get ─────────────▶ is done
//!  answer ───────────────▶ … goes on              ◀── completed, result
//!  ◀── result              is done
//! ```
//!
//! In both, the function waits at the question: a task does not run again. A task belongs to the caller that
//! [`InputConfig::principal`] names. Without one it belongs to its session, with which it ends, or, since 2026-07-28, to
//! every client that knows its id, which has 192 random bits. For others it does not exist.
//!
//! A task runs in the process that made it. Its record may outlive that, in a [`TaskStore`] of yours, and
//! [`Tasks::recover`] marks what an earlier process left unfinished. The time to live of a task and the number of tasks are
//! bounded. Before the process ends, [`Server::drain_tasks`] lets them end.
//!
//! # Handlers are `Send`
//!
//! A registry holds functions of many types, so they are boxed once, when they are registered, and have to say
//! then whether they may move between threads. They may: functions are `Send + Sync + 'static` and their
//! futures `Send`, so that the future of a connection can be spawned. Nothing here spawns anything; tasks are spawned by
//! the function that [`Tasks`] is given.
//!
//! A function that never waits holds the thread of its connection. [`Context::progress`], [`Context::log`] and the questions
//! make it wait for one poll at least every 200 µs, so that others are served and a cancelled call ends there.
//!
//! # Automatic behaviour
//!
//! - The handshake of the revisions 2024-11-05 to 2025-11-25. A client that asks for another one gets the
//!   newest. [`Downgrade`](schema::Downgrade) leaves out of a message what an older revision does not have; a message
//!   without any form in that revision is an error here.
//! - Discovery for clients of 2026-07-28. A modern request that lacks a required member of `_meta`, or names an unknown
//!   version, gets the error of the protocol for that. Every result names the server.
//! - A request outside of a session that is not modern is answered with an error. No message of a client ends the server.
//! - Arguments of the wrong shape do not reach the function; the error names each wrong and each missing
//!   member. With the feature and the
//!   method `validate` of [`Server`], arguments that the tool's schema forbids do not reach it either, and structured
//!   content that the output schema forbids is not sent.
//! - A cancelled call is dropped at its current await, and not answered. Destructors run.
//! - A function that panics is answered with an internal error; other calls go on.
//! - Lists come in pages, in the order of registration, and clients are notified of changes. A client that reads slowly gets
//!   one notification for several changes of the same kind, so it makes nothing grow.
//! - A connection without a session costs little: it may serve one request, or be one of thousands that are kept open.
//!
//! # What it does not do
//!
//! It opens no socket and knows no concrete transport. Unless it validates, it does not check arguments beyond their
//! type. It does not limit how often a tool reports progress, or how often a client asks for completions. It does not
//! ensure that the state which a client carries from round to round is used only once. It runs calls of tools as tasks,
//! but does not use the tasks of clients of 2025-11-25.
//!
//! # The files
//!
//! They depend on each other in one direction: settings and limits, `scope`, `request` (client, [context](Context), progress
//! and questions), `define` (layers, tools and other definitions, over `decode`), the parts of a `server`, `tasks`, the
//! functions that answer requests (those about tasks in `task_requests`), [`Server`], `dispatch`, connections. Registering a
//! resource, prompt or completion names the functions that answer for it, so that a program without these is linked without
//! their code.
#![cfg_attr(docsrs, feature(doc_cfg))]

// Its facade would bring crates that are not needed here. Tests have that, and so the same paths.
#[cfg(not(test))]
extern crate futures_util as futures;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

// are found by its kind.

mod caching;
mod capability;
mod config;
mod decode;
mod define;
mod dispatch;
mod handler;
mod input;
mod lazy_capabilities;
mod lazy_json;
mod lifecycle;
mod listeners;
mod quota;
mod request;
mod scope;
mod server;
mod settings;
mod task_requests;
mod tasks;
mod tool_call;
mod value_limit;
mod warning;

/// The types of the protocol.
pub use agentwire_mcp_schema as schema;

pub use agentwire_jsonrpc::{ErrorObject, RawJson};
pub use agentwire_peer::layers::{CallLayer, FromFn, FromFnService};
pub use agentwire_peer::observe;
pub use agentwire_peer::{BoxError, Call, CallError, Closed};
pub use agentwire_seal::{KeyTextError, SealingKeys};
pub use agentwire_transport::{MessageSource, Service};
pub use config::Config;
pub use decode::arguments::NoArguments;
pub use define::completion::{IntoCompletion, PartialArgument};
pub use define::function::{Argument, Function, Kind, State, kind};
pub use define::layers::{LayerError, Next, RawCall, RawCallFuture, from_fn};
pub use define::prompt::{IntoPromptResult, ServerPrompt};
pub use define::registered::Registered;
pub use define::resource::{IntoResourceContents, ServerResource};
pub use define::resource_template::ServerResourceTemplate;
pub use define::template::{UriTemplate, UriTemplateError};
pub use define::tool::ServerTool;
pub use define::tool_error::ToolError;
pub use define::tool_result::{IntoToolResult, Structured, StructuredWith};
pub use input::{AskError, Elicitation, Elicited, Form, InputConfig, Page, field};
pub use request::cancelled::Cancelled;
pub use request::context::Context;
pub use request::remote_client::RemoteClient;
pub use request::watch_list::SubscriptionLimits;
pub use server::Server;
pub use tasks::{MemoryTasks, TaskCursor, TaskOwner, TaskRecord, TaskRun, TaskStore, TaskStoreError, Tasks};
pub use warning::ServerWarning;

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
//! A [`Server`] is a set of registries: tools, resources, templates of resources and prompts, each a plain async
//! function with a name. What a user types into a prompt or a template is
//! [completed](ServerPrompt::complete) by such functions too.
//! It can serve any number of connections, over any [`Transport`](agentwire_transport::Transport), and change
//! while it does. What it advertises is what is registered, so it cannot lie.
//!
//! ```text
//!  request ─▶ era ─▶ registry ─▶ arguments, decoded once ─▶ your async fn ─▶ result ─▶ revision of the peer
//!                                                                 │
//!                                              Context: progress, log, elicit, cancelled, client
//! ```
//!
//! # Two eras
//!
//! Up to 2025-11-25 a client begins a session with `initialize`; since 2026-07-28 each request says in its `_meta` who
//! asks, and stands alone. Both are served on any connection, even on the same one, and a function cannot tell which
//! it works for unless it asks for the [revision](Context::revision). What differs:
//!
//! | | in a session | a request that stands alone |
//! |---|---|---|
//! | who asks | what `initialize` said | what the request says; a [name](Client::info) may be missing |
//! | [`Context::log`] | from the level that the client set last | from the level in the request, and only until its answer |
//! | [`Context::elicit`], [`sample`](Context::sample), [`list_roots`](Context::list_roots) | send a request, and wait | end the function; it runs anew when the client brings the answer |
//! | [`Client::call`] | sends a request | fails: such a client takes none |
//! | hearing of changes | from `notifications/initialized` on, and `resources/subscribe` | `subscriptions/listen` |
//! | what may be [kept](Server::caching) | is not said | is said with lists, resources and discovery |
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
//!  in a session                                    a request that stands alone
//!
//!  tools/call ───────────▶ clear                   tools/call ───────────▶ clear
//!  ◀── elicitation/create  … waits                 ◀── input_required      … is dropped
//!  result ───────────────▶ … goes on               tools/call, answer ───▶ clear, from its beginning
//!  ◀── result              "removed"               ◀── result              "removed"
//! ```
//!
//! Between the rounds the server remembers nothing: the client carries a `requestState`, encrypted and sealed, which holds the
//! answers so far and is good for the same request by the same caller, for 15 minutes. [`Server::asking`] sets the times,
//! the bounds, and the key, which machines that answer in each other's place share. What was changed, is too old or
//! belongs to another request is refused. See [`Context::elicit`] and `examples/elicitation.rs`.
//!
//! # Tasks
//!
//! A call that takes long can go on as a task, which its client leaves and comes back to: by the protocol of 2025-11-25,
//! where the client asks for it, and by the extension of 2026-07-28, where the server decides. The function is the same as
//! for any call. A [`Server`] runs tasks by what [`Tasks`] has of its author: how to spawn, where to keep records, for how
//! long. A [tool](ServerTool::task) says whether it can run as one, or can run no other way.
//!
//! ```text
//!  2025-11-25                                     2026-07-28
//!
//!  tools/call, task ─────▶ report                 tools/call ────────────▶ report, as in any call
//!  ◀── task                …                      ◀── task                 … it takes long
//!  tasks/get ────────────▶ … asks                 tasks/get ─────────────▶ … asks
//!  ◀── input_required      …                      ◀── input_required, and what it asks
//!  tasks/result ─────────▶ …                      tasks/update, answer ──▶ … goes on
//!  ◀── elicitation/create  …                      tasks/get ─────────────▶ is done
//!  answer ───────────────▶ … goes on              ◀── completed, result
//!  ◀── result              is done
//! ```
//!
//! What asks waits where it stands, in both: a task does not run anew. A task belongs to the caller whom
//! [`Asking::principal`] finds out; where it finds nobody, to its session, with which it ends, or, since 2026-07-28, to
//! whoever knows its id, of 192 bits by chance. For anybody else it is not there.
//!
//! A task runs in the process that made it. Its record may outlive that, in a [`TaskStore`] of yours, and
//! [`Tasks::recover`] marks what a program that has ended left unfinished. Whatever runs is bounded: by its time to live,
//! and by how many tasks are kept. [`Server::cancel_tasks`] ends them all.
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
//! # What happens without you
//!
//! - The handshake of the revisions 2024-11-05 to 2025-11-25. A client that asks for something else gets the
//!   newest. What an older revision does not have is left out of what is sent, by
//!   [`Downgrade`](schema::Downgrade); what cannot be said to it at all is an error here.
//! - Discovery for clients of 2026-07-28. A request that lacks what it must say, or names a version that is not
//!   spoken, is refused with the error that the protocol has for it. Every result says who answers.
//! - A request that is of neither era is answered with an error. Nothing that a client sends ends the server.
//! - Arguments of the wrong shape do not reach the function; the error names the member that is wrong. Where
//!   that is asked for (feature and method `validate` of [`Server`]), neither does what the tool's schema forbids in any
//!   other way, and structured content that is not what the output schema says is not sent.
//! - A cancelled call is dropped where it waits, and not answered. Destructors run.
//! - A function that panics is answered with an internal error; other calls go on.
//! - Lists come in pages, in the order of registration, and clients hear when they change. What changes again before a
//!   client that listens has taken the news is told once, so a slow one makes nothing grow.
//! - A connection costs little until something begins on it: it is made for one request, or kept open by thousands.
//!
//! # What it does not do
//!
//! It opens no socket and knows no concrete transport. Unless it is told to validate, it does not check arguments
//! against a schema beyond what decoding them does. It does not limit how often a tool reports progress, or how often a
//! client asks for completions. It does not make sure that what a client carries from round to round is used only once.
//! It runs calls of tools as tasks, and makes no tasks of what it asks its clients, which those of 2025-11-25 could run.

// Its facade would bring crates that are not needed here. Tests have that, and so the same paths.
#[cfg(not(test))]
extern crate futures_util as futures;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod arguments;
mod ask;
mod caching;
mod cancelled;
mod checks;
mod client;
mod completion;
mod config;
mod context;
mod dispatch;
mod era;
mod handler;
mod kind;
mod listeners;
mod params;
mod prompt;
mod quota;
mod registry;
mod resource;
mod resource_template;
mod scope;
mod server;
mod subscription;
mod tasks;
mod template;
mod tool;
mod tool_error;
mod tool_result;
mod undecoded;
#[cfg(feature = "validate")]
mod validation;
mod value_limit;
mod watch_list;
mod words;
mod yield_timer;

/// The words of the protocol.
pub use agentwire_mcp_schema as schema;

pub use agentwire_jsonrpc::ErrorObject;
pub use agentwire_peer::observe;
pub use agentwire_peer::{Call, CallError, Closed};
pub use agentwire_transport::{MessageSource, Service};
pub use arguments::NoArguments;
pub use ask::{AskError, Asking, Elicitation, Elicited, Form, Page, field};
pub use cancelled::Cancelled;
pub use client::Client;
pub use completion::{IntoCompletion, PartialArgument};
pub use config::Config;
pub use context::Context;
pub use prompt::{IntoPromptResult, ServerPrompt};
pub use resource::{IntoResourceContents, ServerResource};
pub use resource_template::ServerResourceTemplate;
pub use server::Server;
pub use tasks::{MemoryTasks, TaskOwner, TaskPlace, TaskRecord, TaskStore, TaskStoreError, Tasks};
pub use template::{UriTemplate, UriTemplateError};
pub use tool::ServerTool;
pub use tool_error::ToolError;
pub use tool_result::{IntoToolResult, Structured};
pub use watch_list::SubscriptionLimits;

//! OpenTelemetry for MCP and ACP: spans, metrics and trace context, by the semantic conventions.
//!
//! `agentwire_otel` here is `agentwire::otel` in the crate `agentwire`, with its feature `otel`.
//!
//! A [`Telemetry`] has the instruments of a program. It makes a [`ProtocolObserver`] for each kind of connection, which the
//! configuration of a client or server takes as its [`Observer`](agentwire_peer::observe::Observer):
//!
//! ```text
//!  request of ours ──▶ span CLIENT ──▶ `_meta`: traceparent, tracestate, baggage ──▶ the other side
//!  request of theirs, with `_meta` ──▶ span SERVER, whose parent is theirs ──▶ the handler runs within it
//! ```
//!
//! It needs the API of OpenTelemetry alone. A program chooses the SDK, its exporters and its samplers. Without an SDK, spans and
//! metrics go nowhere and cost little.
//!
//! ```
//! use std::sync::Arc;
//!
//! use agentwire_otel::{Config, Network, Telemetry};
//! use agentwire_peer::Dialect;
//!
//! let telemetry = Telemetry::global(Config::new());
//! let observer = telemetry.mcp_server().network(Network::pipe());
//! let config = agentwire_peer::Config::new(Dialect::MCP).observer(Arc::new(observer));
//! # let _ = config;
//! ```
//!
//! # Spans
//!
//! Each request is a span: `CLIENT` for the side that makes it, `SERVER` for the side that answers. So a server's request to its
//! client has a `CLIENT` span at the server. The name is the method, and behind it the tool or prompt that the request names.
//!
//! The parent of a `CLIENT` span is the current context of the code that awaits the call. Without a current span it is the one
//! that the params' `_meta` names already. The parent of a `SERVER` span is the one that `_meta` names. The span that is current
//! where the request arrives, such as that of the HTTP request, becomes a link. Without a parent in `_meta` it is the parent.
//!
//! A caller that names a parent also decides whether its requests are sampled, by the flag of `traceparent`. A server for callers
//! that are not known sets [`ProtocolObserver::trust_callers`] to `false`. Then what the caller names is a link.
//!
//! | attribute | where |
//! |---|---|
//! | `mcp.method.name`, for ACP `acp.method.name` | spans, metrics |
//! | `error.type` | spans, metrics; see [below](#errors) |
//! | `rpc.response.status_code` | spans, metrics: the code of a JSON-RPC error |
//! | `jsonrpc.request.id` | spans |
//! | `gen_ai.tool.name` or `gen_ai.prompt.name` | spans, metrics |
//! | `gen_ai.operation.name`: `execute_tool` | spans, metrics of `tools/call` |
//! | `gen_ai.tool.call.arguments`, `gen_ai.tool.call.result` | spans, after [`Config::content`] |
//! | `mcp.resource.uri` | spans; without user info, query, fragment, and the content of `data:` |
//! | `mcp.protocol.version`, for ACP `acp.protocol.version` | spans, metrics |
//! | `mcp.session.id` | spans of a server behind HTTP, see [`Config::session_ids`] |
//! | `acp.session.id` | spans |
//! | `network.transport`, `network.protocol.name`, `network.protocol.version`, `server.address`, `server.port` | spans, metrics; from [`Network`] |
//!
//! OpenTelemetry has no conventions for ACP. The names that begin with `acp.` follow those of MCP.
//!
//! # Errors
//!
//! `error.type` is the code of a JSON-RPC error, `tool_error` for a tool's result with `isError`, or one of `malformed`,
//! `cancelled`, `timeout`, `transport`, `closed` and `not_sent`. A span with an `error.type` has the status *error*, and the error's
//! message as description. A request whose URI is not shown whole has no description, because the message may have the URI. On a
//! `SERVER` span the codes for mistakes of the caller (-32700, -32600, -32601, -32602 and -32002) are no errors.
//!
//! # Metrics
//!
//! | name | kind, unit | |
//! |---|---|---|
//! | `mcp.client.operation.duration`, `mcp.server.operation.duration` | histogram, s | a request, from its start to its end |
//! | `mcp.client.session.duration`, `mcp.server.session.duration` | histogram, s | a connection |
//! | `acp.client.operation.duration`, `acp.server.operation.duration` | histogram, s | as above; the agent is the server |
//! | `acp.client.connection.duration`, `acp.server.connection.duration` | histogram, s | a connection, which may have several of ACP's sessions |
//! | `agentwire.calls.active` | up-down counter, `{call}` | unanswered requests, by `agentwire.protocol` and `agentwire.direction` |
//! | `agentwire.connections.active` | up-down counter, `{connection}` | open connections, by `agentwire.protocol` and `agentwire.role` |
//! | `agentwire.send_queue.size` | up-down counter, By | bytes that wait to be sent, on all connections |
//! | `agentwire.io` | counter, By | bytes of frames, by `agentwire.protocol` and `agentwire.direction` |
//! | `agentwire.malformed_messages` | counter, `{message}` | messages that could not be read |
//! | `agentwire.sessions.active`, `agentwire.streams.active`, `agentwire.exchanges.active` | gauge | from [`Telemetry::watch`], by `agentwire.component` |
//! | `agentwire.ready` | gauge | from [`Telemetry::watch`], by `agentwire.component`: 1 where all its parts take requests, else 0 |
//! | `agentwire.child.restarts` | counter, `{restart}` | from [`Telemetry::watch`] |
//!
//! The boundaries of the histograms are [`DURATION_BOUNDARIES`].
//!
//! # What a peer can make grow
//!
//! Text of a peer becomes an attribute only with a bound. A method that the protocol does not have is [`OTHER`], and so is an
//! error code outside of JSON-RPC's reserved range. Names of tools and prompts become an attribute of a metric once a call of them
//! has had a result, and only the first [`NAME_LIMIT`] of them. Text is cut after [`TEXT_LIMIT`] bytes, and control characters
//! are escaped. `traceparent`, `tracestate` and `baggage` are parsed, and dropped where they break the rules of W3C.
//!
//! # What it does not do
//!
//! It starts no exporter and no thread, and sets no global. It does not report notifications as spans. It does not see
//! the headers of HTTP responses, so a client's spans have no `mcp.session.id`.

mod attributes;
mod call;
mod config;
mod connection;
mod inner;
mod instruments;
mod observer;
mod propagation;
mod protocol;
mod telemetry;
mod watch;

pub use attributes::names::NAME_LIMIT;
pub use attributes::network::Network;
pub use attributes::text::{CONTENT_LIMIT, OTHER, TEXT_LIMIT};
pub use call::outgoing::ExecuteToolSpan;
pub use config::Config;
pub use instruments::DURATION_BOUNDARIES;
pub use observer::ProtocolObserver;
pub use telemetry::{SEMCONV_VERSION, Telemetry};
pub use watch::{Counts, Stats};

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

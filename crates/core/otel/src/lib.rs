//! OpenTelemetry for MCP and ACP: spans, metrics and trace context, by the semantic conventions.
//!
//! `agentwire_otel` here is `agentwire::otel` in the crate `agentwire`, with its feature `otel`.
//!
//! A [`Telemetry`] has the instruments of a program. It makes a [`ProtocolObserver`] for each kind of connection. The configuration
//! of a client or server takes that as its [`Observer`](agentwire_peer::observe::Observer):
//!
//! ```text
//!  request to the peer ──▶ span CLIENT ──▶ `_meta`: traceparent, tracestate, baggage ──▶ the peer
//!  request from the peer, with `_meta` ──▶ span SERVER, a child of the peer's span ──▶ the handler runs within it
//! ```
//!
//! It needs only the API of OpenTelemetry. A program chooses the SDK, its exporters and its samplers. Without an SDK, spans and
//! metrics are dropped and cost little.
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
//! client has a `CLIENT` span at the server. The name of the span is the method, followed by the name of the tool or prompt.
//!
//! The parent of a `CLIENT` span is the current span of the code that awaits the call. Without a current span it is the span in the
//! params' `_meta`, if there is one. The parent of a `SERVER` span is the span in `_meta`. The span that is current when the request
//! arrives, such as that of the HTTP request, becomes a link. Without a span in `_meta`, the current span is the parent.
//!
//! A caller that sets the parent also decides whether its requests are sampled, by the sampled flag of `traceparent`. A server with
//! unknown callers sets [`ProtocolObserver::trust_callers`] to `false`. The caller's span is then a link.
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
//! message as description. If a part of the request's URI is left out, the description is too, because the message may contain the
//! URI. On a `SERVER` span the codes for mistakes of the caller (-32700, -32600, -32601, -32602 and -32002) are not errors.
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
//! | `agentwire.ready` | gauge | from [`Telemetry::watch`], by `agentwire.component`: 1 if all its parts accept requests, else 0 |
//! | `agentwire.child.restarts` | counter, `{restart}` | from [`Telemetry::watch`] |
//!
//! The boundaries of the histograms are [`DURATION_BOUNDARIES`].
//!
//! # Limits on a peer's text
//!
//! An unknown method is shown as [`OTHER`], and so is an error code outside of JSON-RPC's reserved range. The name of a tool or
//! prompt becomes an attribute of metrics after a call of it had a result, and only the first [`NAME_LIMIT`] names do. Text is cut
//! after [`TEXT_LIMIT`] bytes, and control characters are escaped. `traceparent`, `tracestate` and `baggage` are parsed, and dropped
//! if they break W3C's rules.
//!
//! # What it does not do
//!
//! It starts no exporter and no thread, and sets no global. It does not report notifications as spans. It cannot read the headers
//! of HTTP responses, so a client's spans have no `mcp.session.id`.

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

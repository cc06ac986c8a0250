//! ACP and MCP for Rust, under one name: agents, editors, tool servers and hosts.
//!
//! This crate holds no code. Each feature adds a module, which re-exports a crate with its own documentation:
//!
//! | you write | features | modules |
//! |---|---|---|
//! | an MCP server | `mcp-server`, `stdio` or `http-server` | `mcp::server`, `stdio`, `http` |
//! | a host of one MCP server | `mcp-client`, `stdio` or `http-client` | `mcp::client`, `stdio`, `http` |
//! | a host of several | `mcp-hub` | `mcp::hub` |
//! | a client or a server with OAuth | `mcp-auth` beside the above | `mcp::auth` |
//! | an agent | `acp-sessions`, `stdio` | `acp::sessions`, `stdio` |
//! | an agent that implements sessions itself | `acp-agent`, `stdio` | `acp::agent`, `stdio` |
//! | an editor, or another client of agents | `acp-toolkit`, `stdio` | `acp::toolkit`, `acp::client`, `stdio` |
//! | a client that installs agents by name | `agent-registry` beside the above | `acp::registry` |
//! | a proxy between an agent and an editor | `acp-proxy` | `acp::proxy` |
//! | any server on several nodes | `mcp-redis` beside the above | `mcp::redis`, `store` |
//! | any of these, with OpenTelemetry | `otel` beside the above | `otel` |
//!
//! No feature is on by default. A feature turns on those that it needs: `acp-v2` the runtimes of ACP, `validate` those of MCP,
//! `acp-sessions` the agent and the hub that it uses. `full` is all features but `mcp-auth-keyring`, `mcp-redis` and `reqwest`.
//! [`jsonrpc`], [`peer`] (errors and calls of both runtimes) and [`transport`] need no feature.
//!
//! The derive macro of [`schemars`] finds its crate by name: a module that has `use agentwire::schemars;` needs no dependency
//! on it. The derives of serde need `serde` among your own dependencies.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(docsrs, doc = "", doc = include_str!("../README.md"))]

/// The Agent Client Protocol: between an editor and an agent.
#[cfg(feature = "acp-schema")]
pub mod acp {
    #[cfg(feature = "acp-agent")]
    #[doc(inline)]
    pub use agentwire_acp_agent as agent;
    #[cfg(feature = "acp-client")]
    #[doc(inline)]
    pub use agentwire_acp_client as client;
    #[cfg(feature = "acp-proxy")]
    #[doc(inline)]
    pub use agentwire_acp_proxy as proxy;
    #[doc(inline)]
    pub use agentwire_acp_schema as schema;
    #[cfg(feature = "acp-sessions")]
    #[doc(inline)]
    pub use agentwire_acp_sessions as sessions;
    #[cfg(feature = "acp-toolkit")]
    #[doc(inline)]
    pub use agentwire_acp_toolkit as toolkit;
    #[cfg(feature = "agent-registry")]
    #[doc(inline)]
    pub use agentwire_agent_registry as registry;
}

/// The Model Context Protocol: between an agent and its tools.
#[cfg(feature = "mcp-schema")]
pub mod mcp {
    #[cfg(feature = "mcp-auth")]
    #[doc(inline)]
    pub use agentwire_mcp_auth as auth;
    #[cfg(feature = "mcp-client")]
    #[doc(inline)]
    pub use agentwire_mcp_client as client;
    #[cfg(feature = "mcp-hub")]
    #[doc(inline)]
    pub use agentwire_mcp_hub as hub;
    #[cfg(feature = "mcp-redis")]
    #[doc(inline)]
    pub use agentwire_mcp_redis as redis;
    #[doc(inline)]
    pub use agentwire_mcp_schema as schema;
    #[cfg(feature = "mcp-server")]
    #[doc(inline)]
    pub use agentwire_mcp_server as server;
}

#[doc(inline)]
pub use agentwire_jsonrpc as jsonrpc;
#[cfg(feature = "otel")]
#[doc(inline)]
pub use agentwire_otel as otel;
#[doc(inline)]
pub use agentwire_peer as peer;
#[cfg(feature = "store")]
#[doc(inline)]
pub use agentwire_store as store;
#[doc(inline)]
pub use agentwire_transport as transport;
#[cfg(any(feature = "http-client", feature = "http-server"))]
#[doc(inline)]
pub use agentwire_transport_http as http;
#[cfg(feature = "sse")]
#[doc(inline)]
pub use agentwire_transport_sse as sse;
#[cfg(feature = "stdio")]
#[doc(inline)]
pub use agentwire_transport_stdio as stdio;
#[doc(no_inline)]
pub use {schemars, serde_json};

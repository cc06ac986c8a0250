//! One module for each place where a peer's bytes cost time or memory. A test names the input, what it costs, and the
//! most that it may cost; it fails when the cost grows.

#![cfg(unix)]

mod batches;
mod bodies;
mod conversation;
mod events;
mod frames;
mod http;
mod http_clients;
mod kept_as_text;
mod mcp_client;
mod mcp_server;
mod permissions;
mod settled;
mod trees;
mod unread;

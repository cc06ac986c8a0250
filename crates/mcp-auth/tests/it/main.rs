//! Tests of `agentwire-mcp-auth` from outside.

mod server;

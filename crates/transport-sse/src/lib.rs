//! MCP's HTTP+SSE transport of 2024-11-05.

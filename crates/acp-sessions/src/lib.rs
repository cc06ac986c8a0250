//! An ACP agent of which you write only the turn: sessions that are kept, replayed and listed, with their MCP servers.

//! A tool whose answer comes after its stream was closed, so that the client has to come back for it.

use std::time::Duration;

use agentwire_mcp_server::{Context, NoArguments, Server};

/// How long a stream of 2025-11-25 stays open.
pub(crate) const STREAM_TIME: Duration = Duration::from_secs(1);

/// How long a client should wait before it comes back.
pub(crate) const RETRY: Duration = Duration::from_millis(500);

pub(crate) fn offer(server: Server) -> Server {
    server.tool("test_reconnection", "Takes longer than its stream stays open", outlast)
}

async fn outlast(_: NoArguments, _: Context) -> &'static str {
    tokio::time::sleep(STREAM_TIME + RETRY / 2).await;
    "Reconnection test completed successfully"
}

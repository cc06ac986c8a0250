//! Reaches an agent at a URL: over HTTP, or over WebSocket for `ws` and `wss`.

mod http;
mod websocket;

use agentwire_transport::{Duplex, duplex};

/// How many messages wait in each direction.
const CAPACITY: usize = 64;

/// Whether a target is a URL, and no command line.
pub(crate) fn is_url(target: &str) -> bool {
    is_websocket(target) || ["http://", "https://"].iter().any(|scheme| target.starts_with(scheme))
}

fn is_websocket(target: &str) -> bool {
    ["ws://", "wss://"].iter().any(|scheme| target.starts_with(scheme))
}

/// A transport to the agent at a URL. A task carries the messages until either side ends.
pub(crate) fn connect(url: &str) -> Duplex {
    let (ours, theirs) = duplex(CAPACITY);
    let url = url.to_owned();
    tokio::spawn(async move {
        let ended = if is_websocket(&url) {
            websocket::carry(&url, theirs).await
        } else {
            http::carry(&url, theirs).await
        };
        if let Err(error) = ended {
            eprintln!("the connection to {url} has failed: {error:#}");
        }
    });
    ours
}

//! The pauses between listings of the tools of a server that keeps reporting changes.

use std::time::Duration;

use agentwire_mcp_hub::Hub;

use crate::local_server::LocalServer;

/// A server that reports a change whenever it is asked for its tools.
#[tokio::test(start_paused = true)]
async fn tools_of_a_server_that_keeps_reporting_changes_are_listed_with_growing_pauses() {
    let local = LocalServer::default();
    local.set_restless(5000);
    let (hub, driver) = Hub::new([local.config("restless")]);
    let main = async {
        hub.ready().await;
        tokio::time::sleep(Duration::from_secs(600)).await;
        // At once, then after 1, 2, 4, 8, 16 and each time 30 s.
        let listings = local.listings();
        assert!((10..=30).contains(&listings), "{listings}");
        hub.close().await;
    };
    tokio::join!(main, driver);
}

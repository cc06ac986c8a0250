//! How often the tools of a server are listed that goes on telling of changes.

use std::time::Duration;

use agentwire_mcp_hub::Hub;

use crate::played::Played;

/// A server that reports a change whenever it is asked for its tools.
#[tokio::test(start_paused = true)]
async fn a_server_that_tells_of_changes_without_pause_is_not_listed_without_pause() {
    let played = Played::default();
    played.set_restless(5000);
    let (hub, driver) = Hub::new([played.config("restless")]);
    let main = async {
        hub.ready().await;
        tokio::time::sleep(Duration::from_secs(600)).await;
        // At once, then after 1, 2, 4, 8, 16 and each time 30 s.
        let listings = played.listings();
        assert!((10..=30).contains(&listings), "{listings}");
        hub.close().await;
    };
    tokio::join!(main, driver);
}

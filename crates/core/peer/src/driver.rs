//! Creates a driver together with the `Peer` handle of its connection. Dropping the driver closes the connection.

use std::sync::Arc;

use agentwire_connection::Connection;

use crate::clock::Clock;
use crate::config::Config;
use crate::peer::Peer;
use crate::peer_inner::PeerInner;

/// Runs a connection: reads, writes, calls the handler, keeps deadlines.
///
/// [`serve`](Self::serve) and [`run`](Self::run) turn it into one future. Nothing is spawned, so dropping the future ends the
/// connection and its handlers.
#[derive(Debug)]
pub struct Driver {
    pub(crate) shared: Arc<PeerInner>,
    pub(crate) config: Config,
}

/// Makes a driver, and a handle on the peer of its connection.
pub fn driver(config: Config, clock: impl Clock + 'static) -> (Peer, Driver) {
    let connection = Connection::new(config.connection.clone());
    let observer = config.observer.clone();
    let shared = Arc::new(PeerInner::new(connection, Box::new(clock), config.value_limit, observer));
    (Peer::new(shared.clone()), Driver { shared, config })
}

/// Closes the connection for all handles, also when the driver is dropped half-way or never runs.
impl Drop for Driver {
    fn drop(&mut self) {
        self.shared.close();
    }
}

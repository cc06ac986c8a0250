//! The state that an endpoint's handles and response futures share: resources, sessions, service, and the channel of new
//! connections.

use std::fmt;
use std::sync::Arc;

use futures_channel::mpsc::UnboundedSender;

use crate::server::resources::Resources;
use crate::server::service::SharedService;
use crate::server::sessions::Sessions;
use crate::server::{Connection, EndpointConfig};

/// The shared part of an endpoint: its responses use it, and so do its handles.
pub(crate) struct EndpointCore {
    pub(crate) resources: Arc<Resources>,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) service: SharedService,
    /// The connections of new sessions, to the task that serves them.
    connections: UnboundedSender<Connection>,
}

impl EndpointCore {
    pub(crate) fn new(
        config: EndpointConfig,
        service: SharedService,
        connections: UnboundedSender<Connection>,
    ) -> Self {
        let resources = Arc::new(Resources::new(config));
        let sessions = Arc::new(Sessions::new(resources.clone()));
        Self { resources, sessions, service, connections }
    }

    /// Gives a connection to the task that serves them. False if there is none; the connection has ended then.
    pub(crate) fn offer(&self, connection: Connection) -> bool {
        self.connections.unbounded_send(connection).is_ok()
    }

    /// Refuses new requests, ends the input of every connection, and wakes what should end soon.
    pub(crate) fn begin_shutdown(&self) {
        self.resources.set_closing();
        self.sessions.close();
        self.resources.clock.begin_shutdown();
        self.connections.close_channel();
    }

    /// Counts a tick. Returns whether time matters to anything.
    pub(crate) fn tick(&self) -> bool {
        let Resources { config, ticks, clock, .. } = &*self.resources;
        let now = clock.tick(config, ticks);
        self.sessions.tick(now) || !clock.is_empty()
    }

    /// Stops the clock unless time matters to something. Returns whether it has stopped.
    pub(crate) fn stop_clock(&self) -> bool {
        self.resources.clock.stop_unless(|| !self.sessions.is_empty())
    }
}

impl fmt::Debug for EndpointCore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EndpointCore")
            .field("resources", &self.resources)
            .field("sessions", &self.sessions)
            .finish_non_exhaustive()
    }
}

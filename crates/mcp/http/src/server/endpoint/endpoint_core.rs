//! The state that an endpoint's handles and response futures share: resources, sessions, service, and the channel of new
//! connections.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use futures_channel::mpsc::UnboundedSender;

use crate::server::endpoint::drain::cut_error;
use crate::server::endpoint::resources::Resources;
use crate::server::endpoint::service::SharedService;
use crate::server::response::refusal::Refusal;
use crate::server::session::sessions::Sessions;
use crate::server::{Connection, EndpointConfig};

/// How many sessions may be opened before a task serves sessions. Their connections wait for it, even when they have ended.
const MAX_UNSERVED: usize = 64;

/// The shared part of an endpoint: its responses use it, and so do its handles.
pub(crate) struct EndpointCore {
    pub(crate) resources: Arc<Resources>,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) service: SharedService,
    /// The connections of new sessions, to the task that serves them.
    connections: UnboundedSender<Connection>,
    /// Whether the task that serves them has been polled.
    has_run: AtomicBool,
    /// How many sessions were opened before that.
    unserved: AtomicUsize,
}

impl EndpointCore {
    pub(crate) fn new(
        config: EndpointConfig,
        service: SharedService,
        connections: UnboundedSender<Connection>,
        jobs: UnboundedSender<BoxFuture<'static, ()>>,
    ) -> Self {
        let resources = Arc::new(Resources::new(config, jobs));
        let sessions = Arc::new(Sessions::new(resources.clone()));
        Self {
            resources,
            sessions,
            service,
            connections,
            has_run: AtomicBool::new(false),
            unserved: AtomicUsize::new(0),
        }
    }

    /// Gives a connection to the task that serves them. Returns false if that task has ended; the connection is dropped then.
    pub(crate) fn offer(&self, connection: Connection) -> bool {
        self.connections.unbounded_send(connection).is_ok()
    }

    /// Counts a session that is opened before a task serves sessions. Returns whether such a task may still begin: false if it
    /// was dropped, and once [`MAX_UNSERVED`] sessions were opened without it.
    pub(crate) fn expects_run(&self) -> bool {
        !self.connections.is_closed() && self.unserved.fetch_add(1, Ordering::Relaxed) < MAX_UNSERVED
    }

    /// The refusal of a request whose session no task serves: the endpoint has ended, or its task was not spawned.
    pub(crate) fn unserved_refusal(&self) -> Refusal {
        if self.resources.is_closing() { Refusal::closing() } else { Refusal::not_running() }
    }

    /// Notes that the task that serves connections runs.
    pub(crate) fn set_running(&self) {
        if !self.has_run.load(Ordering::Relaxed) {
            self.has_run.store(true, Ordering::Relaxed);
        }
    }

    /// Whether a task has begun to serve connections, and has not been dropped.
    pub(crate) fn is_running(&self) -> bool {
        self.has_run.load(Ordering::Relaxed) && !self.connections.is_closed()
    }

    /// The future that serves a session.
    pub(crate) fn task(&self, connection: Connection) -> impl Future<Output = ()> + Send + use<> {
        self.service.task(connection, self.resources.add_session_task())
    }

    /// Refuses new requests, ends the input of each session when its requests are answered, and wakes the exchanges that
    /// should end soon.
    pub(crate) fn begin_drain(&self) {
        self.resources.drain.close();
        self.sessions.drain();
        self.resources.clock.begin_shutdown();
    }

    /// Waits until all work has ended, for up to `grace`, and cuts the rest. After it, nothing is served.
    pub(crate) async fn finish(&self, grace: Duration) {
        let Resources { drain, clock, .. } = &*self.resources;
        let is_idle = || self.sessions.is_empty() && self.resources.is_idle();
        let cut = || {
            self.sessions.cut(&cut_error());
            clock.begin_shutdown();
        };
        drain.finish(grace, is_idle, cut).await;
        self.end();
    }

    /// Refuses new requests, and ends the input of every session at once.
    pub(crate) fn end(&self) {
        self.resources.drain.close();
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

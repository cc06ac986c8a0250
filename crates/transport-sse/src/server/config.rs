use std::time::Duration;

use agentwire_transport_http::server::Guard;

/// How an endpoint behaves. Each limit has a default that suits a server on the loopback interface.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    pub(crate) guard: Guard,
    pub(crate) messages: Option<String>,
    pub(crate) body_limit: usize,
    pub(crate) body_timeout: Duration,
    pub(crate) request_budget: usize,
    pub(crate) caller_request_budget: usize,
    pub(crate) session_limit: usize,
    pub(crate) caller_session_limit: Option<usize>,
    pub(crate) inbox_limit: usize,
    pub(crate) high_water: usize,
    pub(crate) keep_alive: Duration,
    pub(crate) opening_timeout: Duration,
    pub(crate) stall: Duration,
}

impl Config {
    /// The defaults: only for clients on the same machine.
    pub fn new() -> Self {
        Self {
            guard: Guard::new(),
            messages: None,
            body_limit: 4 << 20,
            body_timeout: Duration::from_secs(30),
            request_budget: 64 << 20,
            caller_request_budget: 24 << 20,
            session_limit: 1000,
            caller_session_limit: None,
            inbox_limit: 64,
            high_water: 64 << 10,
            keep_alive: Duration::from_secs(15),
            opening_timeout: Duration::from_secs(60),
            stall: Duration::from_secs(30),
        }
    }

    /// Where clients are told to send their messages, as they see it: a path such as `/prefix/messages`, or any other
    /// reference to a URI, to which the query `?sessionId=…` is added.
    ///
    /// By default it is the `messages` beside what the GET asked for: `/a/messages` for `/a/sse`. That fits wherever
    /// the endpoint sees the path that the client sees; where something in front cuts a prefix off, such as a nested
    /// router, say the whole path here.
    #[must_use]
    pub fn messages(mut self, path: impl Into<String>) -> Self {
        self.messages = Some(path.into());
        self
    }

    /// Which names of this server the `Host` header may have, with their port where that is not the default one,
    /// such as `example.com` or `192.0.2.1:8080` (default: the names of the loopback interface with any port).
    /// Anything else gets 403, on GET and on POST.
    #[must_use]
    pub fn hosts<S: Into<String>>(mut self, hosts: impl IntoIterator<Item = S>) -> Self {
        self.guard = self.guard.hosts(hosts);
        self
    }

    /// Does not look at the `Host` header. Right where something in front of the endpoint does.
    #[must_use]
    pub fn any_host(mut self) -> Self {
        self.guard = self.guard.any_host();
        self
    }

    /// Which web pages may call: values of the `Origin` header, such as `https://app.example.com` (default: pages
    /// of the loopback interface). Any other origin, `null` included, gets 403, on GET and on POST; a request
    /// without one, as programs make it, is taken.
    #[must_use]
    pub fn origins<S: Into<String>>(mut self, origins: impl IntoIterator<Item = S>) -> Self {
        self.guard = self.guard.origins(origins);
        self
    }

    /// Takes calls from any web page. Only right where every call is authenticated in a way that a browser does
    /// not do by itself.
    #[must_use]
    pub fn any_origin(mut self) -> Self {
        self.guard = self.guard.any_origin();
        self
    }

    /// How many bytes a message of a client may have (default 4 MiB). A longer one gets 413.
    #[must_use]
    pub fn body_limit(mut self, bytes: usize) -> Self {
        self.body_limit = bytes;
        self
    }

    /// How long a message of a client may take to arrive (default 30 s). A slower one gets 408.
    #[must_use]
    pub fn body_timeout(mut self, timeout: Duration) -> Self {
        self.body_timeout = timeout;
        self
    }

    /// How many bytes of memory all messages may take that are being read or worked on, together with the events that have
    /// not been written to their clients (default 64 MiB). One message more gets 503. Of events the last one may be beyond
    /// the limit; with the next the session ends. A message counts as 8 KiB if it is shorter. This and the limit below are never lower than what one
    /// message of [`body_limit`](Self::body_limit) needs.
    #[must_use]
    pub fn request_budget(mut self, bytes: usize) -> Self {
        self.request_budget = bytes;
        self
    }

    /// How many bytes of the [`request_budget`](Self::request_budget) the messages of one
    /// [`Caller`](agentwire_transport_http::server::Caller), and what it has not read, may take (default 24 MiB). One
    /// more gets 503.
    #[must_use]
    pub fn caller_request_budget(mut self, bytes: usize) -> Self {
        self.caller_request_budget = bytes;
        self
    }

    /// How many sessions one [`Caller`](agentwire_transport_http::server::Caller) may have open (default 250, and at
    /// most three quarters of [`session_limit`](Self::session_limit)). One more ends the oldest of the caller whose
    /// client has not sent a message, or gets 503 where there is none. Behind a proxy, where all clients have one
    /// address, this should be as high as the limit for all.
    #[must_use]
    pub fn caller_session_limit(mut self, sessions: usize) -> Self {
        self.caller_session_limit = Some(sessions);
        self
    }

    /// How many sessions may be open (default 1000). One more gets 503, unless its caller has one that is not used.
    #[must_use]
    pub fn session_limit(mut self, sessions: usize) -> Self {
        self.session_limit = sessions;
        self
    }

    /// How many messages of one session may wait to be taken from its link (default 64). While there are as
    /// many, further POSTs wait.
    #[must_use]
    pub fn inbox_limit(mut self, messages: usize) -> Self {
        self.inbox_limit = messages.max(1);
        self
    }

    /// How many bytes of a stream may wait to be read by the client before the link takes nothing more (default
    /// 64 KiB).
    #[must_use]
    pub fn high_water(mut self, bytes: usize) -> Self {
        self.high_water = bytes.max(1);
        self
    }

    /// How long a stream may be silent before a comment is sent on it (default 15 s), so that nothing on the way
    /// takes it for dead, and so that a client that is gone is noticed.
    #[must_use]
    pub fn keep_alive(mut self, interval: Duration) -> Self {
        self.keep_alive = interval;
        self
    }

    /// How long a client may take from opening its stream to its first message (default 60 s). Then the stream is
    /// closed. After that a session lasts for as long as its stream, however little is said.
    #[must_use]
    pub fn opening_timeout(mut self, timeout: Duration) -> Self {
        self.opening_timeout = timeout;
        self
    }

    /// How long a client may leave a full stream unread while more is to be sent before its session is ended
    /// (default 30 s).
    #[must_use]
    pub fn stall(mut self, stall: Duration) -> Self {
        self.stall = stall;
        self
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::new()
    }
}

//! The settings of a Streamable HTTP endpoint, with the default of each limit.

use std::sync::Arc;
use std::time::Duration;

use agentwire_mcp_wire::Era;
use agentwire_store::MemoryEventStore;
use agentwire_wire_derive::Build;

use crate::server::Principal;
use crate::server::admission::bearer::BearerCheck;
use crate::server::admission::guard::{Accepts, Guard};
use crate::server::admission::quota::Quota;
use crate::server::admission::record_limits::RecordLimits;
use crate::server::endpoint_store::EndpointStore;
use crate::server::nodes::sealed::sealed_sessions::SealedSessions;
use crate::server::warning::Warnings;

/// The settings of an endpoint. Each limit has a default that suits a server on the loopback interface.
///
/// ```
/// use std::time::Duration;
///
/// use agentwire_transport_http::server::EndpointConfig;
///
/// // A server that others reach as mcp.example, and that pages of app.example call.
/// let config = EndpointConfig::new()
///     .hosts(["mcp.example"])
///     .origins(["https://app.example"])
///     .session_limit(1000)
///     .idle(Duration::from_secs(600));
/// ```
#[derive(Clone, Debug, Build)]
#[non_exhaustive]
pub struct EndpointConfig {
    /// Sets the era of the clients that are served (default [`Era::Auto`]: all). Those of [`Era::Legacy`] open sessions
    /// in a revision from 2025-03-26 to 2025-11-25. Those of [`Era::Modern`] send requests of 2026-07-28, each without a
    /// session.
    pub(crate) era: Era,
    /// How requests in a session are answered (default: [`AnswerForm::Events`]). `tasks/get` is always answered as
    /// [`AnswerForm::Json`]: a client that polls can repeat the request.
    pub(crate) legacy_answer: AnswerForm,
    /// How requests without a session are answered (default: [`AnswerForm::Json`]). Errors are always JSON
    /// there, because the status of the response shows the error.
    pub(crate) modern_answer: AnswerForm,
    pub(crate) guard: Guard,
    pub(crate) bearer: Option<BearerCheck>,
    pub(crate) limits: Limits,
    /// How many messages a batch may have (default 1024).
    pub(crate) batch_limit: usize,
    /// How many bytes of the [`request_budget`](Self::request_budget) incomplete bodies may take whose requests belong to no
    /// session (default 16 MiB). One caller has half of that. Beyond it a body gets 503. A body that arrives in one piece with
    /// the head of its request does not count.
    pub(crate) sessionless_body_budget: usize,
    /// How many requests without a session may be unanswered (default 10,000). One more gets 503.
    pub(crate) exchange_limit: usize,
    /// How many requests of one session may be unanswered, and how many GET streams it may have open (default 256
    /// each). One more gets 429.
    pub(crate) stream_limit: usize,
    /// How many bytes a session queues for [full streams](Self::high_water), beyond their room, while other requests of it are
    /// unanswered (default 1 MiB). At this limit the whole session waits, until
    /// [`slow_reader_timeout`](Self::slow_reader_timeout) cuts a stream whose client does not read. A message that is longer
    /// than [`high_water`](Self::high_water) counts as `high_water` bytes.
    pub(crate) session_high_water: usize,
    /// How long a session may be without an unanswered request, without an open stream and without anything from its
    /// client before it ends (default 30 min). A request that is never answered keeps its session, so its handler
    /// should have a time limit of its own.
    pub(crate) idle: Duration,
    /// How long a client may leave a full stream unread once [`session_high_water`](Self::session_high_water) is used up and
    /// other requests of the session wait for that (default 2 s). Then the stream is cut.
    pub(crate) slow_reader_timeout: Duration,
    /// How long a client should wait before it resumes a stream that ended early (default 1 s). A stream of 2025-11-25
    /// begins with it.
    pub(crate) retry: Duration,
    /// How long a client should wait before it resumes a stream that runs at another node, or whose node shuts down (default
    /// 100 ms).
    pub(crate) moved_retry: Duration,
    /// How many sessions of other nodes may be loaded at once (default 64). One [`Caller`](crate::server::Caller) has an eighth of
    /// them. Requests of one session share one load.
    ///
    /// A request that needs a further load waits for up to 10 seconds, and then gets 503. It gets 503 at once if too many
    /// requests wait already: [`session_limit`](Self::session_limit) in total, or
    /// [`caller_session_limit`](Self::caller_session_limit) of one caller. Only with a [`node`](Self::node) or
    /// [sealed sessions](Self::sealed_sessions).
    pub(crate) load_limit: usize,
    /// How many responses may wait for events of streams that run at other nodes (default 256), each for up to 2 s. One
    /// [`Caller`](crate::server::Caller) has an eighth of them, and each stream has one. Any other such response ends at once,
    /// and its client comes back after [`moved_retry`](Self::moved_retry). Only with a [`node`](Self::node).
    pub(crate) follower_limit: usize,
    pub(crate) record_limits: RecordLimits,
    /// Closes each stream of 2025-11-25 after this time, so that clients come back for the rest instead of holding
    /// connections (default: streams stay open). It needs an event store.
    #[build(optional)]
    pub(crate) stream_time: Option<Duration>,
    pub(crate) store: Option<EndpointStore>,
    pub(crate) sealed: Option<SealedSessions>,
    /// How many bytes a message may have to be given to the event store (default 1 MiB). A longer one is sent
    /// once and not kept.
    pub(crate) event_limit: usize,
    pub(crate) warnings: Warnings,
}

/// The form of a response whose first message is the answer. A message before the answer makes it a stream in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnswerForm {
    /// One JSON object. It costs least; an answer that is lost on its way cannot be fetched again.
    Json,
    /// A stream of events. It is opened at once, and in a session a client that lost it can resume it.
    Events,
}

impl AnswerForm {
    /// The form for a client that accepts these.
    pub(crate) fn accepted(self, accepts: Accepts) -> Self {
        match accepts {
            Accepts::Both => self,
            Accepts::Json => Self::Json,
            Accepts::Events => Self::Events,
        }
    }
}

impl EndpointConfig {
    /// The defaults: every revision, and only for clients on the same machine.
    pub fn new() -> Self {
        Self {
            era: Era::Auto,
            legacy_answer: AnswerForm::Events,
            modern_answer: AnswerForm::Json,
            guard: Guard::new(),
            bearer: None,
            limits: Limits::new(),
            batch_limit: agentwire_jsonrpc::DEFAULT_BATCH_LIMIT,
            sessionless_body_budget: 16 << 20,
            exchange_limit: 10_000,
            stream_limit: 256,
            session_high_water: 1 << 20,
            idle: Duration::from_secs(30 * 60),
            slow_reader_timeout: Duration::from_secs(2),
            retry: Duration::from_secs(1),
            moved_retry: Duration::from_millis(100),
            load_limit: 64,
            follower_limit: 256,
            record_limits: RecordLimits { subscriptions: 256, bytes: 256 << 10, budget: 64 << 20 },
            stream_time: None,
            store: Some(EndpointStore::new(Arc::new(MemoryEventStore::default()))),
            sealed: None,
            event_limit: 1 << 20,
            warnings: Warnings::default(),
        }
    }

    /// Sets the values that the `Host` header may have, such as `example.com` or `192.0.2.1:8080`: the port is left out if it is
    /// the default one. The default is the names of the loopback interface, with any port. Any other host gets 403.
    ///
    /// This protects a local server from a web page whose host name was made to resolve to it (DNS rebinding).
    #[must_use]
    pub fn hosts<S: Into<String>>(mut self, hosts: impl IntoIterator<Item = S>) -> Self {
        self.guard = self.guard.hosts(hosts);
        self
    }

    /// Does not check the `Host` header. Right only if a proxy in front of the endpoint does.
    #[must_use]
    pub fn any_host(mut self) -> Self {
        self.guard = self.guard.any_host();
        self
    }

    /// Serves only requests with a bearer token for which the function returns a [`Principal`] (default: every request).
    /// Sessions, tasks and limits belong to that principal, and handlers find it in the extensions of the
    /// [`Head`](crate::server::Head). A request without a token, or with one for which the function returns `None`, gets 401 with
    /// `WWW-Authenticate`, which web pages may read.
    ///
    /// The function is called for each request and must not block: it looks a token up, or verifies its signature. A check that
    /// takes I/O is a layer in front of the endpoint, see [`Endpoint`](crate::server::Endpoint); `agentwire-mcp-auth` has one for
    /// access tokens. An [`OperationCheck`](crate::server::OperationCheck) limits the operations of a caller. `==` on a secret
    /// takes a time that depends on it; look up its hash if that matters.
    ///
    /// ```
    /// use std::collections::HashMap;
    ///
    /// use agentwire_transport_http::server::{EndpointConfig, Principal};
    ///
    /// fn config(users: HashMap<String, String>) -> EndpointConfig {
    ///     EndpointConfig::new().bearer(move |token| users.get(token).map(|name| Principal::new(name.as_str())))
    /// }
    /// # config(HashMap::new());
    /// ```
    #[must_use]
    pub fn bearer(mut self, check: impl Fn(&str) -> Option<Principal> + Send + Sync + 'static) -> Self {
        self.bearer = Some(BearerCheck::new(check));
        self
    }

    /// Sets the web pages that may call, by values of the `Origin` header such as `https://app.example.com`. The default is the
    /// pages of the loopback interface. Any other origin, `null` included, gets 403. A request without an `Origin`, as programs
    /// send it, is served.
    ///
    /// The endpoint answers CORS preflights, and lets these pages read responses and their `Mcp-Session-Id`, `Retry-After` and
    /// `WWW-Authenticate`. A layer that answers in front of the endpoint uses [`Endpoint::cors`](crate::server::Endpoint::cors).
    #[must_use]
    pub fn origins<S: Into<String>>(mut self, origins: impl IntoIterator<Item = S>) -> Self {
        self.guard = self.guard.origins(origins);
        self
    }

    /// Serves any web page. Right only if every call is authenticated by something that a browser does not send by itself, such
    /// as a bearer token.
    #[must_use]
    pub fn any_origin(mut self) -> Self {
        self.guard = self.guard.any_origin();
        self
    }

    /// The check of `Host` and `Origin` that admits requests.
    pub fn guard(&self) -> &Guard {
        &self.guard
    }

    /// The limits that another endpoint beside an [`Endpoint`](crate::server::Endpoint) has as well.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }
}

impl Default for EndpointConfig {
    fn default() -> Self {
        Self::new()
    }
}

/// The limits that every transport with sessions over HTTP has. Each field is the setting of
/// [`EndpointConfig`](crate::server::EndpointConfig) of the same name.
#[derive(Clone, Copy, Debug, Build)]
#[non_exhaustive]
#[build(new, of = EndpointConfig, at = limits)]
pub struct Limits {
    /// How many bytes the body of a request may have (default 4 MiB). A longer one gets 413.
    #[build(default = 4 << 20)]
    pub body_limit: usize,
    /// How long the body of a request may take to arrive (default 30 s). A slower one gets 408.
    #[build(default = Duration::from_secs(30))]
    pub body_timeout: Duration,
    /// How many bytes of memory unanswered requests may take, together with answers and events that have not been written to
    /// their clients (default 64 MiB). A further request gets 503. A request counts its head and its body, and at least 8 KiB; so
    /// does the stream of a GET. A stream that answers a request without a session counts
    /// [`high_water`](EndpointConfig::high_water) bytes more, because as much may be queued behind it.
    ///
    /// An answer exists before it is counted, so the last one may exceed the limit. Beyond it, each answer is replaced by an
    /// error that names the limit, and a stream with any other message is cut; in a session its client can resume it.
    ///
    /// This limit, [`caller_request_budget`](EndpointConfig::caller_request_budget) and
    /// [`sessionless_body_budget`](EndpointConfig::sessionless_body_budget) are never lower than what one body of
    /// [`body_limit`](EndpointConfig::body_limit) needs.
    #[build(default = 64 << 20)]
    pub request_budget: usize,
    /// How many bytes of the [`request_budget`](EndpointConfig::request_budget) the requests and the unread answers of one
    /// [`Caller`](crate::server::Caller) may take (default 16 MiB). A further request gets 503.
    #[build(default = 16 << 20)]
    pub caller_request_budget: usize,
    /// How many sessions may be open (default 10,000). One more gets 503, unless its caller has a session that it has
    /// not used: then that one is ended.
    #[build(default = 10_000)]
    pub session_limit: usize,
    /// How many sessions one [`Caller`](crate::server::Caller) may have open (default 1000, and at most three
    /// quarters of [`session_limit`](EndpointConfig::session_limit)). One more ends the oldest that the caller has opened and not
    /// used, or gets 503 without one.
    ///
    /// Behind a proxy all clients have one address. There a layer should put a
    /// [`Principal`](crate::server::Principal), or the client's own [`RemoteAddr`](crate::server::RemoteAddr), into
    /// each request; or this and [`caller_request_budget`](EndpointConfig::caller_request_budget) should be as high as the limits
    /// for all.
    pub caller_session_limit: Option<usize>,
    /// How many messages of one session may wait to be taken from its connection (default 64). While there are as
    /// many, further POSTs wait, up to [`stream_limit`](EndpointConfig::stream_limit) of them; then they get 429.
    #[build(min = 1, default = 64)]
    pub inbox_limit: usize,
    /// How many bytes of a stream the client may leave unread before the connection takes no more messages (default 64 KiB).
    /// While other requests of the session are unanswered, it takes more; see [`session_high_water`](EndpointConfig::session_high_water).
    /// As many bytes of messages that belong to no request are kept while no GET stream is open; then the oldest is dropped.
    #[build(min = 1, default = 64 << 10)]
    pub high_water: usize,
    /// How long a stream may be silent before a comment is sent on it (default 15 s), so that no proxy closes it as idle. A
    /// request whose answer takes longer than that is answered by a stream.
    #[build(default = Duration::from_secs(15))]
    pub keep_alive: Duration,
    /// How long a client may take from the answer to `initialize` to the next request of its session (default 60 s). Then
    /// the session ends.
    #[build(default = Duration::from_secs(60))]
    pub opening_timeout: Duration,
    /// How long a client may leave a full stream unread before the stream is cut (default 30 s). Until then its messages
    /// wait. All others of the session wait too, unless another request is unanswered.
    #[build(default = Duration::from_secs(30))]
    pub stall: Duration,
}

impl Limits {
    /// Counts sessions. One caller may have `share` of them unless the configuration names another number, and at most three
    /// quarters of all.
    pub fn session_quota(&self, share: usize) -> Quota {
        let of_caller = self.caller_session_limit.unwrap_or_else(|| Quota::share(self.session_limit, share));
        Quota::new(self.session_limit, of_caller)
    }

    /// Counts the bytes of requests. Both limits have room for the longest body.
    pub fn request_quota(&self) -> Quota {
        let of_caller = self.caller_request_budget.max(self.longest_request());
        Quota::new(self.request_budget.max(of_caller), of_caller)
    }

    /// The most bytes of a budget that one request takes.
    pub(crate) fn longest_request(&self) -> usize {
        self.body_limit.saturating_add(64 << 10)
    }
}

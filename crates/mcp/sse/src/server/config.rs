//! The settings of the HTTP+SSE endpoint: those of the Streamable HTTP endpoint, and the URI for messages.

use agentwire_transport_http::server as http;

/// The settings of an endpoint: those of Streamable HTTP that concern it, and the URI of the messages.
///
/// ```
/// use agentwire_transport_sse::server::EndpointConfig;
///
/// let config = EndpointConfig::new()
///     .messages("/prefix/messages")
///     .with_http(|http| http.hosts(["mcp.example"]).session_limit(100));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EndpointConfig {
    pub(crate) http: http::EndpointConfig,
    pub(crate) messages: Option<String>,
}

impl EndpointConfig {
    /// The defaults: those of [`http::EndpointConfig::new`], so only for clients on the same machine, with 1000
    /// sessions, and 24 MiB of messages for one caller. One caller may have 250 sessions, but at most three quarters of the
    /// limit. Each session holds a connection.
    pub fn new() -> Self {
        let http = http::EndpointConfig::new().session_limit(1000).caller_request_budget(24 << 20);
        Self { http, messages: None }
    }

    /// Changes the settings that an endpoint of Streamable HTTP has as well. These concern this one:
    ///
    /// | settings | differences |
    /// |---|---|
    /// | `hosts`, `any_host`, `origins`, `any_origin` | GET and POST are both checked |
    /// | `body_limit`, `body_timeout` | of one message |
    /// | `request_budget`, `caller_request_budget` | messages that are read or worked on, and events that are not written; where an event has no room, the session ends |
    /// | `session_limit`, `caller_session_limit` | an unused session is one whose client has not sent a message |
    /// | `inbox_limit` | further POSTs wait |
    /// | `high_water`, `keep_alive` | of the one stream of a session |
    /// | `opening_timeout` | from the stream's beginning to the client's first message; then the stream is closed |
    /// | `stall` | ends the session |
    ///
    /// The others do nothing here.
    #[must_use]
    pub fn with_http(mut self, change: impl FnOnce(http::EndpointConfig) -> http::EndpointConfig) -> Self {
        self.http = change(self.http);
        self
    }

    /// The URI of the clients' messages, as clients see it: a path such as `/prefix/messages`, or any other
    /// reference to a URI, to which the query `?sessionId=…` is added.
    ///
    /// By default it is `messages` beside the path of the GET: `/a/messages` for `/a/sse`. That fits if the endpoint sees the
    /// path that the client sees. If a layer in front removes a prefix, such as a nested router, name the whole path here.
    #[must_use]
    pub fn messages(mut self, path: impl Into<String>) -> Self {
        self.messages = Some(path.into());
        self
    }
}

impl Default for EndpointConfig {
    fn default() -> Self {
        Self::new()
    }
}

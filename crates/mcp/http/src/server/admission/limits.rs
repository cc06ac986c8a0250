//! The limits that the Streamable HTTP and the HTTP+SSE endpoints share, with their defaults and the quotas made from them.

use std::time::Duration;

use crate::server::admission::quota::Quota;

/// The limits that every transport with sessions over HTTP has. Each field is the setting of
/// [`EndpointConfig`](crate::server::EndpointConfig) of the same name.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// [`EndpointConfig::body_limit`](crate::server::EndpointConfig::body_limit), in bytes.
    pub body_limit: usize,
    /// [`EndpointConfig::body_timeout`](crate::server::EndpointConfig::body_timeout).
    pub body_timeout: Duration,
    /// [`EndpointConfig::request_budget`](crate::server::EndpointConfig::request_budget), in bytes.
    pub request_budget: usize,
    /// [`EndpointConfig::caller_request_budget`](crate::server::EndpointConfig::caller_request_budget), in bytes.
    pub caller_request_budget: usize,
    /// [`EndpointConfig::session_limit`](crate::server::EndpointConfig::session_limit).
    pub session_limit: usize,
    /// [`EndpointConfig::caller_session_limit`](crate::server::EndpointConfig::caller_session_limit). None for the default.
    pub caller_session_limit: Option<usize>,
    /// [`EndpointConfig::inbox_limit`](crate::server::EndpointConfig::inbox_limit), in messages.
    pub inbox_limit: usize,
    /// [`EndpointConfig::high_water`](crate::server::EndpointConfig::high_water), in bytes.
    pub high_water: usize,
    /// [`EndpointConfig::keep_alive`](crate::server::EndpointConfig::keep_alive).
    pub keep_alive: Duration,
    /// [`EndpointConfig::opening_timeout`](crate::server::EndpointConfig::opening_timeout).
    pub opening_timeout: Duration,
    /// [`EndpointConfig::stall`](crate::server::EndpointConfig::stall).
    pub stall: Duration,
}

impl Limits {
    /// The defaults, which the setters of [`EndpointConfig`](crate::server::EndpointConfig) state.
    pub(crate) fn new() -> Self {
        Self {
            body_limit: 4 << 20,
            body_timeout: Duration::from_secs(30),
            request_budget: 64 << 20,
            caller_request_budget: 16 << 20,
            session_limit: 10_000,
            caller_session_limit: None,
            inbox_limit: 64,
            high_water: 64 << 10,
            keep_alive: Duration::from_secs(15),
            opening_timeout: Duration::from_secs(60),
            stall: Duration::from_secs(30),
        }
    }

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

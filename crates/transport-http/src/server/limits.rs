//! The limits that the Streamable HTTP and the HTTP+SSE endpoints share, with their defaults and the quotas made from them.

use std::time::Duration;

use crate::server::quota::Quota;

/// The limits that every transport with sessions over HTTP has. Each field is the setting of
/// [`Config`](crate::server::Config) of the same name.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// [`Config::body_limit`](crate::server::Config::body_limit), in bytes.
    pub body_limit: usize,
    /// [`Config::body_timeout`](crate::server::Config::body_timeout).
    pub body_timeout: Duration,
    /// [`Config::request_budget`](crate::server::Config::request_budget), in bytes.
    pub request_budget: usize,
    /// [`Config::caller_request_budget`](crate::server::Config::caller_request_budget), in bytes.
    pub caller_request_budget: usize,
    /// [`Config::session_limit`](crate::server::Config::session_limit).
    pub session_limit: usize,
    /// [`Config::caller_session_limit`](crate::server::Config::caller_session_limit). None for the default.
    pub caller_session_limit: Option<usize>,
    /// [`Config::inbox_limit`](crate::server::Config::inbox_limit), in messages.
    pub inbox_limit: usize,
    /// [`Config::high_water`](crate::server::Config::high_water), in bytes.
    pub high_water: usize,
    /// [`Config::keep_alive`](crate::server::Config::keep_alive).
    pub keep_alive: Duration,
    /// [`Config::opening_timeout`](crate::server::Config::opening_timeout).
    pub opening_timeout: Duration,
    /// [`Config::stall`](crate::server::Config::stall).
    pub stall: Duration,
}

impl Limits {
    /// The defaults, which the setters of [`Config`](crate::server::Config) state.
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

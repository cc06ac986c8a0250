use std::time::Duration;

use crate::server::{Config, Quota};

/// The limits of a [`Config`] that every transport with sessions over HTTP has, for another endpoint beside an
/// [`Endpoint`](crate::server::Endpoint). Each field is the setting of the same name.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// [`Config::body_limit`], in bytes.
    pub body_limit: usize,
    /// [`Config::body_timeout`].
    pub body_timeout: Duration,
    /// [`Config::request_budget`], in bytes.
    pub request_budget: usize,
    /// [`Config::caller_request_budget`], in bytes.
    pub caller_request_budget: usize,
    /// [`Config::session_limit`].
    pub session_limit: usize,
    /// [`Config::caller_session_limit`]. None for the default.
    pub caller_session_limit: Option<usize>,
    /// [`Config::inbox_limit`], in messages.
    pub inbox_limit: usize,
    /// [`Config::high_water`], in bytes.
    pub high_water: usize,
    /// [`Config::keep_alive`].
    pub keep_alive: Duration,
    /// [`Config::opening_timeout`].
    pub opening_timeout: Duration,
    /// [`Config::stall`].
    pub stall: Duration,
}

impl Limits {
    /// Counts sessions. One caller may have `share` of them unless the configuration names another number, and at most three
    /// quarters of all.
    pub fn session_quota(&self, share: usize) -> Quota {
        let of_caller = self.caller_session_limit.unwrap_or_else(|| Quota::share(self.session_limit, share));
        Quota::new(self.session_limit, of_caller)
    }

    /// Counts the bytes of requests. The longest body has room in it, also in the part of one caller.
    pub fn request_quota(&self) -> Quota {
        let of_caller = self.caller_request_budget.max(longest_request(self.body_limit));
        Quota::new(self.request_budget.max(of_caller), of_caller)
    }
}

/// The most that a request with a body of so many bytes takes of a budget.
pub(crate) fn longest_request(body_limit: usize) -> usize {
    body_limit.saturating_add(64 << 10)
}

impl Config {
    /// The limits of sessions and messages.
    pub fn limits(&self) -> Limits {
        Limits {
            body_limit: self.body_limit,
            body_timeout: self.body_timeout,
            request_budget: self.request_budget,
            caller_request_budget: self.caller_request_budget,
            session_limit: self.session_limit,
            caller_session_limit: self.caller_session_limit,
            inbox_limit: self.inbox_limit,
            high_water: self.high_water,
            keep_alive: self.keep_alive,
            opening_timeout: self.opening_timeout,
            stall: self.stall,
        }
    }
}

//! The requests that the server has received, in order.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::{HeaderMap, Method};

/// How many requests are kept. Later ones are only counted.
pub(crate) const LOG_LIMIT: usize = 65_536;

/// How many bytes of a body are kept.
const BODY_LIMIT: usize = 64 << 10;

/// Parameters whose values `Debug` leaves out.
pub(crate) const SECRETS: [&str; 9] = [
    "access_token",
    "assertion",
    "client_assertion",
    "client_secret",
    "code",
    "code_verifier",
    "refresh_token",
    "subject_token",
    "token",
];

/// The one of the server's three origins that has received a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Site {
    /// The authorization server.
    AuthServer,
    /// The protected resource.
    Resource,
    /// The origin that faults redirect to. A careful client never sends anything there.
    OtherOrigin,
}

/// The purpose of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Endpoint {
    /// The resource's metadata (RFC 9728).
    ResourceMetadata,
    /// The authorization server's metadata (RFC 8414, OpenID Connect Discovery).
    Metadata,
    /// The dynamic registration (RFC 7591).
    Registration,
    /// The authorization endpoint.
    Authorization,
    /// The token endpoint.
    Token,
    /// The introspection (RFC 7662).
    Introspection,
    /// The revocation (RFC 7009).
    Revocation,
    /// The key set.
    Keys,
    /// The protected resource itself.
    Resource,
    /// A path that nothing is at, or a place of metadata that is switched off.
    NotFound,
}

/// A request that the server has received.
///
/// `Debug` shows no tokens, codes or secrets, so that a failed assertion prints none.
#[derive(Clone)]
#[non_exhaustive]
pub struct RecordedRequest {
    /// The origin that has received it.
    pub site: Site,
    /// Its purpose.
    pub endpoint: Endpoint,
    /// The method.
    pub method: Method,
    /// The path, as it was sent.
    pub path: String,
    /// The path and the query, as they were sent.
    pub target: String,
    /// The parameters of the query, decoded, in order.
    pub query: Vec<(String, String)>,
    /// The parameters of a body of the type `application/x-www-form-urlencoded`, decoded, in order.
    pub form: Vec<(String, String)>,
    /// The headers.
    pub headers: HeaderMap,
    /// The body: of a request in the log, its first 64 KiB.
    pub body: Bytes,
    /// The status of the answer; none while there is none, or where the connection was closed instead.
    pub status: Option<u16>,
}

impl RecordedRequest {
    /// The value of a parameter of the form, else of the query.
    pub fn param(&self, name: &str) -> Option<&str> {
        let mut all = self.form.iter().chain(&self.query);
        all.find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// All values of a parameter.
    pub fn params(&self, name: &str) -> Vec<&str> {
        let all = self.form.iter().chain(&self.query);
        all.filter(|(found, _)| found == name).map(|(_, value)| value.as_str()).collect()
    }

    /// The value of a header, if it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The token of `Authorization: Bearer` or `Authorization: DPoP`.
    pub fn token(&self) -> Option<&str> {
        let (scheme, token) = self.header("authorization")?.split_once(' ')?;
        let known = scheme.eq_ignore_ascii_case("bearer") || scheme.eq_ignore_ascii_case("dpop");
        known.then_some(token)
    }
}

impl fmt::Debug for RecordedRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |list: &[(String, String)]| -> Vec<String> {
            let pair = |(name, value): &(String, String)| match SECRETS.contains(&name.as_str()) {
                true => format!("{name}=…"),
                false => format!("{name}={value}"),
            };
            list.iter().map(pair).collect()
        };
        let headers: Vec<&str> = self.headers.keys().map(|name| name.as_str()).collect();
        f.debug_struct("RecordedRequest")
            .field("site", &self.site)
            .field("endpoint", &self.endpoint)
            .field("method", &self.method)
            .field("path", &self.path)
            .field("query", &shown(&self.query))
            .field("form", &shown(&self.form))
            .field("headers", &headers)
            .field("status", &self.status)
            .finish_non_exhaustive()
    }
}

/// The requests that have been received up to one moment, in order of their arrival. At most 65,536 are kept.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RequestLog {
    /// The requests.
    pub requests: Vec<RecordedRequest>,
    /// How many more there were.
    pub dropped: u64,
}

impl RequestLog {
    /// The requests to an endpoint, in order, whatever their origin.
    pub fn to(&self, endpoint: Endpoint) -> Vec<&RecordedRequest> {
        self.requests.iter().filter(|request| request.endpoint == endpoint).collect()
    }

    /// The requests to an origin, in order.
    pub fn at(&self, site: Site) -> Vec<&RecordedRequest> {
        self.requests.iter().filter(|request| request.site == site).collect()
    }

    /// The token requests of a grant, by its `grant_type`.
    pub fn grants(&self, grant_type: &str) -> Vec<&RecordedRequest> {
        let mut requests = self.to(Endpoint::Token);
        requests.retain(|request| request.param("grant_type") == Some(grant_type));
        requests
    }

    /// The values of a parameter in authorization and token requests, in order; `None` if a request lacks it.
    pub fn values(&self, name: &str) -> Vec<Option<&str>> {
        let asks = |request: &&RecordedRequest| {
            matches!(request.endpoint, Endpoint::Authorization | Endpoint::Token)
        };
        self.requests.iter().filter(asks).map(|request| request.param(name)).collect()
    }
}

/// The log while it grows.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    log: Mutex<Growing>,
}

#[derive(Debug, Default)]
struct Growing {
    requests: Vec<(u64, RecordedRequest)>,
    next: u64,
    dropped: u64,
}

impl Recorder {
    /// Adds a request, and returns its number, for the status.
    pub(crate) fn add(&self, mut request: RecordedRequest) -> u64 {
        if request.body.len() > BODY_LIMIT {
            request.body = Bytes::copy_from_slice(&request.body[..BODY_LIMIT]);
        }
        let mut log = self.lock();
        let number = log.next;
        log.next += 1;
        match log.requests.len() < LOG_LIMIT {
            true => log.requests.push((number, request)),
            false => log.dropped += 1,
        }
        number
    }

    /// Records the status of the answer to the request of a number.
    pub(crate) fn answered(&self, number: u64, status: u16) {
        let mut log = self.lock();
        // The numbers grow, also after a part was forgotten.
        if let Ok(place) = log.requests.binary_search_by_key(&number, |(number, _)| *number)
            && let Some((_, request)) = log.requests.get_mut(place)
        {
            request.status = Some(status);
        }
    }

    pub(crate) fn snapshot(&self) -> RequestLog {
        let log = self.lock();
        let requests = log.requests.iter().map(|(_, request)| request.clone()).collect();
        RequestLog { requests, dropped: log.dropped }
    }

    /// Forgets all requests.
    pub(crate) fn clear(&self) {
        let mut log = self.lock();
        log.requests.clear();
        log.dropped = 0;
    }

    fn lock(&self) -> MutexGuard<'_, Growing> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

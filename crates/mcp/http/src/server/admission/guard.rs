//! Checks before a request is read: its host, its origin, its media types and its length.

use std::net::Ipv4Addr;

use http::header::ORIGIN;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode, Uri};

use crate::server::admission::cors::CorsHeaders;
use crate::server::admission::denied::Denied;
use crate::server::request::fields::{Field, Fields};

const JSON: (&str, &str) = ("application", "json");
const EVENTS: (&str, &str) = ("text", "event-stream");

/// The checks that an [`Endpoint`](crate::server::Endpoint) makes before it reads a request, for other endpoints
/// beside it.
///
/// ```
/// use agentwire_transport_http::runtime::server::Guard;
/// use http::{Request, StatusCode};
///
/// let guard = Guard::new();
/// let (parts, ()) = Request::get("/").header("host", "127.0.0.1:8080").body(()).unwrap().into_parts();
/// assert!(guard.admit(&parts).is_ok());
/// let (parts, ()) = Request::get("/").header("host", "evil.example").body(()).unwrap().into_parts();
/// assert_eq!(guard.admit(&parts).unwrap_err().status, StatusCode::FORBIDDEN);
/// ```
#[derive(Clone, Debug)]
pub struct Guard {
    hosts: Names,
    origins: Names,
}

/// The names that a header may have.
#[derive(Clone, Debug)]
enum Names {
    /// Those of the loopback interface: `localhost`, `127.0.0.1` and `[::1]`, with any port.
    Loopback,
    /// The listed names, in lower case.
    Listed(Vec<String>),
    /// Any.
    Any,
}

impl Names {
    pub(crate) fn listed<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Self {
        Self::Listed(names.into_iter().map(|name| name.into().to_ascii_lowercase()).collect())
    }
}

impl Guard {
    /// Admits what comes from the same machine: the names of the loopback interface, and web pages of it.
    pub fn new() -> Self {
        Self { hosts: Names::Loopback, origins: Names::Loopback }
    }

    /// Sets which names the `Host` header may have; see [`EndpointConfig::hosts`](crate::server::EndpointConfig::hosts).
    #[must_use]
    pub fn hosts<S: Into<String>>(mut self, hosts: impl IntoIterator<Item = S>) -> Self {
        self.hosts = Names::listed(hosts);
        self
    }

    /// Does not look at the `Host` header; see [`EndpointConfig::any_host`](crate::server::EndpointConfig::any_host).
    #[must_use]
    pub fn any_host(mut self) -> Self {
        self.hosts = Names::Any;
        self
    }

    /// Sets which web pages may call; see [`EndpointConfig::origins`](crate::server::EndpointConfig::origins).
    #[must_use]
    pub fn origins<S: Into<String>>(mut self, origins: impl IntoIterator<Item = S>) -> Self {
        self.origins = Names::listed(origins);
        self
    }

    /// Takes calls from any web page; see [`EndpointConfig::any_origin`](crate::server::EndpointConfig::any_origin).
    #[must_use]
    pub fn any_origin(mut self) -> Self {
        self.origins = Names::Any;
        self
    }

    /// Checks the `Host` and the `Origin` of a request with any method.
    ///
    /// # Errors
    ///
    /// 403 for a foreign `Host` or `Origin`, 400 without any host.
    pub fn admit(&self, parts: &Parts) -> Result<(), Denied> {
        self.admit_names(&Fields::of(&parts.headers), &parts.uri)
    }

    /// The headers that let a web page read the response to a request with these headers; none unless it may call.
    pub fn cors(&self, headers: &HeaderMap) -> CorsHeaders {
        let mut origins = headers.get_all(ORIGIN).iter();
        let (origin, other) = (origins.next(), origins.next());
        let origin = origin.filter(|origin| other.is_none() && self.origins.allow_origin(origin.as_bytes()));
        CorsHeaders::allowing(origin.map(|origin| match self.origins {
            // The answer does not repeat text of the request.
            Names::Any => HeaderValue::from_static("*"),
            _ => origin.clone(),
        }))
    }

    /// Looks at the body that a POST announces.
    ///
    /// # Errors
    ///
    /// 415 if it is not JSON, 413 if it is longer than `limit` bytes. A body without `Content-Length` has to be measured while
    /// it is read.
    pub fn admit_json(headers: &HeaderMap, limit: usize) -> Result<(), Denied> {
        admit_body(&Fields::of(headers), limit)
    }

    /// Checks that the client of a GET takes a stream of events.
    ///
    /// # Errors
    ///
    /// 406 if it does not.
    pub fn admit_events(headers: &HeaderMap) -> Result<(), Denied> {
        admit_stream(&Fields::of(headers))
    }

    /// Refuses a request that is for another server, or that a foreign web page makes.
    pub(crate) fn admit_names(&self, fields: &Fields<'_>, uri: &Uri) -> Result<(), Denied> {
        let authority = uri.authority().map(|authority| authority.as_str().as_bytes());
        let mut named = fields.all(Field::Host).map(HeaderValue::as_bytes).chain(authority).peekable();
        if named.peek().is_none() && !matches!(self.hosts, Names::Any) {
            return Err(Denied::new(StatusCode::BAD_REQUEST, "the Host header is missing"));
        }
        if !named.all(|host| self.hosts.allow_host(host)) {
            let why = "the Host header names a host that is not allowed here";
            return Err(Denied::new(StatusCode::FORBIDDEN, why));
        }
        if !fields.all(Field::Origin).all(|origin| self.origins.allow_origin(origin.as_bytes())) {
            return Err(Denied::new(StatusCode::FORBIDDEN, "the Origin is not allowed here"));
        }
        Ok(())
    }
}

impl Default for Guard {
    fn default() -> Self {
        Self::new()
    }
}

/// The forms of an answer that the sender of a POST accepts. The specification requires both; a sender that accepts one
/// gets that one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Accepts {
    Both,
    Json,
    Events,
}

impl Accepts {
    pub(crate) fn of(fields: &Fields<'_>) -> Option<Self> {
        if has_usual_accept(fields) {
            return Some(Self::Both);
        }
        match (accepts(fields, JSON), accepts(fields, EVENTS)) {
            (true, true) => Some(Self::Both),
            (true, false) => Some(Self::Json),
            (false, true) => Some(Self::Events),
            (false, false) => None,
        }
    }
}

/// Refuses a POST whose body is not JSON or is longer than `body_limit` bytes, or whose sender accepts neither form of an
/// answer.
pub(crate) fn admit_post(fields: &Fields<'_>, body_limit: usize) -> Result<Accepts, Denied> {
    admit_body(fields, body_limit)?;
    Accepts::of(fields).ok_or_else(|| {
        let why = "the Accept header must allow application/json or text/event-stream, and should allow both";
        Denied::new(StatusCode::NOT_ACCEPTABLE, why)
    })
}

/// Refuses a body that is not JSON, or too long.
fn admit_body(fields: &Fields<'_>, limit: usize) -> Result<(), Denied> {
    if !is_json(fields) {
        let why = "the Content-Type must be application/json";
        return Err(Denied::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, why));
    }
    let length = fields.all(Field::ContentLength).next();
    let length = length.and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|length| length > limit as u64) {
        return Err(Denied::too_long(limit));
    }
    Ok(())
}

/// Refuses a GET whose sender does not take a stream.
pub(crate) fn admit_stream(fields: &Fields<'_>) -> Result<(), Denied> {
    if accepts(fields, EVENTS) {
        return Ok(());
    }
    Err(Denied::new(StatusCode::NOT_ACCEPTABLE, "the Accept header must allow text/event-stream"))
}

fn is_json(fields: &Fields<'_>) -> bool {
    let Some(value) = fields.only(Field::ContentType) else {
        return false;
    };
    if value == "application/json" {
        return true;
    }
    let essence = value.to_str().unwrap_or_default().split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("application/json")
}

/// Whether the Accept header is, to the letter, what most clients send, which allows both forms.
fn has_usual_accept(fields: &Fields<'_>) -> bool {
    fields.only(Field::Accept).is_some_and(|value| {
        matches!(
            value.as_bytes(),
            b"application/json, text/event-stream" | b"text/event-stream, application/json"
        )
    })
}

/// Whether a response of a type is acceptable: the most particular range that fits decides. No header accepts
/// everything.
fn accepts(fields: &Fields<'_>, (kind, subtype): (&str, &str)) -> bool {
    let mut best = None;
    let mut any = false;
    for value in fields.all(Field::Accept) {
        any = true;
        for range in value.to_str().unwrap_or_default().split(',') {
            let mut parts = range.split(';');
            let Some((range_kind, range_subtype)) =
                parts.next().and_then(|range| range.trim().split_once('/'))
            else {
                continue;
            };
            let same = |range: &str, own: &str| range.eq_ignore_ascii_case(own);
            let particular = match (range_kind, range_subtype) {
                ("*", "*") => 0,
                (range, "*") if same(range, kind) => 1,
                (range, sub) if same(range, kind) && same(sub, subtype) => 2,
                _ => continue,
            };
            let wanted = !parts.any(is_zero_weight);
            if best.is_none_or(|(before, _)| particular > before) {
                best = Some((particular, wanted));
            }
        }
    }
    best.map_or(!any, |(_, wanted)| wanted)
}

/// Whether a parameter of a media range is `q=0`.
fn is_zero_weight(parameter: &str) -> bool {
    let Some((name, value)) = parameter.split_once('=') else {
        return false;
    };
    name.trim().eq_ignore_ascii_case("q") && value.trim().parse::<f32>().is_ok_and(|weight| weight == 0.0)
}

impl Names {
    fn allow_host(&self, host: &[u8]) -> bool {
        match self {
            Self::Any => true,
            Self::Loopback => std::str::from_utf8(host).is_ok_and(is_loopback),
            Self::Listed(names) => names.iter().any(|name| name.as_bytes().eq_ignore_ascii_case(host)),
        }
    }

    fn allow_origin(&self, origin: &[u8]) -> bool {
        match self {
            Self::Any => true,
            Self::Listed(names) => names.iter().any(|name| name.as_bytes().eq_ignore_ascii_case(origin)),
            Self::Loopback => std::str::from_utf8(origin).is_ok_and(|origin| {
                let host = origin.split_once("://").filter(|(scheme, _)| matches!(*scheme, "http" | "https"));
                host.is_some_and(|(_, host)| is_loopback(host))
            }),
        }
    }
}

/// Whether `host` or `host:port` is a name of the loopback interface.
fn is_loopback(host: &str) -> bool {
    let (name, port) = match host.rfind(':') {
        Some(at) if !host.ends_with(']') => (&host[..at], &host[at + 1..]),
        _ => (host, "0"),
    };
    port.parse::<u16>().is_ok()
        && (name == "127.0.0.1"
            || name.eq_ignore_ascii_case("localhost")
            || name == "[::1]"
            || name.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback()))
}

#[cfg(test)]
mod tests {
    use http::header::{ACCEPT, CONTENT_TYPE, HeaderName};

    use super::*;

    fn headers(name: HeaderName, values: &[&str]) -> HeaderMap {
        values.iter().map(|value| (name.clone(), value.parse().unwrap())).collect()
    }

    #[test]
    fn loopback_names_are_recognized() {
        for name in ["localhost", "LocalHost:1", "127.0.0.1:8080", "127.9.9.9", "[::1]", "[::1]:80"] {
            assert!(is_loopback(name), "{name}");
        }
        for name in
            ["localhost.evil", "evil", "", ":80", "localhost:", "localhost:x", "127.0.0.1.evil", "::1"]
        {
            assert!(!is_loopback(name), "{name}");
        }
    }

    #[test]
    fn only_allowed_origins_are_admitted() {
        let own = ["http://localhost:3000", "https://127.0.0.1", "http://[::1]:1"];
        assert!(own.iter().all(|origin| Names::Loopback.allow_origin(origin.as_bytes())));
        let foreign =
            ["null", "http://evil.example", "http://localhost.evil", "file://localhost", "localhost"];
        assert!(!foreign.iter().any(|origin| Names::Loopback.allow_origin(origin.as_bytes())));
        let listed = Names::Listed(vec!["https://app.example".to_owned()]);
        assert!(listed.allow_origin(b"https://App.example") && !listed.allow_origin(b"http://app.example"));
    }

    #[test]
    fn accept_header_selects_the_forms_of_an_answer() {
        let accepted = |values: &[&str]| Accepts::of(&Fields::of(&headers(ACCEPT, values)));
        for good in [
            &["application/json, text/event-stream"][..],
            &["text/event-stream", "Application/JSON;q=0.1"],
            &["*/*"],
            &["application/*, text/*;q=0.5"],
            &[],
        ] {
            assert_eq!(accepted(good), Some(Accepts::Both), "{good:?}");
        }
        for json in
            [&["application/json"][..], &["text/html, application/json"], &["*/*, text/event-stream;q=0"]]
        {
            assert_eq!(accepted(json), Some(Accepts::Json), "{json:?}");
        }
        for events in [&["text/event-stream"][..], &["application/json;q=0.0, */*"]] {
            assert_eq!(accepted(events), Some(Accepts::Events), "{events:?}");
        }
        for neither in [&[""][..], &["text/html"], &["*/*;q=0"]] {
            assert_eq!(accepted(neither), None, "{neither:?}");
        }
    }

    #[test]
    fn only_json_content_types_are_admitted() {
        for good in ["application/json", "application/json; charset=utf-8", "APPLICATION/JSON;x=1"] {
            assert!(is_json(&Fields::of(&headers(CONTENT_TYPE, &[good]))), "{good}");
        }
        for bad in ["text/plain", "application/jsonp", "application/json-patch+json", ""] {
            assert!(!is_json(&Fields::of(&headers(CONTENT_TYPE, &[bad]))), "{bad}");
        }
        assert!(!is_json(&Fields::of(&HeaderMap::new())));
    }
}

//! What is looked at before a request is read: who it is for, which page it comes from, in which form it speaks.

use std::net::Ipv4Addr;

use http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderName, ORIGIN};
use http::request::Parts;
use http::{HeaderMap, StatusCode};

use crate::server::Config;
use crate::server::config::Names;
use crate::server::refusal::Refusal;

const JSON: (&str, &str) = ("application", "json");
const EVENTS: (&str, &str) = ("text", "event-stream");

/// Refuses a request that is for another server, or that a foreign web page makes.
pub(crate) fn admit(config: &Config, parts: &Parts) -> Result<(), Refusal> {
    let host = parts.headers.get_all(HOST);
    let authority = parts.uri.authority().map(|authority| authority.as_str().as_bytes());
    let mut hosts = host.iter().map(http::HeaderValue::as_bytes).chain(authority).peekable();
    if hosts.peek().is_none() && !matches!(config.hosts, Names::Any) {
        return Err(Refusal::new(StatusCode::BAD_REQUEST, "the Host header is missing"));
    }
    if !hosts.all(|host| config.hosts.allow_host(host)) {
        return Err(Refusal::new(
            StatusCode::FORBIDDEN,
            "the Host header names a host that is not allowed here",
        ));
    }
    if !parts.headers.get_all(ORIGIN).iter().all(|origin| config.origins.allow_origin(origin.as_bytes())) {
        return Err(Refusal::new(StatusCode::FORBIDDEN, "the Origin is not allowed here"));
    }
    Ok(())
}

/// Refuses a POST whose body is no JSON, or too long, or whose sender does not take both forms of an answer.
pub(crate) fn admit_post(config: &Config, headers: &HeaderMap) -> Result<(), Refusal> {
    if !is_json(headers) {
        let why = "the Content-Type must be application/json";
        return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, why));
    }
    if !accepts(headers, JSON) || !accepts(headers, EVENTS) {
        let why = "the Accept header must allow application/json and text/event-stream";
        return Err(Refusal::new(StatusCode::NOT_ACCEPTABLE, why));
    }
    let length = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|length| length > config.body_limit as u64) {
        return Err(Refusal::too_long(config.body_limit));
    }
    Ok(())
}

/// Refuses a GET whose sender does not take a stream.
pub(crate) fn admit_get(headers: &HeaderMap) -> Result<(), Refusal> {
    if accepts(headers, EVENTS) {
        return Ok(());
    }
    Err(Refusal::new(StatusCode::NOT_ACCEPTABLE, "the Accept header must allow text/event-stream"))
}

/// The one value of a header. An error where there are several, which two readers could read differently.
pub(crate) fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a [u8]>, Refusal> {
    let mut values = headers.get_all(name).iter();
    let value = values.next().map(|value| value.as_bytes().trim_ascii());
    match values.next() {
        None => Ok(value),
        Some(_) => {
            Err(Refusal::new(StatusCode::BAD_REQUEST, format!("the header {name} stands there twice")))
        }
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(CONTENT_TYPE).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return false;
    };
    if value == "application/json" {
        return true;
    }
    let essence = value.to_str().unwrap_or_default().split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("application/json")
}

/// Whether a response of a type is acceptable: the most particular range that fits decides. No header accepts
/// everything.
fn accepts(headers: &HeaderMap, (kind, subtype): (&str, &str)) -> bool {
    let mut best = None;
    let mut any = false;
    for value in headers.get_all(ACCEPT) {
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
            Self::These(names) => names.iter().any(|name| name.as_bytes().eq_ignore_ascii_case(host)),
        }
    }

    fn allow_origin(&self, origin: &[u8]) -> bool {
        match self {
            Self::Any => true,
            Self::These(names) => names.iter().any(|name| name.as_bytes().eq_ignore_ascii_case(origin)),
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
        && (name.eq_ignore_ascii_case("localhost")
            || name == "[::1]"
            || name.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: HeaderName, values: &[&str]) -> HeaderMap {
        values.iter().map(|value| (name.clone(), value.parse().unwrap())).collect()
    }

    #[test]
    fn names_of_the_loopback_interface() {
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
    fn origins() {
        let own = ["http://localhost:3000", "https://127.0.0.1", "http://[::1]:1"];
        assert!(own.iter().all(|origin| Names::Loopback.allow_origin(origin.as_bytes())));
        let foreign =
            ["null", "http://evil.example", "http://localhost.evil", "file://localhost", "localhost"];
        assert!(!foreign.iter().any(|origin| Names::Loopback.allow_origin(origin.as_bytes())));
        let listed = Names::These(vec!["https://app.example".to_owned()]);
        assert!(listed.allow_origin(b"https://App.example") && !listed.allow_origin(b"http://app.example"));
    }

    #[test]
    fn what_a_client_accepts() {
        let both = |values: &[&str]| {
            let headers = headers(ACCEPT, values);
            accepts(&headers, JSON) && accepts(&headers, EVENTS)
        };
        for good in [
            &["application/json, text/event-stream"][..],
            &["text/event-stream", "Application/JSON;q=0.1"],
            &["*/*"],
            &["application/*, text/*;q=0.5"],
            &[],
        ] {
            assert!(both(good), "{good:?}");
        }
        for bad in [
            &["application/json"][..],
            &["text/event-stream"],
            &["text/html, application/json"],
            &["*/*, text/event-stream;q=0"],
            &["application/json;q=0.0, */*"],
            &[""],
        ] {
            assert!(!both(bad), "{bad:?}");
        }
    }

    #[test]
    fn content_types() {
        for good in ["application/json", "application/json; charset=utf-8", "APPLICATION/JSON;x=1"] {
            assert!(is_json(&headers(CONTENT_TYPE, &[good])), "{good}");
        }
        for bad in ["text/plain", "application/jsonp", "application/json-patch+json", ""] {
            assert!(!is_json(&headers(CONTENT_TYPE, &[bad])), "{bad}");
        }
        assert!(!is_json(&HeaderMap::new()));
    }
}

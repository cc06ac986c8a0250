//! Downloads over HTTP: `https`, and `http` from this machine. Redirects are followed to other hosts, but never to less security.

use std::error::Error;
use std::fmt;
use std::io;
use std::net::IpAddr;
use std::time::Duration;

use agentwire_jsonrpc::Printable;
use agentwire_transport_http::client::{Body, BoxError, HttpClient, Hyper, shown_url};
use bytes::Bytes;
use futures_util::StreamExt as _;
use http::header::{ACCEPT_ENCODING, ETAG, IF_NONE_MATCH, LOCATION, USER_AGENT};
use http::{HeaderValue, Request, Response, StatusCode, Uri};

use crate::direct::Direct;

/// How long a connection may take to open, TLS and proxies included.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);
/// How long a server may be silent.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);
/// The most redirects that one download follows.
const MAX_REDIRECTS: usize = 5;
/// How long an ETag may be that is sent again.
const MAX_ETAG: usize = 512;

/// Why a download failed.
#[derive(Debug)]
pub struct FetchError {
    url: String,
    why: Reason,
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", Printable::one_line(&shown_url(&self.url)), self.why)
    }
}

impl Error for FetchError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.why.source()
    }
}

#[derive(Debug, thiserror::Error)]
enum Reason {
    #[error("neither https nor http of this machine, or no URL")]
    Url,
    #[error("it cannot be reached")]
    Unreachable(#[source] BoxError),
    #[error("the connection broke")]
    Broken(#[source] BoxError),
    #[error("the server answers {0}")]
    Status(StatusCode),
    #[error("it is redirected more than {MAX_REDIRECTS} times, or to an unsafe place")]
    Redirected,
    #[error("it is longer than {0} bytes")]
    TooLong(u64),
    #[error("no answer within {} s", .0.as_secs())]
    TimedOut(Duration),
    #[error("it cannot be kept: {0}")]
    Write(io::Error),
    #[error("{0}")]
    Unexpected(&'static str),
}

impl FetchError {
    /// The URL, without what a redirect made of it.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Whether the server could not be reached, or was silent.
    pub fn is_unreachable(&self) -> bool {
        matches!(self.why, Reason::Unreachable(_) | Reason::Broken(_) | Reason::TimedOut(_))
    }

    pub(crate) fn unexpected(url: &str, why: &'static str) -> Self {
        Self { url: url.to_owned(), why: Reason::Unexpected(why) }
    }
}

/// The result of a download.
pub(crate) enum Fetched {
    /// The text of the ETag is still the current one.
    NotModified,
    /// All of it went to `take`.
    Whole { etag: Option<String> },
}

/// Downloads a URL up to `limit` bytes, and gives the pieces to `take`.
pub(crate) async fn fetch(
    url: &str,
    etag: Option<&str>,
    limit: u64,
    timeout: Duration,
    take: impl FnMut(&[u8]) -> io::Result<()>,
) -> Result<Fetched, FetchError> {
    let fetched = tokio::time::timeout(timeout, follow(url, etag, limit, take)).await;
    fetched.unwrap_or(Err(Reason::TimedOut(timeout))).map_err(|why| FetchError { url: url.to_owned(), why })
}

async fn follow(
    url: &str,
    etag: Option<&str>,
    limit: u64,
    take: impl FnMut(&[u8]) -> io::Result<()>,
) -> Result<Fetched, Reason> {
    let mut uri = checked(url).ok_or(Reason::Url)?;
    for _ in 0..=MAX_REDIRECTS {
        let response = send(&uri, etag).await?;
        let status = response.status();
        if status == StatusCode::NOT_MODIFIED {
            return Ok(Fetched::NotModified);
        }
        if status.is_redirection() {
            let location = response.headers().get(LOCATION).and_then(|location| location.to_str().ok());
            let next = location.and_then(|location| redirected(&uri, location));
            // A server of this machine is not a place that another one may choose.
            let is_safe = |next: &Uri| next.scheme_str() == Some("https") || uri.scheme_str() == Some("http");
            uri = next.filter(is_safe).ok_or(Reason::Redirected)?;
            continue;
        }
        if status != StatusCode::OK {
            return Err(Reason::Status(status));
        }
        let etag = response.headers().get(ETAG).and_then(|etag| etag.to_str().ok());
        let etag = etag.filter(|etag| etag.len() <= MAX_ETAG).map(str::to_owned);
        read_body(response.into_body(), limit, take).await?;
        return Ok(Fetched::Whole { etag });
    }
    Err(Reason::Redirected)
}

async fn send(uri: &Uri, etag: Option<&str>) -> Result<Response<Body>, Reason> {
    let mut request = Request::get(uri.clone())
        .header(USER_AGENT, concat!("agentwire/", env!("CARGO_PKG_VERSION")))
        // An archive that the server calls compressed would arrive unpacked, and have another digest.
        .header(ACCEPT_ENCODING, "identity");
    if let Some(etag) = etag.and_then(|etag| HeaderValue::from_str(etag).ok()) {
        request = request.header(IF_NONE_MATCH, etag);
    }
    let request = request.body(Bytes::new()).map_err(|_| Reason::Url)?;
    let sent = match uri.scheme_str() {
        Some("http") => Direct::new(CONNECT_TIMEOUT).send(request),
        // The certificates of the system are read here, and not for an agent that is installed.
        _ => Hyper::new(CONNECT_TIMEOUT).map_err(|error| Reason::Unreachable(error.into()))?.send(request),
    };
    let sent = tokio::time::timeout(IDLE_TIMEOUT, sent).await;
    sent.map_err(|_| Reason::TimedOut(IDLE_TIMEOUT))?.map_err(Reason::Unreachable)
}

async fn read_body(
    mut body: Body,
    limit: u64,
    mut take: impl FnMut(&[u8]) -> io::Result<()>,
) -> Result<(), Reason> {
    let mut length = 0_u64;
    loop {
        let piece = tokio::time::timeout(IDLE_TIMEOUT, body.next()).await;
        let Some(piece) = piece.map_err(|_| Reason::TimedOut(IDLE_TIMEOUT))? else { return Ok(()) };
        let piece = piece.map_err(Reason::Broken)?;
        length = length.saturating_add(piece.len() as u64);
        if length > limit {
            return Err(Reason::TooLong(limit));
        }
        take(&piece).map_err(Reason::Write)?;
    }
}

/// The URL, if it is one that may be fetched.
pub(crate) fn checked(url: &str) -> Option<Uri> {
    let uri: Uri = url.parse().ok()?;
    let authority = uri.authority()?;
    if authority.as_str().contains('@') || authority.host().is_empty() {
        return None;
    }
    match uri.scheme_str()? {
        "https" => Some(uri),
        "http" if is_loopback(authority.host()) => Some(uri),
        _ => None,
    }
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The target of the `Location` of a response.
fn redirected(from: &Uri, location: &str) -> Option<Uri> {
    let (scheme, authority) = (from.scheme_str()?, from.authority()?);
    let location = location.split('#').next().unwrap_or_default();
    if location.contains("://") {
        checked(location)
    } else if location.starts_with("//") {
        checked(&format!("{scheme}:{location}"))
    } else if location.starts_with('/') {
        checked(&format!("{scheme}://{authority}{location}"))
    } else {
        let folder = from.path().rsplit_once('/').map_or("", |(folder, _)| folder);
        checked(&format!("{scheme}://{authority}{folder}/{location}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_safe_urls_are_fetched() {
        for safe in ["https://h/x", "http://127.0.0.1:1/x", "http://[::1]/x", "http://localhost:8080/"] {
            assert!(checked(safe).is_some(), "{safe}");
        }
        for other in [
            "http://h/x",
            "ftp://h/x",
            "https://u:p@h/x",
            "file:///x",
            "/x",
            "x",
            "http://127.0.0.1.h/",
            "http://localhost.h",
        ] {
            assert!(checked(other).is_none(), "{other}");
        }
    }

    #[test]
    fn redirects_are_resolved() {
        let from: Uri = "https://h/a/b?q".parse().unwrap();
        let to = |location| redirected(&from, location).map(|uri| uri.to_string());
        assert_eq!(to("https://other/x#f").as_deref(), Some("https://other/x"));
        assert_eq!(to("//other/x").as_deref(), Some("https://other/x"));
        assert_eq!(to("/x").as_deref(), Some("https://h/x"));
        assert_eq!(to("x").as_deref(), Some("https://h/a/x"));
        assert_eq!(to("http://other/x"), None);
    }
}

//! The URL of a server, as a user writes it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderValue, Uri};

/// A URL that a server can have, and the credentials in it.
#[derive(Debug)]
pub(crate) struct ServerUrl {
    /// Without user and password: URLs are shown.
    pub(crate) url: Uri,
    /// The value of `Authorization` that user and password make.
    pub(crate) credentials: Option<HeaderValue>,
}

impl ServerUrl {
    /// Reads an absolute URL of the scheme `http` or `https`. `None` for any other text.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let url: Uri = text.parse().ok()?;
        if !matches!(url.scheme_str(), Some("http" | "https")) {
            return None;
        }
        let authority = url.authority()?.as_str();
        let (user, place) = match authority.rsplit_once('@') {
            Some((user, place)) => (Some(user).filter(|user| !user.is_empty()), place),
            None => (None, authority),
        };
        let credentials = user.and_then(basic);
        let place = place.to_owned();
        let mut parts = url.into_parts();
        parts.authority = Some(place.parse().ok()?);
        let url = Uri::from_parts(parts).ok()?;
        let has_host = url.host().is_some_and(|host| !host.is_empty());
        (has_host && has_valid_port(&url)).then_some(Self { url, credentials })
    }
}

/// Whether the port is absent, empty or a valid number. `Uri::port_u16` alone does not distinguish an invalid port from none.
fn has_valid_port(url: &Uri) -> bool {
    let authority = url.authority().map_or("", |authority| authority.as_str());
    let port = authority.rsplit_once(':').map_or("", |(_, port)| port);
    url.port_u16().is_some() || port.is_empty() || port.ends_with(']')
}

/// The credentials of RFC 7617.
fn basic(user: &str) -> Option<HeaderValue> {
    let (user, password) = user.split_once(':').unwrap_or((user, ""));
    let text = [&*decoded(user), b":", &*decoded(password)].concat();
    let mut value = HeaderValue::try_from(format!("Basic {}", STANDARD.encode(text))).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// Takes the percent encoding off a text.
fn decoded(text: &str) -> Vec<u8> {
    let mut rest = text.as_bytes();
    let mut decoded = Vec::with_capacity(rest.len());
    while let [first, after @ ..] = rest {
        let digits = after.get(..2).filter(|_| *first == b'%');
        let byte = digits.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        decoded.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    decoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn server_urls_are_read() {
        for (text, url, credentials) in [
            ("http://localhost", "http://localhost/", None),
            ("https://[::1]:8443/mcp?a=b@c:d#e", "https://[::1]:8443/mcp?a=b@c:d", None),
            ("http://[::1]/", "http://[::1]/", None),
            ("http://@host:/", "http://host:/", None),
            ("http://user:pass@host/", "http://host/", Some("Basic dXNlcjpwYXNz")),
            ("http://user@host:1/", "http://host:1/", Some("Basic dXNlcjo=")),
            ("http://a%40b:c%3Ad%@[::1]/", "http://[::1]/", Some("Basic YUBiOmM6ZCU=")),
        ] {
            let place = ServerUrl::parse(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(place.url.to_string(), url);
            let found = place.credentials.as_ref().map(|value| value.to_str().unwrap());
            assert_eq!(found, credentials, "{text}");
            assert!(!format!("{place:?}").contains("Basic"), "{place:?}");
        }
        for text in [
            "http://host:99999/",
            "http://[::1]:65536/",
            "http://user@/",
            "http://user@:1/",
            "http:///",
            "host:1",
        ] {
            assert!(ServerUrl::parse(text).is_none(), "{text}");
        }
    }
}

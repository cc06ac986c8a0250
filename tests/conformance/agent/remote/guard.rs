//! Admits requests by their `Host` and `Origin`: those of the loopback interface, so that no web page of elsewhere can call.

use http::header::{HOST, ORIGIN};
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderMap, HeaderName, Uri};

/// Whether a request is for this machine, and comes from no page or from one of this machine.
pub(super) fn admits(request: &Parts) -> bool {
    let host = match request.uri.authority() {
        Some(authority) => Some(authority.clone()),
        None => text(&request.headers, HOST).and_then(|host| host.parse().ok()),
    };
    let origin_is_local = match request.headers.get(ORIGIN) {
        None => true,
        Some(origin) => {
            let origin = origin.to_str().ok().and_then(|origin| origin.parse::<Uri>().ok());
            origin.as_ref().and_then(Uri::authority).is_some_and(is_loopback)
        }
    };
    host.as_ref().is_some_and(is_loopback) && origin_is_local
}

fn is_loopback(authority: &Authority) -> bool {
    matches!(authority.host(), "localhost" | "127.0.0.1" | "[::1]")
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(host: &str, origin: Option<&str>) -> bool {
        let mut request = http::Request::get("/acp").header(HOST, host);
        if let Some(origin) = origin {
            request = request.header(ORIGIN, origin);
        }
        admits(&request.body(()).unwrap().into_parts().0)
    }

    #[test]
    fn pages_of_elsewhere_are_kept_out() {
        assert!(admitted("127.0.0.1:80", None));
        assert!(admitted("localhost:80", Some("http://localhost:3000")));
        assert!(admitted("[::1]:80", Some("http://[::1]")));
        assert!(!admitted("example.com", None));
        assert!(!admitted("127.0.0.1:80", Some("https://example.com")));
        assert!(!admitted("127.0.0.1:80", Some("null")));
        assert!(!admitted("127.0.0.1.example.com", None));
    }
}

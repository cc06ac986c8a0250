//! Origins of URLs: where a token may go.

use http::Uri;
use http::uri::{Authority, Scheme};

/// The scheme and the authority of a URL, as it spells them.
pub(crate) fn origin(url: &Uri) -> String {
    let authority = url.authority().map(|authority| authority.as_str()).unwrap_or_default();
    format!("{}://{authority}", url.scheme_str().unwrap_or_default())
}

/// The URL in its canonical form: the host in lower case, and no port that goes without saying. So one server has one token however
/// its URL is written, and `resource` is as the specification asks for where no metadata spells it.
pub(crate) fn canonical(url: &Uri) -> Uri {
    let text = origin(url).to_ascii_lowercase();
    let usual = if url.scheme() == Some(&Scheme::HTTPS) { ":443" } else { ":80" };
    let authority = text.split_once("://").map(|(_, authority)| authority).unwrap_or_default();
    let authority = authority.strip_suffix(usual).or(authority.strip_suffix(':')).unwrap_or(authority);
    let mut parts = url.clone().into_parts();
    parts.authority = authority.parse::<Authority>().ok();
    Uri::from_parts(parts).unwrap_or_else(|_| url.clone())
}

/// The URL without its query, as the target of a proof.
pub(crate) fn without_query(url: &Uri) -> String {
    format!("{}{}", origin(url), url.path())
}

/// The URL as the name of a resource. One without a path has no slash, which the specification recommends.
pub(crate) fn resource(url: &Uri) -> String {
    if url.path() == "/" { origin(url) } else { without_query(url) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_has_one_url() {
        let of = |url: &str| canonical(&url.parse().unwrap()).to_string();
        for url in ["https://a.example/Mcp?B", "HTTPS://A.Example/Mcp?B", "https://a.EXAMPLE:443/Mcp?B"] {
            assert_eq!(of(url), "https://a.example/Mcp?B");
        }
        assert_eq!(of("http://[::1]:80/x"), "http://[::1]/x");
        assert_eq!(of("http://[::80]/x"), "http://[::80]/x");
        assert_eq!(of("http://localhost:443/"), "http://localhost:443/");
    }

    #[test]
    fn a_url_loses_its_query_alone() {
        let of = |url: &str| without_query(&url.parse().unwrap());
        assert_eq!(of("https://a.example/mcp?b=c"), "https://a.example/mcp");
        assert_eq!(of("https://a.example:8443/mcp/"), "https://a.example:8443/mcp/");
        assert_eq!(of("https://a.example/"), "https://a.example/");
        assert_eq!(resource(&"https://a.example".parse().unwrap()), "https://a.example");
        assert_eq!(resource(&"https://a.example/mcp?b".parse().unwrap()), "https://a.example/mcp");
    }
}

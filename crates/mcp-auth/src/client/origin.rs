//! Origins of URLs: where a token may go.

use http::Uri;

/// The scheme and the authority of a URL, as it spells them.
pub(crate) fn origin(url: &Uri) -> String {
    let authority = url.authority().map(|authority| authority.as_str()).unwrap_or_default();
    format!("{}://{authority}", url.scheme_str().unwrap_or_default())
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
    fn a_url_loses_its_query_alone() {
        let of = |url: &str| without_query(&url.parse().unwrap());
        assert_eq!(of("https://a.example/mcp?b=c"), "https://a.example/mcp");
        assert_eq!(of("https://a.example:8443/mcp/"), "https://a.example:8443/mcp/");
        assert_eq!(of("https://a.example/"), "https://a.example/");
        assert_eq!(resource(&"https://a.example".parse().unwrap()), "https://a.example");
        assert_eq!(resource(&"https://a.example/mcp?b".parse().unwrap()), "https://a.example/mcp");
    }
}

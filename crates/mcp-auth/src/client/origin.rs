//! Origins of URLs: where a token may go.

use http::Uri;

/// The scheme and the authority of a URL, as it spells them.
pub(crate) fn origin(url: &Uri) -> String {
    let authority = url.authority().map(|authority| authority.as_str()).unwrap_or_default();
    format!("{}://{authority}", url.scheme_str().unwrap_or_default())
}

/// The URL without its query: as a resource and as the target of a proof.
pub(crate) fn without_query(url: &Uri) -> String {
    // A URL that ends with its authority has no slash of its own.
    let path = if url.path() == "/" && !url.to_string().ends_with('/') { "" } else { url.path() };
    format!("{}{path}", origin(url))
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
    }
}

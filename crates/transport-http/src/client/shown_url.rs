//! URLs in messages, without what may be secret.

/// Returns a URL as messages show it: without its user, password, query and fragment, which may be secret. The text may be any.
#[must_use]
pub fn shown_url(url: &str) -> String {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    let url = &url[..end];
    let (scheme, rest) = match url.find("://") {
        Some(at) => url.split_at(at + 3),
        None => ("", url),
    };
    let (authority, path) = rest.split_at(rest.find(['/', '\\']).unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::shown_url;

    #[test]
    fn what_may_be_secret_is_left_out() {
        for (url, shown) in [
            ("https://ann:abc@example.com:1/mcp?key=abc", "https://example.com:1/mcp"),
            ("https://ann:a@b@example.com#abc", "https://example.com"),
            ("https://ann:a b@example.com/@scope/x", "https://example.com/@scope/x"),
            ("ftp://ann@[::1]", "ftp://[::1]"),
            ("ann:abc@example.com/mcp", "example.com/mcp"),
            ("https://example.com?a=://b@c", "https://example.com"),
            ("any text", "any text"),
            ("", ""),
        ] {
            assert_eq!(shown_url(url), shown);
        }
    }
}

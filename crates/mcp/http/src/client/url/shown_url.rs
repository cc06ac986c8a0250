//! URLs in messages, without what may be secret.

/// Returns a URL as messages show it: without its user, password, query and fragment, which may be secret. The text may be any.
/// Where a password may have a `/` or `?`, only the scheme is shown, and `…`.
#[must_use]
pub fn shown_url(url: &str) -> String {
    let (scheme, rest) = match url.find("://") {
        Some(at) if is_scheme(&url[..at]) => url.split_at(at + 3),
        _ => ("", url),
    };
    let (authority, rest) = rest.split_at(rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len()));
    // The authority may be the beginning of a user and password, which the last `@` ends.
    if rest.contains('@') && !is_host(authority) {
        return format!("{scheme}…");
    }
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let path = &rest[..rest.find(['?', '#']).unwrap_or(rest.len())];
    format!("{scheme}{host}{path}")
}

fn is_scheme(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}

/// Whether a text is a host, and a port if there is one.
fn is_host(text: &str) -> bool {
    let (name, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, port)) => (address, port),
        None => text.split_at(text.find(':').unwrap_or(text.len())),
    };
    let is_port = |port: &str| {
        port.bytes().all(|b| b.is_ascii_digit()) && (port.is_empty() || port.parse::<u16>().is_ok())
    };
    !name.contains('@') && (port.is_empty() || port.strip_prefix(':').is_some_and(is_port))
}

#[cfg(test)]
mod tests {
    use super::shown_url;

    #[test]
    fn secrets_are_left_out() {
        for (url, shown) in [
            ("https://ann:abc@example.com:1/mcp?key=abc", "https://example.com:1/mcp"),
            ("https://ann:a@b@example.com#abc", "https://example.com"),
            ("https://example.com/@scope/x", "https://example.com/@scope/x"),
            ("https://example.com:8080/@scope/x?user=a@b", "https://example.com:8080/@scope/x"),
            ("https://[::1]:80/@scope", "https://[::1]:80/@scope"),
            ("https://ann:se/cret@h/mcp", "https://…"),
            ("https://ann:se?cret@h/mcp", "https://…"),
            ("https://ann:se#cret@h/mcp", "https://…"),
            ("https://ann:se\\cret@h/mcp", "https://…"),
            ("https://ann:123456/cret@h/mcp", "https://…"),
            ("https://ann:a@b/cret@h/mcp", "https://…"),
            ("https://[a]b:se/cret@h/mcp", "https://…"),
            ("ann:se/cret@h/mcp", "…"),
            ("ann:abc@example.com/mcp?a=://b", "example.com/mcp"),
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

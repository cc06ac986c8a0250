use http::Uri;
use http::uri::{Authority, PathAndQuery, Scheme};

/// What a `Location` means, seen from `base`. None where it is no place that HTTP leads to.
pub(crate) fn resolve(base: &Uri, location: &str) -> Option<Uri> {
    let location = location.split('#').next().unwrap_or_default();
    if location.is_empty() {
        return None;
    }
    if location.contains("://") && !location.starts_with(['/', '?']) {
        return location.parse().ok();
    }
    let mut parts = base.clone().into_parts();
    let path = match location.strip_prefix("//") {
        Some(rest) => {
            let (authority, _) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
            parts.authority = Some(Authority::try_from(authority).ok()?);
            rest[authority.len()..].to_owned()
        }
        None if location.starts_with('/') => location.to_owned(),
        None if location.starts_with('?') => format!("{}{location}", base.path()),
        None => {
            let folder = base.path().rsplit_once('/').map_or("", |(folder, _)| folder);
            format!("{folder}/{location}")
        }
    };
    parts.path_and_query = Some(PathAndQuery::try_from(path).ok()?);
    Uri::from_parts(parts).ok()
}

/// Whether two places are of one origin: scheme, host and port.
pub(crate) fn same_origin(one: &Uri, other: &Uri) -> bool {
    let (Some(host), Some(other_host)) = (one.host(), other.host()) else {
        return false;
    };
    one.scheme() == other.scheme() && host.eq_ignore_ascii_case(other_host) && port(one) == port(other)
}

fn port(uri: &Uri) -> Option<u16> {
    uri.port_u16().or_else(|| match uri.scheme() {
        Some(scheme) if *scheme == Scheme::HTTPS => Some(443),
        Some(scheme) if *scheme == Scheme::HTTP => Some(80),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_are_resolved() {
        let base: Uri = "https://example.com/api/mcp?x=1".parse().unwrap();
        for (location, resolved) in [
            ("https://other.example/mcp#top", "https://other.example/mcp"),
            ("//other.example:1/mcp", "https://other.example:1/mcp"),
            ("/mcp/?y=2", "https://example.com/mcp/?y=2"),
            ("mcp/", "https://example.com/api/mcp/"),
            ("?y=2", "https://example.com/api/mcp?y=2"),
            ("?to=http://a/", "https://example.com/api/mcp?to=http://a/"),
        ] {
            let found = resolve(&base, location).unwrap_or_else(|| panic!("{location} leads nowhere"));
            assert_eq!(found.to_string(), resolved);
        }
        assert_eq!(resolve(&base, ""), None);
        assert_eq!(resolve(&base, "http://"), None);
    }

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        let same = |one: &str, other: &str| same_origin(&one.parse().unwrap(), &other.parse().unwrap());
        assert!(same("https://a/x", "https://A:443/y") && same("http://a:80/", "http://a/"));
        assert!(!same("https://a/", "http://a/") && !same("http://a/", "http://a:81/"));
        assert!(!same("http://a/", "http://a.b/"));
    }
}

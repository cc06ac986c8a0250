//! Resolves a URI reference against a base URI, and refuses any result of another origin.

use http::Uri;
use http::uri::{PathAndQuery, Scheme};

/// Why a reference is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OriginError {
    /// It is not a URI of HTTP.
    Invalid,
    /// It is of another origin: another scheme, host or port.
    Foreign,
}

/// Resolves a reference such as a `Location` against `base`, if the result has the origin of `base`: headers for one origin
/// must not get to another.
///
/// The scheme and the authority are always those of `base`, letter by letter, so that no two parsers of a URI can
/// disagree on its origin.
///
/// # Errors
///
/// When the result has another origin, or is not a URI of HTTP.
pub fn within_origin(base: &Uri, reference: &str) -> Result<Uri, OriginError> {
    let reference = reference.trim_ascii().split('#').next().unwrap_or_default();
    // Browsers read a backslash as a slash.
    if reference.is_empty() || !reference.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\') {
        return Err(OriginError::Invalid);
    }
    let path = match absolute(base, reference) {
        Some(absolute) => {
            let absolute: Uri = absolute.parse().map_err(|_| OriginError::Invalid)?;
            if !is_same_origin(base, &absolute) {
                return Err(OriginError::Foreign);
            }
            absolute.path_and_query().map_or("/", PathAndQuery::as_str).to_owned()
        }
        None if reference.starts_with('/') => reference.to_owned(),
        None if reference.starts_with('?') => format!("{}{reference}", base.path()),
        None => {
            let folder = base.path().rsplit_once('/').map_or("", |(folder, _)| folder);
            format!("{folder}/{reference}")
        }
    };
    let mut parts = base.clone().into_parts();
    parts.path_and_query = Some(without_dots(&path).parse().map_err(|_| OriginError::Invalid)?);
    Uri::from_parts(parts).map_err(|_| OriginError::Invalid)
}

/// A reference with a scheme or an authority of its own, with both.
fn absolute(base: &Uri, reference: &str) -> Option<String> {
    if reference.starts_with("//") {
        return Some(format!("{}:{reference}", base.scheme_str().unwrap_or_default()));
    }
    let (scheme, _) = reference.split_once(':')?;
    // A colon further on is part of a path or of a query.
    (!scheme.contains(['/', '?'])).then(|| reference.to_owned())
}

/// A path with its `.` and `..` segments resolved, and its unchanged query.
fn without_dots(path: &str) -> String {
    let (path, query) = path.split_at(path.find('?').unwrap_or(path.len()));
    let mut kept = Vec::new();
    let mut segments = path.trim_start_matches('/').split('/').peekable();
    while let Some(segment) = segments.next() {
        match segment {
            "." | ".." => {
                if segment == ".." {
                    kept.pop();
                }
                if segments.peek().is_none() {
                    kept.push("");
                }
            }
            segment => kept.push(segment),
        }
    }
    format!("/{}{query}", kept.join("/"))
}

/// Whether two URLs are of one origin: scheme, host and port.
pub fn is_same_origin(one: &Uri, other: &Uri) -> bool {
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
    fn references_are_resolved() {
        let base: Uri = "https://example.com/api/sse?x=1".parse().unwrap();
        for (reference, resolved) in [
            ("/messages?sessionId=1", "https://example.com/messages?sessionId=1"),
            ("messages?a=b/../c", "https://example.com/api/messages?a=b/../c"),
            ("?y=2", "https://example.com/api/sse?y=2"),
            (" /m#top\r", "https://example.com/m"),
            ("../m/./n", "https://example.com/m/n"),
            ("../../../m/..", "https://example.com/"),
            ("//EXAMPLE.com:443/m", "https://example.com/m"),
            ("https://user@example.com/m?to=http://a/", "https://example.com/m?to=http://a/"),
            ("/m?to=http://a/", "https://example.com/m?to=http://a/"),
            ("https://example.com", "https://example.com/"),
        ] {
            let found = within_origin(&base, reference).unwrap_or_else(|why| panic!("{reference}: {why:?}"));
            assert_eq!(found.to_string(), resolved, "{reference}");
        }
    }

    #[test]
    fn no_reference_leads_to_another_origin() {
        let base: Uri = "https://example.com/api/sse".parse().unwrap();
        for reference in [
            "http://example.com/m",
            "https://example.com:444/m",
            "//evil.example/m",
            "https://example.com.evil/m",
            "https://example.com@evil.example/m",
            "ftp://example.com/m",
        ] {
            assert_eq!(within_origin(&base, reference), Err(OriginError::Foreign), "{reference}");
        }
        for reference in [
            "",
            "#",
            "/a b",
            "/\\evil.example/m",
            "https:\\\\evil.example",
            "javascript:alert(1)",
            "/é",
            "https://",
        ] {
            assert!(within_origin(&base, reference).is_err(), "{reference}");
        }
        let local: Uri = "http://127.0.0.1:3000/sse".parse().unwrap();
        assert_eq!(within_origin(&local, "http://localhost:3000/m"), Err(OriginError::Foreign));
        assert!(within_origin(&local, "///evil.example/m").is_err());
    }
}

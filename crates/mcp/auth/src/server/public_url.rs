//! The URL by which clients know the server: from configuration, never from a request.

use http::Uri;
use http::uri::Scheme;

/// The path of the metadata (RFC 9728, section 3).
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// The resource identifier, as it was configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PublicUrl {
    text: String,
    /// The scheme and the authority.
    origin: String,
    /// Empty for the root.
    path: String,
}

/// A URL that cannot identify a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the public URL of a server is `http` or `https`, with a host and without a query, a fragment or a user"
)]
#[non_exhaustive]
pub struct InvalidPublicUrl;

impl PublicUrl {
    pub(crate) fn parse(text: String) -> Result<Self, InvalidPublicUrl> {
        let uri: Uri = text.parse().map_err(|_| InvalidPublicUrl)?;
        let known = uri.scheme().is_some_and(|scheme| *scheme == Scheme::HTTPS || *scheme == Scheme::HTTP);
        let authority = uri.authority().map(|authority| authority.as_str()).ok_or(InvalidPublicUrl)?;
        let quotable = text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\');
        if !known || authority.contains('@') || text.contains(['?', '#']) || !quotable {
            return Err(InvalidPublicUrl);
        }
        let origin = format!("{}://{authority}", uri.scheme_str().unwrap_or_default());
        let path = if uri.path() == "/" { String::new() } else { uri.path().to_owned() };
        Ok(Self { text, origin, path })
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// The URL of another path of the server.
    pub(crate) fn at(&self, path: &str) -> String {
        format!("{}{path}", self.origin)
    }

    /// The paths of the metadata: the one that belongs to the resource, and the root's, where clients look next.
    pub(crate) fn metadata_paths(&self) -> Vec<String> {
        let mut paths = vec![format!("{WELL_KNOWN}{}", self.path)];
        if !self.path.is_empty() {
            paths.push(WELL_KNOWN.to_owned());
        }
        paths
    }

    pub(crate) fn metadata_url(&self) -> String {
        format!("{}{WELL_KNOWN}{}", self.origin, self.path)
    }
}

/// Whether two URLs are the same without their query and fragment: the case of the scheme and the host, a default port and an
/// empty path make no difference.
pub(crate) fn same_url(one: &str, other: &str) -> bool {
    match (normal(one), normal(other)) {
        (Some(one), Some(other)) => one == other,
        _ => false,
    }
}

fn normal(url: &str) -> Option<(String, String, u16, String)> {
    let url = url.split(['?', '#']).next()?;
    let uri: Uri = url.parse().ok()?;
    if uri.authority()?.as_str().contains('@') {
        return None;
    }
    let scheme = uri.scheme_str()?.to_ascii_lowercase();
    let port = uri.port_u16().or(match scheme.as_str() {
        "https" => Some(443),
        "http" => Some(80),
        _ => None,
    })?;
    Some((scheme, uri.host()?.to_ascii_lowercase(), port, uri.path().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_metadata_is_at_the_path_and_at_the_root() {
        let url = |text: &str| PublicUrl::parse(text.to_owned()).unwrap();
        let one = url("https://mcp.example/a/mcp");
        assert_eq!(
            one.metadata_paths(),
            ["/.well-known/oauth-protected-resource/a/mcp", "/.well-known/oauth-protected-resource"]
        );
        assert_eq!(one.metadata_url(), "https://mcp.example/.well-known/oauth-protected-resource/a/mcp");
        for root in ["http://127.0.0.1:8080", "http://127.0.0.1:8080/"] {
            assert_eq!(url(root).metadata_paths(), ["/.well-known/oauth-protected-resource"]);
            assert_eq!(
                url(root).metadata_url(),
                "http://127.0.0.1:8080/.well-known/oauth-protected-resource"
            );
            assert_eq!(url(root).as_str(), root, "the identifier stays as it was written");
        }
    }

    #[test]
    fn other_urls_identify_no_server() {
        for text in [
            "",
            "mcp.example",
            "/mcp",
            "ftp://mcp.example",
            "https://mcp.example/?a",
            "https://mcp.example/#a",
            "https://ann@mcp.example/",
            "https://mcp.example/\"",
            "https://",
        ] {
            assert_eq!(PublicUrl::parse(text.to_owned()), Err(InvalidPublicUrl), "{text}");
        }
    }

    #[test]
    fn urls_are_compared_without_what_means_the_same() {
        for url in ["https://mcp.example/mcp", "HTTPS://MCP.example:443/mcp", "https://mcp.example/mcp?a#b"] {
            assert!(same_url(url, "https://mcp.example/mcp"), "{url}");
        }
        for url in [
            "http://mcp.example/mcp",
            "https://mcp.example/mcp/",
            "https://mcp.example/MCP",
            "https://mcp.example:8443/mcp",
            "https://mcp.example.evil/mcp",
            "https://mcp.example@evil/mcp",
            "/mcp",
            "",
        ] {
            assert!(!same_url(url, "https://mcp.example/mcp"), "{url}");
        }
        assert!(same_url("https://mcp.example", "https://mcp.example/"));
    }
}

//! Finds the key set of an issuer in its metadata: RFC 8414 and OpenID Connect Discovery.

use serde::Deserialize;

use crate::fetch::{FetchError, Fetcher};

/// The members of the metadata that matter here.
#[derive(Deserialize)]
struct Metadata {
    issuer: String,
    jwks_uri: Option<String>,
}

/// Why the key set of an issuer was not found.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoKeySet {
    #[error(transparent)]
    Fetch(#[from] FetchError),
    #[error("the metadata at `{url}` is of the issuer `{}`, and not of `{issuer}`", agentwire_jsonrpc::Printable::one_line(.found))]
    OtherIssuer { url: String, issuer: String, found: String },
    #[error("the metadata at `{url}` names no key set (`jwks_uri`)")]
    NoUri { url: String },
}

/// The URL of the key set, from the first metadata document that exists.
pub(crate) async fn jwks_uri(issuer: &str, fetcher: &Fetcher) -> Result<String, NoKeySet> {
    let mut error_to_report: Option<FetchError> = None;
    for url in metadata_urls(issuer) {
        let metadata: Metadata = match fetcher.get_json(&url).await {
            Ok(metadata) => metadata,
            Err(error) => {
                // A document that cannot be read is a more useful report than a missing one.
                let is_better = error_to_report
                    .as_ref()
                    .is_none_or(|first| first.is_absence() && matches!(error, FetchError::Invalid { .. }));
                if is_better {
                    error_to_report = Some(error);
                }
                continue;
            }
        };
        // Exactly: another spelling is another issuer (RFC 8414, section 3.3).
        if metadata.issuer != issuer {
            let (issuer, found) = (issuer.to_owned(), metadata.issuer);
            return Err(NoKeySet::OtherIssuer { url, issuer, found });
        }
        return metadata.jwks_uri.ok_or(NoKeySet::NoUri { url });
    }
    let none =
        || FetchError::Refused { url: issuer.to_owned(), why: "it is not a URL with a host".to_owned() };
    Err(error_to_report.unwrap_or_else(none).into())
}

/// The URLs where the metadata of an issuer may be, in the order of MCP's specification.
fn metadata_urls(issuer: &str) -> Vec<String> {
    let Some((scheme, rest)) = issuer.split_once("://") else { return Vec::new() };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let path = path.trim_end_matches('/');
    let origin = format!("{scheme}://{host}");
    let mut urls = vec![
        format!("{origin}/.well-known/oauth-authorization-server{path}"),
        format!("{origin}/.well-known/openid-configuration{path}"),
    ];
    if !path.is_empty() {
        urls.push(format!("{origin}{path}/.well-known/openid-configuration"));
    }
    urls
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_urls_are_those_of_the_specification() {
        let at = |path: &str| format!("https://login.example{path}");
        for root in ["https://login.example", "https://login.example/"] {
            let expected =
                [at("/.well-known/oauth-authorization-server"), at("/.well-known/openid-configuration")];
            assert_eq!(metadata_urls(root), expected);
        }
        assert_eq!(
            metadata_urls("https://login.example/realms/a"),
            [
                at("/.well-known/oauth-authorization-server/realms/a"),
                at("/.well-known/openid-configuration/realms/a"),
                at("/realms/a/.well-known/openid-configuration"),
            ]
        );
        assert!(metadata_urls("login.example").is_empty());
    }
}

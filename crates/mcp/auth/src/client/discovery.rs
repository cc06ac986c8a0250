//! Finds out who issues tokens for a server: the metadata of the resource, then that of its authorization server.

pub(crate) mod challenge;
pub(crate) mod documents;
pub(crate) mod origin;

use agentwire_transport_http::runtime::client::is_same_origin;
use http::Uri;

use crate::client::config::{AuthConfig, ResourceParameter};
use crate::client::discovery::challenge::Challenge;
use crate::client::discovery::documents::{ResourceMetadata, ServerMetadata};
use crate::client::discovery::origin::{origin, resource};
use crate::client::{AuthError, Remedy};
use crate::fetch::{FetchError, Fetcher};

const RESOURCE: &str = "/.well-known/oauth-protected-resource";
const OAUTH: &str = "/.well-known/oauth-authorization-server";
const OPENID: &str = "/.well-known/openid-configuration";

/// The known facts about a server and its authorization server.
#[derive(Clone, Debug)]
pub(crate) struct Discovered {
    /// The resource as its metadata spells it; without metadata, the server's URL.
    pub(crate) resource: String,
    /// The authorization server, as the resource spells it.
    pub(crate) issuer: String,
    pub(crate) server: ServerMetadata,
    pub(crate) scopes_supported: Option<Vec<String>>,
    /// Whether the resource takes only tokens that are bound to a key.
    pub(crate) dpop_required: bool,
    /// Whether there is no metadata at all, so that the endpoints are those of 2025-03-26, which may not exist.
    pub(crate) is_assumed: bool,
}

impl Discovered {
    /// The error for an assumed endpoint that does not exist: the server takes tokens from another source.
    pub(crate) fn without_authorization_server(&self, why: &AuthError) -> AuthError {
        let problem = format!(
            "{} asks for a token and names no authorization server; {why}, where one without metadata has it",
            self.resource
        );
        AuthError::misconfigured(problem).with_remedy(Remedy::Token)
    }
}

/// Asks for both documents.
pub(crate) async fn discover(
    fetcher: &Fetcher,
    server: &Uri,
    challenge: Option<&Challenge>,
    config: &AuthConfig,
) -> Result<Discovered, AuthError> {
    let Some((place, metadata)) = resource_metadata(fetcher, server, challenge).await? else {
        return without_metadata(fetcher, server, config).await;
    };
    let resource = match (&config.resource, metadata.resource) {
        (ResourceParameter::Replace(resource), _) => resource.clone(),
        (_, Some(resource)) if covers(&resource, server) => resource,
        (_, resource) => {
            let problem = format!("{place} describes another resource");
            let error = AuthError::differs(problem, server.to_string(), resource.unwrap_or_default());
            return Err(error.with_remedy(Remedy::Resource));
        }
    };
    let issuer = match &config.authorization_server {
        Some(issuer) => issuer.clone(),
        None => {
            let named = config.client.as_ref().and_then(|client| client.issuer.as_deref());
            chosen(&place, metadata.authorization_servers, named)?
        }
    };
    let server = server_metadata(fetcher, &issuer).await?;
    Ok(Discovered {
        resource,
        issuer,
        server,
        scopes_supported: metadata.scopes_supported,
        dpop_required: metadata.dpop_bound_access_tokens_required,
        is_assumed: false,
    })
}

/// The authorization server to use: the one that the user has named, or else the first.
fn chosen(place: &str, offered: Vec<String>, named: Option<&str>) -> Result<String, AuthError> {
    let Some(named) = named else {
        let problem = || {
            let problem = format!("{place} names no authorization server");
            AuthError::misconfigured(problem).with_remedy(Remedy::AuthorizationServer)
        };
        return offered.into_iter().next().ok_or_else(problem);
    };
    if offered.iter().any(|issuer| issuer == named) {
        return Ok(named.to_owned());
    }
    let problem = format!("{place} does not name the authorization server of the registered client");
    Err(AuthError::differs(problem, named, offered.join(" ")).with_remedy(Remedy::AuthorizationServer))
}

/// The metadata of the resource, and its URL. `None` if the server has none, as before 2025-06-18. A document that
/// cannot be read is an error if there is no other.
async fn resource_metadata(
    fetcher: &Fetcher,
    server: &Uri,
    challenge: Option<&Challenge>,
) -> Result<Option<(String, ResourceMetadata)>, AuthError> {
    let origin = origin(server);
    let path = server.path().trim_end_matches('/');
    let mut places: Vec<String> = Vec::new();
    places.extend(challenge.and_then(|challenge| challenge.resource_metadata.clone()));
    if !path.is_empty() {
        places.push(format!("{origin}{RESOURCE}{path}"));
    }
    places.push(format!("{origin}{RESOURCE}"));
    let mut unreadable = None;
    for place in places {
        match fetcher.get_json(&place).await {
            Ok(metadata) => return Ok(Some((place, metadata))),
            Err(error) if error.is_absence() => {}
            Err(error @ FetchError::Invalid { .. }) => {
                unreadable.get_or_insert(error);
            }
            Err(error) => return Err(failed("the metadata of the resource", error)),
        }
    }
    unreadable.map_or(Ok(None), |error| Err(failed("the metadata of the resource", error)))
}

/// As 2025-03-26 has it: the server's origin is the authorization server, and without metadata its endpoints have default paths. That
/// revision does not say which issuer the metadata has, so it may be any of the server's own origin.
async fn without_metadata(
    fetcher: &Fetcher,
    server: &Uri,
    config: &AuthConfig,
) -> Result<Discovered, AuthError> {
    if let Some(issuer) = config.authorization_server.clone() {
        let (resource, metadata) = (resource(server), server_metadata(fetcher, &issuer).await?);
        return Ok(Discovered {
            resource,
            issuer,
            server: metadata,
            scopes_supported: None,
            dpop_required: false,
            is_assumed: false,
        });
    }
    let (base, resource) = (origin(server), resource(server));
    let is_own = |issuer: &str| issuer.parse().is_ok_and(|issuer| is_same_origin(server, &issuer));
    let found = find_metadata(fetcher, &base, is_own, &[format!("{base}{OAUTH}")]).await?;
    let is_assumed = found.is_err();
    let server = match found {
        Ok(metadata) => metadata,
        Err(_) => ServerMetadata {
            issuer: base.clone(),
            authorization_endpoint: Some(format!("{base}/authorize")),
            token_endpoint: Some(format!("{base}/token")),
            registration_endpoint: Some(format!("{base}/register")),
            code_challenge_methods_supported: Some(vec!["S256".to_owned()]),
            ..ServerMetadata::default()
        },
    };
    let issuer = server.issuer.clone();
    Ok(Discovered { resource, issuer, server, scopes_supported: None, dpop_required: false, is_assumed })
}

/// The metadata of an authorization server, whose `issuer` is the one that was asked for, letter by letter.
pub(crate) async fn server_metadata(fetcher: &Fetcher, issuer: &str) -> Result<ServerMetadata, AuthError> {
    let invalid =
        || AuthError::misconfigured(format!("`{issuer}` is not the URL of an authorization server"));
    let uri: Uri = issuer.parse().map_err(|_| invalid())?;
    if uri.query().is_some() || uri.host().is_none() || uri.scheme().is_none() {
        return Err(invalid());
    }
    let places = metadata_places(&uri);
    let found = find_metadata(fetcher, issuer, |found| found == issuer, &places).await?;
    found.map_err(|absent| {
        let problem = "the authorization server has no metadata at the places that the specification names";
        let answers: Vec<String> = absent.iter().map(ToString::to_string).collect();
        let error = AuthError::misconfigured(format!("{problem}: {}", answers.join("; ")));
        error.with_remedy(Remedy::AuthorizationServer)
    })
}

/// The places of the metadata in the order in which they are tried.
fn metadata_places(issuer: &Uri) -> Vec<String> {
    let origin = origin(issuer);
    let path = issuer.path().trim_end_matches('/');
    if path.is_empty() {
        return vec![format!("{origin}{OAUTH}"), format!("{origin}{OPENID}")];
    }
    vec![
        format!("{origin}{OAUTH}{path}"),
        format!("{origin}{OPENID}{path}"),
        format!("{origin}{path}{OPENID}"),
    ]
}

/// Returns the first metadata of this issuer, or the answers of the places, none of which has it. A document that cannot
/// be read is an error if there is no other.
async fn find_metadata(
    fetcher: &Fetcher,
    issuer: &str,
    is_issuer: impl Fn(&str) -> bool,
    places: &[String],
) -> Result<Result<ServerMetadata, Vec<FetchError>>, AuthError> {
    const STEP: &str = "the metadata of the authorization server";
    let (mut fault, mut absent) = (None, Vec::new());
    for place in places {
        match fetcher.get_json::<ServerMetadata>(place).await {
            Ok(metadata) if is_issuer(&metadata.issuer) => return Ok(Ok(metadata)),
            Ok(metadata) => {
                let problem = format!("the metadata at {place} is of another issuer");
                let error = AuthError::differs(problem, issuer, metadata.issuer);
                fault.get_or_insert(error.with_remedy(Remedy::AuthorizationServer));
            }
            Err(error) if error.is_absence() => absent.push(error),
            Err(error @ FetchError::Invalid { .. }) => {
                fault.get_or_insert(failed(STEP, error));
            }
            Err(error) => return Err(failed(STEP, error)),
        }
    }
    fault.map_or(Ok(Err(absent)), Err)
}

/// An error of the client for a request that failed.
pub(crate) fn failed(step: &'static str, error: FetchError) -> AuthError {
    if error.is_transient() {
        AuthError::transient(step, error)
    } else {
        AuthError::misconfigured(format!("{step}: {error}"))
    }
}

/// Whether a resource is the server, or a part of its origin that the server belongs to.
fn covers(resource: &str, server: &Uri) -> bool {
    let Ok(uri) = resource.parse::<Uri>() else { return false };
    if uri.query().is_some_and(|query| server.query() != Some(query)) || resource.contains('#') {
        return false;
    }
    if !is_same_origin(server, &uri) {
        return false;
    }
    let path = uri.path().trim_end_matches('/');
    let rest = server.path().strip_prefix(path);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_covers_what_is_below_it() {
        let server: Uri = "https://a.example/x/mcp".parse().unwrap();
        for resource in [
            "https://a.example/x/mcp",
            "https://a.example/x/",
            "https://a.example",
            "https://A.EXAMPLE:443/x/mcp/",
        ] {
            assert!(covers(resource, &server), "{resource}");
        }
        for resource in [
            "https://b.example/x/mcp",
            "http://a.example/x/mcp",
            "https://a.example/x/m",
            "https://a.example/x/mcp/y",
            "https://a.example.evil/x/mcp",
            "https://a.example:444/x/mcp",
            "https://a.example/x/mcp#a",
            "https://a.example/x/mcp?a",
            "api://app",
            "",
        ] {
            assert!(!covers(resource, &server), "{resource}");
        }
    }

    #[test]
    fn metadata_has_its_places() {
        let of = |issuer: &str| metadata_places(&issuer.parse().unwrap());
        assert_eq!(
            of("https://a.example"),
            [
                "https://a.example/.well-known/oauth-authorization-server",
                "https://a.example/.well-known/openid-configuration"
            ]
        );
        assert_eq!(
            of("https://a.example/t/1/"),
            [
                "https://a.example/.well-known/oauth-authorization-server/t/1",
                "https://a.example/.well-known/openid-configuration/t/1",
                "https://a.example/t/1/.well-known/openid-configuration"
            ]
        );
    }
}

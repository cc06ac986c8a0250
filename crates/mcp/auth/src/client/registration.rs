//! How a client gets its id at an authorization server, in the order of the specification: registered before, by the URL of its
//! metadata document, by dynamic registration.

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Uri};

use crate::client::config::AuthConfig;
use crate::client::discovery::challenge;
use crate::client::discovery::documents::{RegistrationAnswer, RegistrationRequest};
use crate::client::discovery::{Discovered, failed};
use crate::client::error::REGISTRATION;
use crate::client::identity::ClientIdentity;
use crate::client::keeper::Keeper;
use crate::client::keeper::records::Registration;
use crate::client::token_endpoint::{read, refused};
use crate::client::{AuthError, Remedy};
use crate::fetch::Fetcher;

/// The client's identity at the authorization server.
pub(crate) async fn identity(
    keeper: &Keeper,
    found: &Discovered,
    scopes: &[String],
) -> Result<ClientIdentity, AuthError> {
    let (config, records) = (&*keeper.config, &keeper.records);
    if let Some(client) = &config.client {
        config.bind(&found.issuer)?;
        return Ok(ClientIdentity { is_kept: config.keep_client, ..client.clone() });
    }
    if let Some(url) = &config.metadata_url
        && found.server.client_id_metadata_document_supported
    {
        if !is_document_url(url) {
            let problem = "the URL of the client's metadata document must have the scheme `https` and a path";
            return Err(AuthError::differs(problem, "https://host/path", url.clone()));
        }
        return Ok(ClientIdentity::new(url.clone()));
    }
    let redirect_uris = config.redirect_uris();
    let kept = records.registration(&found.issuer, &redirect_uris).await?;
    if let Some(kept) = kept.filter(|kept| kept.serves(scopes, &redirect_uris)) {
        return Ok(kept.identity(&found.issuer));
    }
    let Some(endpoint) = &found.server.registration_endpoint else {
        let problem = format!("{} registers no clients: register one there and set its id", found.issuer);
        return Err(AuthError::misconfigured(problem).with_remedy(Remedy::Client));
    };
    let registered = register(config, keeper.fetcher().await, found, endpoint, scopes, redirect_uris).await;
    let registration = registered.map_err(|error| match error {
        AuthError::Transient { .. } => error,
        _ if found.is_assumed => found.without_authorization_server(&error),
        _ => error,
    })?;
    let redirect_uris = &registration.redirect_uris;
    let kept = records.keep_registration(&found.issuer, redirect_uris, Some(&registration)).await;
    keeper.warn_unless_kept("the client's registration", kept);
    Ok(registration.identity(&found.issuer))
}

async fn register(
    config: &AuthConfig,
    fetcher: &Fetcher,
    found: &Discovered,
    endpoint: &str,
    scopes: &[String],
    redirect_uris: Vec<String>,
) -> Result<Registration, AuthError> {
    let scope = (!scopes.is_empty()).then(|| scopes.join(" "));
    let body = RegistrationRequest {
        client_name: &config.client_name,
        client_uri: config.client_uri.as_deref(),
        redirect_uris: &redirect_uris,
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: method(found.server.token_endpoint_auth_methods_supported.as_deref()),
        application_type: application_type(&redirect_uris),
        scope,
    };
    let body = serde_json::to_vec(&body).map_err(|error| AuthError::misconfigured(error.to_string()))?;
    let mut request = Request::new(Bytes::from(body));
    *request.method_mut() = Method::POST;
    let invalid =
        |_| AuthError::misconfigured(format!("the registration endpoint `{endpoint}` is not a URL"));
    *request.uri_mut() = endpoint.parse::<Uri>().map_err(invalid)?;
    request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    request.headers_mut().insert(ACCEPT, HeaderValue::from_static("application/json"));
    let answer = fetcher.send(request).await.map_err(|error| failed(REGISTRATION, error))?;
    if !answer.status.is_success() {
        return Err(refused(REGISTRATION, &answer, &[]));
    }
    let answer: RegistrationAnswer = read(REGISTRATION, endpoint, &answer)?;
    Ok(Registration {
        client_id: answer.client_id,
        client_secret: answer.client_secret,
        expires_at: answer.client_secret_expires_at,
        method: answer.token_endpoint_auth_method,
        scopes: answer.scope.as_deref().map(challenge::words).or_else(|| Some(scopes.to_vec())),
        redirect_uris,
    })
}

/// How to ask to authenticate: not at all where that is allowed, because what is installed keeps no secret.
fn method(supported: Option<&[String]>) -> &'static str {
    let has = |method: &str| supported.is_none_or(|all| all.iter().any(|known| known == method));
    ["none", "client_secret_basic", "client_secret_post"]
        .into_iter()
        .find(|method| has(method))
        .unwrap_or("none")
}

/// Whether a URL can be the id of a client: `https`, with a path, and nothing that two readers could read in two ways.
fn is_document_url(url: &str) -> bool {
    let Ok(uri) = url.parse::<Uri>() else { return false };
    let has_user = uri.authority().is_some_and(|authority| authority.as_str().contains('@'));
    uri.scheme_str() == Some("https") && uri.path().len() > 1 && !has_user && !url.contains('#')
}

/// `web` only where each redirect goes to a page on the network.
fn application_type(redirect_uris: &[String]) -> &'static str {
    let is_web = |uri: &String| {
        let uri = uri.parse::<Uri>().ok();
        uri.is_some_and(|uri| {
            uri.scheme_str() == Some("https") && !uri.host().is_some_and(crate::address::is_loopback_host)
        })
    };
    if !redirect_uris.is_empty() && redirect_uris.iter().all(is_web) { "web" } else { "native" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_of_a_document_has_https_and_a_path() {
        assert!(is_document_url("https://a.example/client.json"));
        for url in [
            "https://a.example",
            "https://a.example/",
            "http://a.example/c",
            "client",
            "https://u@a.example/c",
        ] {
            assert!(!is_document_url(url), "{url}");
        }
    }

    #[test]
    fn the_type_follows_the_redirects() {
        let of = |uris: &[&str]| application_type(&uris.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(of(&["http://127.0.0.1/callback"]), "native");
        assert_eq!(of(&["https://localhost/callback"]), "native");
        assert_eq!(of(&["my-app:/callback"]), "native");
        assert_eq!(of(&["https://app.example/callback"]), "web");
        assert_eq!(of(&["https://app.example/callback", "http://localhost/callback"]), "native");
        assert_eq!(of(&[]), "native");
    }
}

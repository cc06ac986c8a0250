//! The authorization code grant: PKCE, `state`, `iss` and `resource`, by OAuth 2.1, RFC 9207 and RFC 8707.

use std::sync::Arc;

use http::Uri;

use crate::client::config::AuthConfig;
use crate::client::discovery::Discovered;
use crate::client::discovery::origin::without_query;
use crate::client::identity::ClientIdentity;
use crate::client::token_endpoint::Form;
use crate::client::user_agent::{LoginError, RedirectListener, UserAgent};
use crate::client::{AuthError, Remedy};
use crate::jose::{KeyError, random_base64url, sha256_base64url};
use crate::{AddressPolicy, Secret};

/// One login. The verifier is in memory alone.
pub(crate) struct CodeFlow {
    listener: Box<dyn RedirectListener>,
    url: Uri,
    redirect_uri: String,
    state: Secret,
    verifier: Secret,
    issuer: String,
    iss_supported: bool,
}

/// The parameters of a login.
pub(crate) struct LoginRequest<'a> {
    pub(crate) found: &'a Discovered,
    pub(crate) client: &'a ClientIdentity,
    pub(crate) scopes: &'a [String],
    /// The parameter `resource`, if it is sent.
    pub(crate) resource: Option<&'a str>,
    pub(crate) policy: &'a AddressPolicy,
    pub(crate) config: &'a AuthConfig,
}

impl LoginRequest<'_> {
    /// The URL to send the person to.
    fn url(&self, redirect_uri: &str, state: &str, challenge: &str) -> Result<Uri, AuthError> {
        let endpoint = self.found.server.authorization_endpoint.as_deref();
        let missing =
            || AuthError::misconfigured(format!("{} has no authorization endpoint", self.found.issuer));
        let endpoint = endpoint.ok_or_else(missing)?;
        let mut query = vec![
            ("response_type", "code"),
            ("client_id", &self.client.id),
            ("redirect_uri", redirect_uri),
            ("state", state),
            ("code_challenge", challenge),
            ("code_challenge_method", "S256"),
        ];
        let scopes = self.scopes.join(" ");
        query.extend((!scopes.is_empty()).then_some(("scope", &*scopes)));
        query.extend(self.resource.map(|resource| ("resource", resource)));
        let own = self.config.parameters.iter().map(|(name, value)| (&**name, &**value));
        for (name, value) in own {
            if !query.iter().any(|(known, _)| *known == name) {
                query.push((name, value));
            }
        }
        let is_offline = self.scopes.iter().any(|scope| scope == "offline_access");
        if is_offline && !query.iter().any(|(name, _)| *name == "prompt") {
            // OpenID Connect Core 1.0, section 11: without this prompt, servers ignore the scope and issue no refresh token.
            query.push(("prompt", "consent"));
        }
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(query).finish();
        let separator = if endpoint.contains('?') { '&' } else { '?' };
        let no_url = |_| AuthError::differs("the authorization endpoint cannot be opened", "a URL", endpoint);
        format!("{endpoint}{separator}{query}").parse().map_err(no_url)
    }
}

impl CodeFlow {
    /// Checks what the authorization server supports, and opens the listener. The browser is not opened yet.
    pub(crate) async fn begin(
        request: &LoginRequest<'_>,
        agent: &Arc<dyn UserAgent>,
    ) -> Result<Self, AuthError> {
        let server = &request.found.server;
        let methods = server.code_challenge_methods_supported.as_deref();
        let assumed = methods.is_none() && request.config.assume_pkce;
        if !assumed && !methods.is_some_and(|methods| methods.iter().any(|method| method == "S256")) {
            let problem = format!("{} does not support PKCE with S256", request.found.issuer);
            let found = methods.map_or("no code_challenge_methods_supported".to_owned(), |all| all.join(" "));
            let error = AuthError::differs(problem, "S256", found);
            return Err(if methods.is_none() { error.with_remedy(Remedy::AssumePkce) } else { error });
        }
        let random = |bytes| random_base64url(bytes).map_err(no_random);
        let (state, verifier) = (random(32)?, random(32)?);
        let listener = agent.listen().await.map_err(unavailable)?;
        let redirect_uri = listener.redirect_uri();
        let url = request.url(&redirect_uri, &state, &sha256_base64url(verifier.as_bytes()))?;
        let refused = |why| {
            let expected = format!("a URL that may be opened; {why}");
            AuthError::differs("the authorization endpoint cannot be opened", expected, without_query(&url))
        };
        request.policy.check(&url).await.map_err(refused)?;
        Ok(Self {
            listener,
            url,
            redirect_uri,
            state: state.into(),
            verifier: verifier.into(),
            issuer: request.found.issuer.clone(),
            iss_supported: server.authorization_response_iss_parameter_supported,
        })
    }

    /// Sends a person to the authorization server, and returns the request that exchanges the code for a token.
    pub(crate) async fn finish(self) -> Result<Form, AuthError> {
        let state = self.state.expose().to_owned();
        let query = self.listener.authorize(self.url, state).await.map_err(unavailable)?;
        let code = redirected(&query, self.state.expose(), &self.issuer, self.iss_supported)?;
        Ok(vec![
            ("grant_type", "authorization_code".to_owned()),
            ("code", code),
            ("redirect_uri", self.redirect_uri),
            ("code_verifier", self.verifier.expose().to_owned()),
        ])
    }
}

/// The code in the query of a redirect. The issuer is checked first: nothing of another's answer is used or shown.
fn redirected(query: &str, state: &str, issuer: &str, iss_supported: bool) -> Result<String, AuthError> {
    const STEP: &str = "the login";
    let mut found = Redirect::default();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        let place = match &*name {
            "code" => &mut found.code,
            "state" => &mut found.state,
            "iss" => &mut found.iss,
            "error" => &mut found.error,
            "error_description" => &mut found.description,
            _ => continue,
        };
        if place.replace(value.into_owned()).is_some() {
            return Err(AuthError::misconfigured(format!("the redirect has more than one `{name}`")));
        }
    }
    let expected = Secret::from(state);
    if found.state.as_deref().map(Secret::from) != Some(expected) {
        return Err(AuthError::misconfigured("the redirect has another `state` than the request"));
    }
    match found.iss {
        Some(iss) if iss != issuer => {
            let problem = "the redirect is of another authorization server than the request; tell its operator that `iss` \
                           must be the `issuer` of its metadata, letter by letter";
            return Err(AuthError::differs(problem, issuer, iss));
        }
        None if iss_supported => {
            let problem =
                "the redirect lacks the `iss` that the authorization server promises in its metadata";
            return Err(AuthError::misconfigured(problem));
        }
        _ => {}
    }
    match (found.error, found.code) {
        (Some(error), _) => Err(AuthError::rejected(STEP, Some(error), found.description)),
        (None, Some(code)) => Ok(code),
        (None, None) => Err(AuthError::misconfigured("the redirect has neither a code nor an error")),
    }
}

#[derive(Default)]
struct Redirect {
    code: Option<String>,
    state: Option<String>,
    iss: Option<String>,
    error: Option<String>,
    description: Option<String>,
}

fn unavailable(error: LoginError) -> AuthError {
    AuthError::transient("the login", error)
}

fn no_random(error: KeyError) -> AuthError {
    AuthError::transient("the login", error)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ISSUER: &str = "https://a.example";

    fn code(query: &str, iss_supported: bool) -> Result<String, String> {
        redirected(query, "s", ISSUER, iss_supported).map_err(|error| error.to_string())
    }

    #[test]
    fn the_issuer_is_compared_letter_by_letter() {
        assert_eq!(code("code=c&state=s&iss=https%3A%2F%2Fa.example", true), Ok("c".into()));
        assert_eq!(code("code=c&state=s", false), Ok("c".into()));
        assert!(code("code=c&state=s", true).unwrap_err().contains("lacks the `iss`"));
        for iss in
            ["https://a.example/", "https://A.example", "https://a.example:443", "https://evil.example", ""]
        {
            for supported in [true, false] {
                let refused = code(&format!("code=c&state=s&iss={iss}"), supported).unwrap_err();
                assert!(refused.contains(&format!("expected `{ISSUER}`, found `{iss}`")), "{refused}");
            }
        }
    }

    #[test]
    fn nothing_of_another_issuer_is_shown() {
        let refused =
            code("error=evil&error_description=call+me&state=s&iss=https://evil.example", true).unwrap_err();
        assert!(!refused.contains("call me"), "{refused}");
        let refused = code("error=access_denied&error_description=no&state=s&iss=https://a.example", true);
        assert_eq!(refused.unwrap_err(), "the login was refused: access_denied: no");
    }

    #[test]
    fn a_redirect_belongs_to_its_request() {
        assert!(code("code=c&state=t", false).unwrap_err().contains("`state`"));
        assert!(code("code=c", false).unwrap_err().contains("`state`"));
        assert!(code("code=c&code=d&state=s", false).unwrap_err().contains("more than one `code`"));
        assert!(code("state=s", false).unwrap_err().contains("neither"));
    }
}

//! Requests to a token endpoint: RFC 6749, section 3.2, with the client's authentication and its proof of possession.

use std::collections::HashSet;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, StatusCode, Uri};
use serde::de::DeserializeOwned;

use crate::Secret;
use crate::client::discovery::documents::{ErrorAnswer, ServerMetadata, TokenAnswer};
use crate::client::discovery::failed;
use crate::client::dpop::{DPOP, DpopKey};
use crate::client::error::REGISTRATION;
use crate::client::identity::{ClientIdentity, ClientProof};
use crate::client::{AuthError, Remedy};
use crate::fetch::{Fetched, Fetcher, is_transient, read_json};

/// The parameters of a request.
pub(crate) type Form = Vec<(&'static str, String)>;

/// A token endpoint and who asks there.
pub(crate) struct TokenEndpoint<'a> {
    pub(crate) fetcher: &'a Fetcher,
    pub(crate) url: &'a str,
    /// The authorization server, to which assertions are addressed.
    pub(crate) issuer: &'a str,
    /// How clients may authenticate; `None` if its metadata does not say.
    pub(crate) methods: Option<&'a [String]>,
    pub(crate) client: &'a ClientIdentity,
    pub(crate) dpop: Option<&'a DpopKey>,
}

impl<'a> TokenEndpoint<'a> {
    /// The token endpoint of an authorization server.
    pub(crate) fn of(
        fetcher: &'a Fetcher,
        server: &'a ServerMetadata,
        client: &'a ClientIdentity,
        dpop: Option<&'a DpopKey>,
    ) -> Result<Self, AuthError> {
        let missing = || AuthError::misconfigured(format!("{} has no token endpoint", server.issuer));
        let url = server.token_endpoint.as_deref().ok_or_else(missing)?;
        let methods = server.token_endpoint_auth_methods_supported.as_deref();
        Ok(Self { fetcher, url, issuer: &server.issuer, methods, client, dpop })
    }

    /// Asks for a token. `step` names the request in errors.
    pub(crate) async fn request(&self, step: &'static str, form: Form) -> Result<TokenAnswer, AuthError> {
        let answer = self.post(step, form).await?;
        let answer: TokenAnswer = read(step, self.url, &answer)?;
        if answer.access_token.expose().is_empty() {
            return Err(AuthError::misconfigured(format!("{step}: {} gave an empty token", self.url)));
        }
        // RFC 6749, appendix A.12. Nothing else has a place in a header, so it must not replace a token that has.
        if !answer.access_token.expose().bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            let problem = format!("{step}: {} gave a token that cannot be the value of a header", self.url);
            return Err(AuthError::misconfigured(problem));
        }
        Ok(answer)
    }

    /// Sends a form, and returns the answer if its status is 2xx.
    pub(crate) async fn post(&self, step: &'static str, form: Form) -> Result<Fetched, AuthError> {
        let (mut answer, mut secrets) = self.send(step, form.clone()).await?;
        if self.wants_nonce(&answer) {
            (answer, secrets) = self.send(step, form).await?;
        }
        // Some products answer errors with 200.
        if answer.status.is_success() && error_of(&answer).error.is_none() {
            return Ok(answer);
        }
        Err(refused(step, &answer, &secrets))
    }

    /// Sends a form. Returns the answer, and what it must not show.
    async fn send(&self, step: &'static str, mut form: Form) -> Result<(Fetched, Vec<Secret>), AuthError> {
        let url: Uri = self.url.parse().map_err(|_| {
            AuthError::misconfigured(format!("{step}: the token endpoint `{}` is not a URL", self.url))
        })?;
        let unsigned = |error: crate::jose::KeyError| AuthError::misconfigured(format!("{step}: {error}"));
        let authorization =
            self.client.authenticate(self.issuer, self.methods, &mut form).map_err(unsigned)?;
        let of_form = form.iter().filter(|(name, _)| is_secret(name)).map(|(_, value)| Secret::new(value));
        let mut secrets: Vec<Secret> = of_form.collect();
        secrets
            .extend(authorization.as_deref().and_then(|value| value.strip_prefix("Basic ")).map(Secret::new));
        if let ClientProof::Secret(secret) = &self.client.proof {
            secrets.push(secret.clone());
        }
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
        let mut request = Request::new(Bytes::from(body));
        *request.method_mut() = Method::POST;
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        if let Some(authorization) = authorization {
            let invalid = |_| {
                AuthError::misconfigured(format!(
                    "{step}: the client's secret cannot be the value of a header"
                ))
            };
            let mut value = HeaderValue::try_from(authorization).map_err(invalid)?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        if let Some(key) = self.dpop {
            headers.insert(DPOP, key.proof(&Method::POST, &url, None).map_err(unsigned)?);
        }
        *request.uri_mut() = url;
        let answer = self.fetcher.send(request).await.map_err(|error| failed(step, error))?;
        Ok((answer, secrets))
    }

    /// Remembers the nonce of an answer. Returns whether the answer asks for the same request with it.
    fn wants_nonce(&self, answer: &Fetched) -> bool {
        let (Some(key), Ok(url)) = (self.dpop, self.url.parse()) else { return false };
        let is_new = key.remember(&url, &answer.headers);
        is_new && !answer.status.is_success() && error_of(answer).error.as_deref() == Some("use_dpop_nonce")
    }
}

/// The error of OAuth in an answer, where it has one.
fn error_of(answer: &Fetched) -> ErrorAnswer {
    read_json(&answer.body).unwrap_or_default()
}

/// Reads an answer with secrets in it. The error of the parser could show them, so it gives its place alone.
pub(crate) fn read<T: DeserializeOwned>(step: &str, url: &str, answer: &Fetched) -> Result<T, AuthError> {
    read_json(&answer.body).map_err(|error| {
        // A body that is not JSON, such as a page of HTML, has no place to name.
        let place = match error.line() {
            0 => String::new(),
            line => format!(", at line {line}, column {}", error.column()),
        };
        let problem = format!("{step}: the answer of {url} is not what OAuth asks for{place}");
        registered(step, AuthError::misconfigured(problem))
    })
}

/// Adds the remedy to the error of a registration.
fn registered(step: &str, error: AuthError) -> AuthError {
    if step == REGISTRATION { error.with_remedy(Remedy::Client) } else { error }
}

/// Whether a parameter of a request must not be shown, not even where the server repeats it.
fn is_secret(name: &str) -> bool {
    let names = ["assertion", "client_assertion", "client_secret", "code", "code_verifier", "refresh_token"];
    names.contains(&name) || matches!(name, "subject_token" | "token")
}

/// How much of a secret gives it away, in bytes.
const PART: usize = 8;

/// Whether a text has a part of a secret in it, as it is or percent-encoded.
fn reveals(text: &str, secret: &Secret) -> bool {
    let secret = secret.expose().as_bytes();
    if secret.is_empty() {
        return false;
    }
    let length = secret.len().min(PART);
    let parts: HashSet<&[u8]> = secret.windows(length).collect();
    let mut text = text.as_bytes().to_vec();
    loop {
        if text.windows(length).any(|window| parts.contains(window)) {
            return true;
        }
        let decoded = percent_decoded(&text);
        if decoded.len() == text.len() {
            return false;
        }
        text = decoded;
    }
}

fn percent_decoded(text: &[u8]) -> Vec<u8> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, after @ ..] = rest {
        let encoded = match after {
            [high, low, left @ ..] if *first == b'%' => digit(high).zip(digit(low)).map(|byte| (byte, left)),
            _ => None,
        };
        match encoded {
            Some(((high, low), left)) => {
                decoded.push(high << 4 | low);
                rest = left;
            }
            None => {
                decoded.push(*first);
                rest = after;
            }
        }
    }
    decoded
}

/// The error for an answer that is not 2xx. A text of the server that repeats one of these secrets is left out.
pub(crate) fn refused(step: &'static str, answer: &Fetched, secrets: &[Secret]) -> AuthError {
    let ErrorAnswer { error, error_description } = error_of(answer);
    let is_busy = matches!(error.as_deref(), Some("temporarily_unavailable" | "server_error"));
    if is_busy || is_transient(answer.status) {
        return AuthError::transient(step, format!("HTTP status {}", answer.status));
    }
    if error.is_none() && answer.status == StatusCode::NOT_FOUND {
        return registered(step, AuthError::misconfigured(format!("{step}: HTTP status 404")));
    }
    let without_secrets = |text: String| {
        if secrets.iter().any(|secret| reveals(&text, secret)) { "…".to_owned() } else { text }
    };
    let error = error.unwrap_or_else(|| format!("HTTP status {}", answer.status));
    AuthError::rejected(step, Some(without_secrets(error)), error_description.map(without_secrets))
}

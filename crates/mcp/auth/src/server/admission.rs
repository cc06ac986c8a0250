//! Decides about a request by its head: finds the token, has it checked, and puts its content into the extensions.

use std::sync::Arc;
use std::time::Duration;

use agentwire_mcp_wire::header::{METHOD, NAME, decode_value};
use agentwire_transport_http::server::{Caller, Operation, OperationCheck};
use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode};

use crate::Secret;
use crate::clock::unix_now;
use crate::jose::{Jwt, JwtError};
use crate::server::access_token::claims::check_expiry;
use crate::server::access_token::credentials::{Credentials, DPOP, Scheme};
use crate::server::access_token::{AccessToken, Confirmation};
use crate::server::challenge::Challenger;
use crate::server::dpop::{DpopPolicy, ProvenRequest};
use crate::server::issuer::CheckContext;
use crate::server::rejection::Rejection;
use crate::server::resource_server::{CustomCheck, ResourceServer};

/// The header that brings a client its next nonce.
pub(crate) const DPOP_NONCE: http::HeaderName = http::HeaderName::from_static("dpop-nonce");

/// A request that may go on.
pub(crate) struct AdmittedRequest {
    pub(crate) token: AccessToken,
    scheme: Scheme,
    caller: Caller,
}

impl ResourceServer {
    /// Checks the head of a request. What was found goes into its extensions, and the token out of its headers.
    pub(crate) async fn admit(self: &Arc<Self>, parts: &mut Parts) -> Result<AdmittedRequest, Rejection> {
        let credentials = Credentials::of(&parts.headers, &parts.uri, self.token_limit)?;
        if credentials.scheme == Scheme::Dpop && self.proofs.policy == DpopPolicy::Off {
            return Err(Rejection::Missing);
        }
        let mut token = self.check_token(&credentials.token).await?;
        self.check_possession(parts, &credentials, &token).await?;
        self.check_scopes(&token, &[])?;
        if self.keep_token {
            token = token.with_token(Secret::new(credentials.token));
        }
        parts.headers.remove(AUTHORIZATION);
        parts.headers.remove(DPOP);
        let token = token.for_request(self.scopes.clone());
        parts.extensions.insert(token.principal());
        parts.extensions.insert(token.clone());
        let caller = Caller::of(&parts.extensions);
        let admitted =
            AdmittedRequest { token: token.clone(), scheme: credentials.scheme, caller: caller.clone() };
        let (server, scheme) = (self.clone(), credentials.scheme);
        parts.extensions.insert(OperationCheck::new(move |operations| {
            server.check_scopes(&token, operations).map_err(|rejection| {
                server.observe(&rejection, &caller);
                let needed = server.scopes.needed(operations);
                server.challenger(&server.resource.metadata_url()).denied(scheme, &rejection, &needed)
            })
        }));
        Ok(admitted)
    }

    /// Finds out who can say what a token is, and asks.
    async fn check_token(&self, token: &str) -> Result<AccessToken, Rejection> {
        let jwt = Jwt::parse(token);
        let named = match &jwt {
            Ok(jwt) => jwt.unverified_issuer().map(str::to_owned),
            Err(_) => Jwt::named_issuer(token),
        };
        let named = named.as_deref();
        let context =
            CheckContext { audience: self.resource.as_str(), now: unix_now(), leeway: self.leeway.as_secs() };
        let checked = match self.issuers.iter().find(|issuer| named == Some(issuer.url())) {
            Some(issuer) => issuer.check(token, jwt.as_ref(), &context).await,
            None => self.check_without_issuer(token, &jwt, named, &context).await,
        };
        let checked = checked?;
        check_expiry(checked.expires_at(), context.now, context.leeway)?;
        Ok(checked)
    }

    /// A token that names none of the issuers: one that only its issuer can read, or one for a check of the program's own.
    async fn check_without_issuer(
        &self,
        token: &str,
        jwt: &Result<Jwt, JwtError>,
        named: Option<&str>,
        context: &CheckContext<'_>,
    ) -> Result<AccessToken, Rejection> {
        // A token of another issuer is sent to no endpoint: it would leak.
        let introspections =
            self.issuers.iter().filter(|issuer| named.is_none() && issuer.is_introspection());
        let mut rejection = None;
        for issuer in introspections {
            match issuer.check(token, jwt.as_ref(), context).await {
                Err(why @ Rejection::Unavailable { .. }) => rejection = Some(why),
                // An issuer that could not be asked may know the token.
                Err(why @ Rejection::Inactive) => drop(rejection.get_or_insert(why)),
                checked => return checked,
            }
        }
        if let Some(custom) = &self.custom {
            return match (self.check_custom(&**custom, token).await, rejection) {
                (Err(_), Some(why @ Rejection::Unavailable { .. })) => Err(why),
                (checked, _) => checked,
            };
        }
        Err(rejection.unwrap_or_else(|| match (named, jwt) {
            (None, Err(error)) => error.clone().into(),
            _ => Rejection::Issuer { found: named.map(crate::server::rejection::short) },
        }))
    }

    /// Calls the check of the program's own, and waits for it no longer than is allowed.
    async fn check_custom(&self, custom: &CustomCheck, token: &str) -> Result<AccessToken, Rejection> {
        let limit = self.check_timeout;
        let checked = tokio::time::timeout(limit, custom(Secret::new(token))).await;
        checked.unwrap_or_else(|_| Err(late("the check of the token", limit)))
    }

    /// Checks the proof that the sender has the key of the token, where there has to be one.
    async fn check_possession(
        &self,
        parts: &Parts,
        credentials: &Credentials,
        token: &AccessToken,
    ) -> Result<(), Rejection> {
        let thumbprint = match (credentials.scheme, token.confirmation()) {
            (Scheme::Bearer, None) if self.proofs.policy == DpopPolicy::Require => {
                return Err(Rejection::Unbound);
            }
            (Scheme::Bearer, None) => return Ok(()),
            (Scheme::Dpop, None) => return Err(Rejection::Unbound),
            (Scheme::Bearer, Some(_)) | (_, Some(Confirmation::Unknown)) => return Err(Rejection::Bound),
            (Scheme::Dpop, Some(Confirmation::Key(thumbprint))) => thumbprint,
        };
        let proof = credentials.proof.as_deref().ok_or(Rejection::Proof { why: "there is none" })?;
        let request = ProvenRequest {
            method: &parts.method,
            path: parts.uri.path(),
            resource: &self.resource,
            token: &credentials.token,
            thumbprint,
            caller: &token.principal(),
            now: unix_now(),
            leeway: self.leeway.as_secs(),
        };
        let limit = self.check_timeout;
        let checked = tokio::time::timeout(limit, self.proofs.check(proof, &request)).await;
        checked.unwrap_or_else(|_| Err(late("the store of used proofs", limit)))
    }

    fn check_scopes(&self, token: &AccessToken, operations: &[Operation<'_>]) -> Result<(), Rejection> {
        let needed = self.scopes.needed(operations);
        if self.scopes.covers(token.scopes(), &needed) {
            return Ok(());
        }
        Err(Rejection::InsufficientScope { needed, granted: token.scopes().to_vec() })
    }

    pub(crate) fn challenger<'a>(&self, metadata_url: &'a str) -> Challenger<'a> {
        Challenger { metadata_url, dpop: self.proofs.policy }
    }

    pub(crate) fn observe(&self, rejection: &Rejection, caller: &Caller) {
        if let Some(observer) = &self.observer {
            observer(rejection, caller);
        }
    }

    /// The refusal of a request: its status, headers and body. The scopes are those of the operation that its headers name, as
    /// they do since 2026-07-28, so that a client asks for all of them at once.
    pub(crate) fn refuse(&self, parts: &Parts, rejection: &Rejection) -> (StatusCode, HeaderMap, Bytes) {
        self.observe(rejection, &Caller::of(&parts.extensions));
        let text = |name| parts.headers.get(name).map(HeaderValue::as_bytes);
        let method = text(METHOD).and_then(|method| std::str::from_utf8(method).ok());
        let name = text(NAME).and_then(decode_value);
        let operation = method.map(|method| Operation::new(method, name.as_deref()));
        let needed = self.scopes.needed(operation.as_slice());
        let (status, mut headers, body) =
            self.challenger(&self.resource.metadata_url()).refusal(rejection, &needed);
        headers.extend(self.nonce().map(|nonce| (DPOP_NONCE, nonce)));
        (status, headers, body)
    }

    /// The challenge for what the handler of a request has demanded in vain, with the scopes of the endpoint.
    pub(crate) fn demand(&self, admitted: &AdmittedRequest) -> Option<HeaderValue> {
        let demanded = admitted.token.take_demanded();
        if demanded.is_empty() {
            return None;
        }
        let mut needed = self.scopes.needed(&[]);
        needed.extend(demanded.into_iter().filter(|scope| !needed.contains(scope)).collect::<Vec<_>>());
        let granted = admitted.token.scopes().to_vec();
        let rejection = Rejection::InsufficientScope { needed: needed.clone(), granted };
        self.observe(&rejection, &admitted.caller);
        let url = self.resource.metadata_url();
        Some(self.challenger(&url).challenge(admitted.scheme, &rejection.public_error(), &needed))
    }

    /// The nonce for the next proof, where proofs need one.
    pub(crate) fn nonce(&self) -> Option<HeaderValue> {
        let nonces = self.proofs.nonces.as_ref().filter(|_| self.proofs.policy != DpopPolicy::Off)?;
        HeaderValue::try_from(nonces.current(unix_now())).ok()
    }
}

fn late(what: &'static str, limit: Duration) -> Rejection {
    Rejection::unavailable(what, format!("it takes longer than {limit:?}"))
}

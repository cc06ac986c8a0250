//! The content of an access token: who sends a request, and what the sender may do.

pub(crate) mod claims;
pub(crate) mod credentials;

use std::fmt;
use std::sync::Arc;

use agentwire_sync::Mutex;
use agentwire_transport_http::server::Principal;
use serde_json::{Map, Value, json};

use crate::Secret;
use crate::server::scopes::ScopePolicy;

/// A checked access token, in the extensions of each request that the layer lets through. A handler finds it in the
/// [`Head`](agentwire_transport_http::server::Head) of its request, together with the [`Principal`].
///
/// `Debug` shows the issuer, the subject and the scopes.
#[derive(Clone)]
pub struct AccessToken {
    info: Arc<Info>,
    policy: Option<Arc<ScopePolicy>>,
    /// The scopes that a handler demands beyond those of the operation.
    demanded: Arc<Mutex<Vec<String>>>,
}

#[derive(Clone)]
struct Info {
    issuer: String,
    subject: Option<String>,
    client_id: Option<String>,
    scopes: Vec<String>,
    expires_at: Option<u64>,
    confirmation: Option<Confirmation>,
    claims: Map<String, Value>,
    token: Option<Secret>,
}

/// The binding of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Confirmation {
    /// A key, by its thumbprint.
    Key(String),
    /// Something that this server cannot check.
    Unknown,
}

/// A handler needs more scopes than the token has. The layer turns the response into 403 with a challenge for these scopes, unless
/// the response has begun.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the access token lacks one of the scopes `{}`", .needed.join(" "))]
#[non_exhaustive]
pub struct InsufficientScope {
    /// The scopes that are needed.
    pub needed: Vec<String>,
}

impl AccessToken {
    /// A token of this subject, for a check of your own. The pair of issuer and subject identifies the caller.
    pub fn new(issuer: impl Into<String>, subject: impl Into<String>) -> Self {
        Self::of(issuer.into(), Some(subject.into()), None)
    }

    pub(crate) fn of(issuer: String, subject: Option<String>, client_id: Option<String>) -> Self {
        let info = Info {
            issuer,
            subject,
            client_id,
            scopes: Vec::new(),
            expires_at: None,
            confirmation: None,
            claims: Map::new(),
            token: None,
        };
        Self { info: Arc::new(info), policy: None, demanded: Arc::default() }
    }

    fn change(mut self, change: impl FnOnce(&mut Info)) -> Self {
        change(Arc::make_mut(&mut self.info));
        self
    }

    /// Sets the scopes (default: none).
    #[must_use]
    pub fn with_scopes<S: Into<String>>(self, scopes: impl IntoIterator<Item = S>) -> Self {
        let scopes = scopes.into_iter().map(Into::into).collect();
        self.change(|info| info.scopes = scopes)
    }

    /// Sets the id of the client that the token was issued to (default: unknown).
    #[must_use]
    pub fn with_client_id(self, client_id: impl Into<String>) -> Self {
        let client_id = client_id.into();
        self.change(|info| info.client_id = Some(client_id))
    }

    /// Sets the end of the token, in seconds since 1970 (default: none). The layer checks it.
    #[must_use]
    pub fn with_expiry(self, seconds: u64) -> Self {
        self.change(|info| info.expires_at = Some(seconds))
    }

    /// Sets the thumbprint of the key that the token is bound to, `cnf.jkt` (default: none). The layer then demands a proof.
    #[must_use]
    pub fn with_key_thumbprint(self, thumbprint: impl Into<String>) -> Self {
        self.with_confirmation(Some(Confirmation::Key(thumbprint.into())))
    }

    pub(crate) fn with_confirmation(self, confirmation: Option<Confirmation>) -> Self {
        self.change(|info| info.confirmation = confirmation)
    }

    /// Sets what else is known (default: nothing).
    #[must_use]
    pub fn with_claims(self, claims: Map<String, Value>) -> Self {
        self.change(|info| info.claims = claims)
    }

    pub(crate) fn with_token(self, token: Secret) -> Self {
        self.change(|info| info.token = Some(token))
    }

    /// The same for one request: a demand of its handler is not another's.
    pub(crate) fn for_request(self, policy: Arc<ScopePolicy>) -> Self {
        Self { policy: Some(policy), demanded: Arc::default(), ..self }
    }

    /// Who issued it.
    pub fn issuer(&self) -> &str {
        &self.info.issuer
    }

    /// Whom it is about. None for a client that acts for itself, where the issuer names none.
    pub fn subject(&self) -> Option<&str> {
        self.info.subject.as_deref()
    }

    /// The client that it was issued to, if the issuer names it.
    pub fn client_id(&self) -> Option<&str> {
        self.info.client_id.as_deref()
    }

    /// Its scopes, as the issuer lists them.
    pub fn scopes(&self) -> &[String] {
        &self.info.scopes
    }

    /// When it ends, in seconds since 1970.
    pub fn expires_at(&self) -> Option<u64> {
        self.info.expires_at
    }

    /// All of its content: the claims of the JWT, or the members of the introspection response.
    pub fn claims(&self) -> &Map<String, Value> {
        &self.info.claims
    }

    /// The token itself, for an exchange at the authorization server. None unless
    /// [`keep_token`](crate::server::ResourceServer::keep_token) is set. It is not for any other server.
    pub fn token(&self) -> Option<&Secret> {
        self.info.token.as_ref()
    }

    pub(crate) fn confirmation(&self) -> Option<&Confirmation> {
        self.info.confirmation.as_ref()
    }

    /// The caller's name: the issuer and the subject as JSON, so that no two callers have the same.
    pub fn principal(&self) -> Principal {
        let name = match (&self.info.subject, &self.info.client_id) {
            (Some(subject), _) => json!([self.info.issuer, subject]),
            // A client may choose its name, and so is never a subject of the same name.
            (None, client_id) => json!([self.info.issuer, null, client_id]),
        };
        Principal::new(name.to_string())
    }

    /// Whether it has all of these scopes, by itself or by what broader ones
    /// [imply](crate::server::ResourceServer::scope_implies).
    pub fn has_scopes<S: Into<String>>(&self, scopes: impl IntoIterator<Item = S>) -> bool {
        let needed: Vec<String> = scopes.into_iter().map(Into::into).collect();
        match &self.policy {
            Some(policy) => policy.covers(&self.info.scopes, &needed),
            None => needed.iter().all(|scope| self.info.scopes.contains(scope)),
        }
    }

    /// Demands more scopes for this call than its operation does, such as after a look at the arguments. To be called before
    /// anything else happens in the call, with all scopes that it needs.
    ///
    /// # Errors
    ///
    /// When the token lacks one. The handler returns, and the response becomes 403 with a challenge, so that the client can ask
    /// for more and call again. Where the response has begun as a stream of events, which in a session it does after two polls without an answer,
    /// the client gets only what the handler returns.
    pub fn require<S: Into<String>>(
        &self,
        scopes: impl IntoIterator<Item = S>,
    ) -> Result<(), InsufficientScope> {
        let needed: Vec<String> = scopes.into_iter().map(Into::into).collect();
        if self.has_scopes(needed.iter().cloned()) {
            return Ok(());
        }
        self.demanded.lock().extend(needed.iter().cloned());
        Err(InsufficientScope { needed })
    }

    /// The scopes that the handler of the request has demanded in vain.
    pub(crate) fn take_demanded(&self) -> Vec<String> {
        std::mem::take(&mut *self.demanded.lock())
    }
}

impl fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessToken")
            .field("issuer", &self.info.issuer)
            .field("subject", &self.info.subject)
            .field("client_id", &self.info.client_id)
            .field("scopes", &self.info.scopes)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_callers_have_one_name() {
        let subject = |issuer: &str, subject: &str| AccessToken::new(issuer, subject).principal();
        let client = |id: &str| AccessToken::of("https://a".into(), None, Some(id.into())).principal();
        assert_eq!(
            subject("https://a", "ann"),
            AccessToken::new("https://a", "ann").with_client_id("x").principal()
        );
        let names = [
            subject("https://a", "ann"),
            subject("https://a", "ben"),
            subject("https://b", "ann"),
            subject("https://a\",\"ann", ""),
            subject("https://a", "\",\"ann"),
            client("ann"),
            client("ben"),
            AccessToken::of("https://a".into(), None, None).principal(),
        ];
        for (at, name) in names.iter().enumerate() {
            assert!(!names[..at].contains(name), "{name:?}");
        }
    }

    #[test]
    fn a_demand_is_of_one_request() {
        let token = AccessToken::new("https://a", "ann").with_scopes(["read"]);
        let (one, other) = (token.clone().for_request(Arc::default()), token.for_request(Arc::default()));
        assert_eq!(one.require(["read"]), Ok(()));
        assert_eq!(one.require(["read", "write"]).unwrap_err().needed, ["read", "write"]);
        assert_eq!(
            (one.take_demanded(), other.take_demanded()),
            (vec!["read".into(), "write".into()], vec![])
        );
    }

    #[test]
    fn a_token_is_not_shown() {
        let token = AccessToken::new("https://a", "ann").with_token(Secret::new("hunter2"));
        let token = token.with_claims(json!({ "email": "hunter3" }).as_object().unwrap().clone());
        assert!(!format!("{token:?}").contains("hunter"));
    }
}

//! The records in the store: for each server its authorization server, the tokens, and the registrations.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::Secret;
use crate::client::AuthError;
use crate::client::discovery::challenge;
use crate::client::discovery::documents::TokenAnswer;
use crate::client::dpop::DpopKey;
use crate::client::identity::{ClientIdentity, ClientProof};
use crate::clock::{unix_now, unix_now_millis};
use crate::store::{CredentialStore, StoreError, StoreGuard};

/// Who issues the tokens for a server, and to which client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ServerRecord {
    pub(crate) issuer: String,
    /// The resource as its metadata spells it, which names the tokens.
    pub(crate) resource: String,
    /// The value of `resource`; `None` if it is not sent.
    pub(crate) parameter: Option<String>,
    pub(crate) client_id: String,
    /// All scopes that were asked for, so that a later login asks for no less.
    pub(crate) scopes: Vec<String>,
}

impl ServerRecord {
    /// Whether both name one token.
    pub(crate) fn has_token_of(&self, other: &Self) -> bool {
        (&self.issuer, &self.resource, &self.client_id) == (&other.issuer, &other.resource, &other.client_id)
    }
}

/// A token, and what renews it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct TokenRecord {
    pub(crate) access_token: Secret,
    pub(crate) refresh_token: Option<Secret>,
    /// When it was issued, in milliseconds since 1970.
    pub(crate) issued_at: u64,
    /// When it expires, likewise; `None` if the answer has no `expires_in`.
    pub(crate) expires_at: Option<u64>,
    /// The scopes that it has, as far as that is known.
    pub(crate) scopes: Vec<String>,
    /// The key that it is bound to.
    pub(crate) dpop_key: Option<Secret>,
    /// The secret of the client that it was issued to, and how that is sent: a refresh needs both.
    pub(crate) client_secret: Option<Secret>,
    pub(crate) client_method: Option<String>,
    /// When its last renewal began, in milliseconds since 1970. Writing this tries the store before the refresh token is spent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) renewed_at: Option<u64>,
}

impl TokenRecord {
    /// The record of an answer. What it does not say is as it was asked for, or as it was before. `must_be_bound` refuses a token that
    /// is not bound to the key of a proof.
    pub(crate) fn issued(
        answer: TokenAnswer,
        scopes: &[String],
        client: &ClientIdentity,
        before: Option<&Self>,
        dpop: Option<&DpopKey>,
        must_be_bound: bool,
    ) -> Result<Self, AuthError> {
        let is_bound = must_be_bound && dpop.is_some();
        let dpop_key = match (answer.token_type.as_deref(), dpop) {
            (None, None) => None,
            (None, Some(key)) if is_bound => Some(key.stored()),
            // RFC 9449, section 5: without its binding a token serves a thief.
            (Some(kind), _) if is_bound && kind.eq_ignore_ascii_case("bearer") => {
                let problem = "the token is not bound to the client's key";
                return Err(AuthError::differs(problem, "DPoP", kind));
            }
            (Some(kind), _) if kind.eq_ignore_ascii_case("bearer") => None,
            (Some(kind), Some(key)) if kind.eq_ignore_ascii_case("dpop") => Some(key.stored()),
            (kind, _) => {
                let found = kind.unwrap_or_default().to_owned();
                return Err(AuthError::differs(
                    "the token is of a type that cannot be used",
                    "Bearer",
                    found,
                ));
            }
        };
        let issued_at = unix_now_millis();
        Ok(Self {
            access_token: answer.access_token,
            refresh_token: answer.refresh_token.or_else(|| before?.refresh_token.clone()),
            issued_at,
            expires_at: answer.expires_in.map(|seconds| issued_at + 1000 * seconds),
            scopes: answer.scope.as_deref().map_or_else(|| scopes.to_vec(), challenge::words),
            dpop_key,
            client_secret: match &client.proof {
                ClientProof::Secret(secret) if client.is_kept => Some(secret.clone()),
                _ => None,
            },
            client_method: client.method.clone(),
            renewed_at: None,
        })
    }
}

/// A registration, as it is stored for the next login.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Registration {
    pub(crate) client_id: String,
    pub(crate) client_secret: Option<Secret>,
    /// In seconds since 1970; 0 is never.
    #[serde(default)]
    pub(crate) expires_at: u64,
    pub(crate) method: Option<String>,
    /// The scopes that it was made for; `None` if the server has not limited it.
    pub(crate) scopes: Option<Vec<String>>,
    pub(crate) redirect_uris: Vec<String>,
}

impl Registration {
    /// A client that was registered before, with whatever scopes it asks for. None for one with a key, which is not kept.
    pub(crate) fn of(client: &ClientIdentity, redirect_uris: Vec<String>) -> Option<Self> {
        let client_secret = match &client.proof {
            ClientProof::None => None,
            ClientProof::Secret(secret) => Some(secret.clone()),
            ClientProof::Key { .. } => return None,
        };
        let (client_id, method) = (client.id.clone(), client.method.clone());
        Some(Self { client_id, client_secret, expires_at: 0, method, scopes: None, redirect_uris })
    }

    /// Whether it comes from the settings. It cannot be registered again, so no answer of a server removes it.
    pub(crate) fn is_given(&self) -> bool {
        self.scopes.is_none()
    }

    pub(crate) fn identity(&self, issuer: &str) -> ClientIdentity {
        let proof = self.client_secret.clone().map_or(ClientProof::None, ClientProof::Secret);
        let (id, method) = (self.client_id.clone(), self.method.clone());
        ClientIdentity { id, proof, issuer: Some(issuer.to_owned()), method, is_kept: true }
    }

    /// Whether it can be used for these scopes and redirects.
    pub(crate) fn serves(&self, scopes: &[String], redirect_uris: &[String]) -> bool {
        let has = |scope| self.scopes.as_ref().is_none_or(|all| all.contains(scope));
        let is_valid = self.expires_at == 0 || self.expires_at > unix_now();
        is_valid && self.redirect_uris == redirect_uris && scopes.iter().all(has)
    }
}

/// The last login at a server, for processes that wait for it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LoginRecord {
    /// In milliseconds since 1970; 0 if it has not failed.
    pub(crate) failed_at: u64,
    /// A number that differs from that of the record before, which a killed process may have left. Writing it tries the store
    /// before a client is registered and the person is asked: a store need not write what it has.
    #[serde(default)]
    pub(crate) trial: u64,
}

/// The records of one store.
#[derive(Clone, Debug)]
pub(crate) struct Records {
    store: Arc<dyn CredentialStore>,
}

impl Records {
    pub(crate) fn new(store: Arc<dyn CredentialStore>) -> Self {
        Self { store }
    }

    pub(crate) async fn server(&self, url: &str) -> Result<Option<ServerRecord>, AuthError> {
        self.read(&key(&["server", url])).await
    }

    pub(crate) async fn keep_server(
        &self,
        url: &str,
        record: Option<&ServerRecord>,
    ) -> Result<(), AuthError> {
        self.write(&key(&["server", url]), record).await
    }

    pub(crate) async fn token(&self, server: &ServerRecord) -> Result<Option<TokenRecord>, AuthError> {
        self.read(&token_key(server)).await
    }

    pub(crate) async fn keep_token(
        &self,
        server: &ServerRecord,
        token: Option<&TokenRecord>,
    ) -> Result<(), AuthError> {
        self.write(&token_key(server), token).await
    }

    /// Waits until no other process renews this token.
    pub(crate) async fn lock_token(&self, server: &ServerRecord) -> Result<Box<dyn StoreGuard>, AuthError> {
        Ok(self.store.lock(&token_key(server)).await?)
    }

    /// Waits until no other process logs in at this server.
    pub(crate) async fn lock_login(&self, url: &str) -> Result<Box<dyn StoreGuard>, AuthError> {
        Ok(self.store.lock(&key(&["login", url])).await?)
    }

    pub(crate) async fn login(&self, url: &str) -> Result<Option<LoginRecord>, AuthError> {
        self.read(&key(&["login", url])).await
    }

    pub(crate) async fn keep_login(&self, url: &str, record: Option<&LoginRecord>) -> Result<(), AuthError> {
        self.write(&key(&["login", url]), record).await
    }

    /// The scopes that a request was refused without while no login was possible. The next login asks for them.
    pub(crate) async fn demanded(&self, url: &str) -> Result<Vec<String>, AuthError> {
        Ok(self.read(&key(&["demanded", url])).await?.unwrap_or_default())
    }

    pub(crate) async fn keep_demanded(&self, url: &str, scopes: Option<&[String]>) -> Result<(), AuthError> {
        self.write(&key(&["demanded", url]), scopes).await
    }

    pub(crate) async fn registration(
        &self,
        issuer: &str,
        redirect_uris: &[String],
    ) -> Result<Option<Registration>, AuthError> {
        self.read(&registration_key(issuer, redirect_uris)).await
    }

    pub(crate) async fn keep_registration(
        &self,
        issuer: &str,
        redirect_uris: &[String],
        registration: Option<&Registration>,
    ) -> Result<(), AuthError> {
        self.write(&registration_key(issuer, redirect_uris), registration).await
    }

    async fn read<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, AuthError> {
        let Some(text) = self.store.read(key).await? else { return Ok(None) };
        // A record of a version that this one cannot read is as good as none.
        Ok(agentwire_jsonrpc::read(text.expose()).ok())
    }

    async fn write<T: Serialize + ?Sized>(&self, key: &str, record: Option<&T>) -> Result<(), AuthError> {
        let text = record.map(serde_json::to_string).transpose();
        let text = text.map_err(|error| StoreError::new("cannot encode a record", error))?;
        Ok(self.store.write(key, text.map(Secret::new)).await?)
    }
}

fn token_key(server: &ServerRecord) -> String {
    key(&["token", &server.issuer, &server.resource, &server.client_id])
}

fn registration_key(issuer: &str, redirect_uris: &[String]) -> String {
    key(&["client", issuer, &redirect_uris.join(" ")])
}

/// A key of which no two lists of parts have the same.
fn key(parts: &[&str]) -> String {
    serde_json::Value::from(parts.to_vec()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_token_stays_bound() {
        let key = DpopKey::generate().unwrap();
        let issued = |kind: Option<&str>, must_be_bound| {
            let answer = TokenAnswer {
                access_token: "a".into(),
                token_type: kind.map(ToOwned::to_owned),
                expires_in: None,
                refresh_token: None,
                scope: None,
            };
            let client = ClientIdentity::new("c");
            let record = TokenRecord::issued(answer, &[], &client, None, Some(&key), must_be_bound);
            record.map(|record| record.dpop_key.is_some()).map_err(|error| error.to_string())
        };
        assert_eq!(issued(Some("dpop"), true), Ok(true));
        assert_eq!(issued(None, true), Ok(true));
        assert!(issued(Some("Bearer"), true).unwrap_err().contains("expected `DPoP`, found `Bearer`"));
        assert_eq!(issued(Some("Bearer"), false), Ok(false));
        assert!(issued(None, false).is_err());
    }

    #[test]
    fn a_registration_serves_what_it_was_made_for() {
        let registration = Registration {
            client_id: "a".into(),
            client_secret: None,
            expires_at: 0,
            method: None,
            scopes: Some(vec!["x".into(), "y".into()]),
            redirect_uris: vec!["http://127.0.0.1/callback".into()],
        };
        let uris = registration.redirect_uris.clone();
        assert!(registration.serves(&["y".into()], &uris));
        assert!(!registration.serves(&["z".into()], &uris));
        assert!(!registration.serves(&[], &["http://localhost/callback".into()]));
        assert!(Registration { scopes: None, ..registration.clone() }.serves(&["z".into()], &uris));
        assert!(!Registration { expires_at: 1, ..registration }.serves(&[], &uris));
    }
}

//! Who the client is at an authorization server, and how it proves that.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use crate::Secret;
use crate::clock::unix_now;
use crate::jose::{Algorithm, KeyError, SigningKey, random_base64url};

/// How long an assertion of ours is valid, in seconds.
const ASSERTION_LIFETIME: u64 = 120;

/// A client that is registered at an authorization server.
#[derive(Clone, Debug)]
pub struct ClientIdentity {
    pub(crate) id: String,
    pub(crate) proof: ClientProof,
    pub(crate) issuer: Option<String>,
    /// The method that the registration has set.
    pub(crate) method: Option<String>,
    /// Whether its secret is kept in the store.
    pub(crate) is_kept: bool,
}

/// The proof of the client's identity.
#[derive(Clone)]
pub(crate) enum ClientProof {
    None,
    Secret(Secret),
    Key { key: Arc<SigningKey>, kid: Option<String> },
}

impl fmt::Debug for ClientProof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Secret(_) => "Secret",
            Self::Key { .. } => "Key",
        })
    }
}

/// The way in which a client authenticates at a token endpoint: RFC 7591, section 2, and RFC 7523.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    None,
    Basic,
    Post,
    PrivateKeyJwt,
}

impl ClientIdentity {
    /// A public client: it proves nothing.
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), proof: ClientProof::None, issuer: None, method: None, is_kept: false }
    }

    /// Proves its identity by a secret, in the header `Authorization` or in the body, as the authorization server asks for.
    #[must_use]
    pub fn secret(mut self, secret: impl Into<Secret>) -> Self {
        self.proof = ClientProof::Secret(secret.into());
        self
    }

    /// Proves its identity by signed assertions (`private_key_jwt`, RFC 7523): a key in PEM, and an algorithm such as `ES256` or
    /// `RS256`.
    ///
    /// # Errors
    ///
    /// When the algorithm is unknown, or the key cannot be read or does not fit.
    pub fn private_key(mut self, pem: &str, algorithm: &str) -> Result<Self, InvalidKey> {
        let unknown = || InvalidKey(format!("unknown algorithm `{algorithm}`; known: `ES256`, `RS256`, …"));
        let algorithm = Algorithm::parse(algorithm).ok_or_else(unknown)?;
        let key =
            SigningKey::from_pkcs8_pem(pem, algorithm).map_err(|error| InvalidKey(error.to_string()))?;
        self.proof = ClientProof::Key { key: Arc::new(key), kid: None };
        Ok(self)
    }

    /// Names the key in the header of each assertion.
    #[must_use]
    pub fn key_id(mut self, id: impl Into<String>) -> Self {
        if let ClientProof::Key { kid, .. } = &mut self.proof {
            *kid = Some(id.into());
        }
        self
    }

    /// Sets the authorization server that knows this client. Where a server names another, that is an error and nothing is sent.
    /// Without it, the client belongs to the authorization server that it is first used with.
    #[must_use]
    pub fn issuer(mut self, issuer: impl Into<String>) -> Self {
        self.issuer = Some(issuer.into());
        self
    }

    fn chosen(&self, supported: Option<&[String]>) -> Method {
        let has = |method: &str| supported.is_none_or(|all| all.iter().any(|known| known == method));
        match (&self.proof, self.method.as_deref()) {
            (ClientProof::None, _) => Method::None,
            (ClientProof::Key { .. }, _) => Method::PrivateKeyJwt,
            (ClientProof::Secret(_), Some("none")) => Method::None,
            (ClientProof::Secret(_), Some("client_secret_post")) => Method::Post,
            (ClientProof::Secret(_), Some("client_secret_basic")) => Method::Basic,
            (ClientProof::Secret(_), _) if !has("client_secret_basic") && has("client_secret_post") => {
                Method::Post
            }
            (ClientProof::Secret(_), _) => Method::Basic,
        }
    }

    /// Adds what authenticates a request to the form, and returns the value of `Authorization` where that has it.
    pub(crate) fn authenticate(
        &self,
        issuer: &str,
        supported: Option<&[String]>,
        form: &mut Vec<(&'static str, String)>,
    ) -> Result<Option<String>, KeyError> {
        match (self.chosen(supported), &self.proof) {
            (Method::Basic, ClientProof::Secret(secret)) => {
                let encode =
                    |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
                let pair = format!("{}:{}", encode(&self.id), encode(secret.expose()));
                return Ok(Some(format!("Basic {}", STANDARD.encode(pair))));
            }
            (Method::Post, ClientProof::Secret(secret)) => {
                form.push(("client_id", self.id.clone()));
                form.push(("client_secret", secret.expose().to_owned()));
            }
            (Method::PrivateKeyJwt, ClientProof::Key { key, kid }) => {
                form.push(("client_id", self.id.clone()));
                form.push(("client_assertion_type", JWT_BEARER.to_owned()));
                form.push(("client_assertion", self.assertion(key, kid.as_deref(), issuer)?));
            }
            _ => form.push(("client_id", self.id.clone())),
        }
        Ok(None)
    }

    fn assertion(&self, key: &SigningKey, kid: Option<&str>, issuer: &str) -> Result<String, KeyError> {
        let mut header = Map::new();
        header.insert("typ".to_owned(), Value::from("JWT"));
        header.extend(kid.map(|kid| ("kid".to_owned(), Value::from(kid))));
        let now = unix_now();
        let mut claims = Map::new();
        claims.insert("iss".to_owned(), Value::from(self.id.as_str()));
        claims.insert("sub".to_owned(), Value::from(self.id.as_str()));
        claims.insert("aud".to_owned(), Value::from(issuer));
        claims.insert("jti".to_owned(), Value::from(random_base64url(16)?));
        claims.insert("iat".to_owned(), Value::from(now));
        claims.insert("exp".to_owned(), Value::from(now + ASSERTION_LIFETIME));
        key.sign_jwt(header, &claims)
    }
}

const JWT_BEARER: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// A key that cannot be used. It is not shown.
#[derive(Debug, thiserror::Error)]
#[error("the key cannot be used: {0}")]
pub struct InvalidKey(String);

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(client: &ClientIdentity, supported: Option<&[&str]>) -> (Option<String>, Vec<&'static str>) {
        let supported: Option<Vec<String>> =
            supported.map(|all| all.iter().map(ToString::to_string).collect());
        let mut form = Vec::new();
        let header = client.authenticate("https://a.example", supported.as_deref(), &mut form).unwrap();
        (header, form.into_iter().map(|(name, _)| name).collect())
    }

    #[test]
    fn the_server_says_how_a_secret_is_sent() {
        let client = ClientIdentity::new("a b").secret("s:%");
        let basic = format!("Basic {}", STANDARD.encode("a+b:s%3A%25"));
        assert_eq!(sent(&client, None), (Some(basic.clone()), vec![]));
        assert_eq!(
            sent(&client, Some(&["client_secret_post", "client_secret_basic"])),
            (Some(basic), vec![])
        );
        assert_eq!(
            sent(&client, Some(&["none", "client_secret_post"])),
            (None, vec!["client_id", "client_secret"])
        );
        let registered = ClientIdentity { method: Some("none".into()), ..client };
        assert_eq!(sent(&registered, None), (None, vec!["client_id"]));
        assert_eq!(
            sent(&ClientIdentity::new("a"), Some(&["client_secret_basic"])),
            (None, vec!["client_id"])
        );
    }

    #[test]
    fn a_secret_is_not_shown() {
        let shown = format!("{:?}", ClientIdentity::new("a").secret("hunter2"));
        assert!(shown.contains("\"a\"") && !shown.contains("hunter2"), "{shown}");
    }
}

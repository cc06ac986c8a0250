//! Clients that the server knows.

use std::fmt;

use serde_json::{Map, Value};

use crate::tokens::signer::{Signer, random};

/// How a client authenticates at the token endpoint.
#[derive(Clone, PartialEq)]
pub(crate) enum ClientAuth {
    /// It has no secret: `none`.
    None,
    /// By `Authorization: Basic`: `client_secret_basic`.
    Basic(String),
    /// By parameters of the body: `client_secret_post`.
    Post(String),
    /// By a JWT that one of these keys signs: `private_key_jwt`.
    Keys(Vec<Value>),
}

impl ClientAuth {
    /// The method's name in metadata.
    pub(crate) fn method(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Basic(_) => "client_secret_basic",
            Self::Post(_) => "client_secret_post",
            Self::Keys(_) => "private_key_jwt",
        }
    }

    pub(crate) fn secret(&self) -> Option<&str> {
        match self {
            Self::Basic(secret) | Self::Post(secret) => Some(secret),
            Self::None | Self::Keys(_) => None,
        }
    }
}

/// A client that is known before it asks.
///
/// ```
/// use agentwire_mcp_auth_testkit::RegisteredClient;
///
/// let client = RegisteredClient::new("desktop").redirect_uri("http://127.0.0.1/callback");
/// let service = RegisteredClient::new("service").secret_basic("s3cret: +/%").scope("tools:read");
/// ```
#[derive(Clone)]
pub struct RegisteredClient {
    pub(crate) id: String,
    pub(crate) auth: ClientAuth,
    pub(crate) redirect_uris: Vec<String>,
    /// The scopes that it may ask for; any if absent.
    pub(crate) scope: Option<String>,
    /// Its id at servers that accept assertions of this one.
    pub(crate) id_elsewhere: Option<String>,
    /// When the secret expires, in milliseconds since 1970.
    pub(crate) secret_expires: Option<u64>,
}

impl RegisteredClient {
    /// A client without a secret and without redirect URIs.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            auth: ClientAuth::None,
            redirect_uris: Vec::new(),
            scope: None,
            id_elsewhere: None,
            secret_expires: None,
        }
    }

    /// Adds a redirect URI. One of a loopback address matches with each port (RFC 8252, 7.3).
    #[must_use]
    pub fn redirect_uri(mut self, uri: impl Into<String>) -> Self {
        self.redirect_uris.push(uri.into());
        self
    }

    /// Has the client send this secret by `Authorization: Basic`, and refuses any other way.
    #[must_use]
    pub fn secret_basic(mut self, secret: impl Into<String>) -> Self {
        self.auth = ClientAuth::Basic(secret.into());
        self
    }

    /// Has the client send this secret in the body, and refuses any other way.
    #[must_use]
    pub fn secret_post(mut self, secret: impl Into<String>) -> Self {
        self.auth = ClientAuth::Post(secret.into());
        self
    }

    /// Has the client send a JWT that this key signs (`private_key_jwt`), and refuses any other way.
    #[must_use]
    pub fn private_key_jwt(self, key: &Signer) -> Self {
        self.key_set(&[key.jwk()])
    }

    /// Has the client send a JWT that one of these public keys verifies.
    #[must_use]
    pub fn key_set(mut self, keys: &[Value]) -> Self {
        self.auth = ClientAuth::Keys(keys.to_vec());
        self
    }

    /// Limits the scopes that the client may ask for, divided by spaces (default: no limit).
    #[must_use]
    pub fn scope(mut self, scope: impl Into<String>) -> Self {
        self.scope = Some(scope.into());
        self
    }

    /// The client's id at the servers for which this one makes ID-JAGs, as an identity provider (default: the same id).
    #[must_use]
    pub fn id_elsewhere(mut self, id: impl Into<String>) -> Self {
        self.id_elsewhere = Some(id.into());
        self
    }

    /// A client by the metadata of a registration (RFC 7591) or of a client id metadata document. The secret is made here.
    pub(crate) fn from_metadata(id: String, metadata: &Map<String, Value>) -> Result<Self, &'static str> {
        let mut client = Self::new(id);
        let uris = metadata.get("redirect_uris").map(Value::as_array);
        for uri in uris.ok_or("no `redirect_uris`")?.ok_or("`redirect_uris` is not a list")? {
            client.redirect_uris.push(uri.as_str().ok_or("a redirect URI is not a string")?.to_owned());
        }
        client.scope = metadata.get("scope").and_then(Value::as_str).map(str::to_owned);
        let method = metadata.get("token_endpoint_auth_method").map(Value::as_str);
        client.auth = match method.unwrap_or(Some("client_secret_basic")) {
            Some("none") => ClientAuth::None,
            Some("client_secret_basic") => ClientAuth::Basic(random(24)),
            Some("client_secret_post") => ClientAuth::Post(random(24)),
            Some("private_key_jwt") => {
                let keys = metadata.get("jwks").and_then(|jwks| jwks["keys"].as_array());
                ClientAuth::Keys(keys.ok_or("`private_key_jwt` needs `jwks`")?.clone())
            }
            _ => return Err("`token_endpoint_auth_method` is unknown"),
        };
        Ok(client)
    }

    /// Whether a redirect URI is one of the client's.
    pub(crate) fn redirects_to(&self, uri: &str) -> bool {
        self.redirect_uris.iter().any(|known| known == uri || is_same_loopback(known, uri))
    }

    /// The scopes among these that the client may not ask for.
    pub(crate) fn refused_scopes<'a>(&self, scope: &'a str) -> Vec<&'a str> {
        let Some(allowed) = &self.scope else { return Vec::new() };
        let allowed: Vec<&str> = allowed.split_ascii_whitespace().collect();
        scope.split_ascii_whitespace().filter(|scope| !allowed.contains(scope)).collect()
    }
}

impl fmt::Debug for RegisteredClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegisteredClient")
            .field("id", &self.id)
            .field("auth", &self.auth.method())
            .field("redirect_uris", &self.redirect_uris)
            .field("scope", &self.scope)
            .finish_non_exhaustive()
    }
}

/// Whether two redirect URIs are the same but for the port, on the same loopback host (RFC 8252, 7.3). `localhost` counts as
/// one, as it does with the servers that MCP clients meet.
fn is_same_loopback(known: &str, uri: &str) -> bool {
    let split = |uri: &str| -> Option<(String, String)> {
        let rest = uri.strip_prefix("http://")?;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let host = match authority.rsplit_once(':') {
            Some((host, port)) if port.parse::<u16>().is_ok() => host,
            _ => authority,
        };
        Some((host.to_owned(), path.to_owned()))
    };
    match (split(known), split(uri)) {
        (Some(known), Some(uri)) => {
            known == uri && matches!(known.0.as_str(), "127.0.0.1" | "[::1]" | "localhost")
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loopback_redirect_matches_with_each_port() {
        let client = RegisteredClient::new("c")
            .redirect_uri("http://127.0.0.1/callback")
            .redirect_uri("http://localhost:7/x")
            .redirect_uri("https://app.example/callback");
        for uri in ["http://127.0.0.1:4711/callback", "http://localhost/x", "https://app.example/callback"] {
            assert!(client.redirects_to(uri), "{uri}");
        }
        for uri in [
            "http://127.0.0.1:4711/other",
            "http://127.0.0.1:4711/callback?x=1",
            "http://127.0.0.2/callback",
            "http://127.0.0.1.attacker.example/callback",
            "http://127.0.0.1:80@attacker.example/callback",
            "https://app.example:8443/callback",
        ] {
            assert!(!client.redirects_to(uri), "{uri}");
        }
    }

    #[test]
    fn nothing_secret_is_shown() {
        let client = RegisteredClient::new("c").secret_post("hidden");
        assert!(!format!("{client:?}").contains("hidden"));
    }
}

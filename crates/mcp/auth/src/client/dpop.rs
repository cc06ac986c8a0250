//! Proofs of possession: RFC 9449.

use std::collections::HashMap;

use agentwire_sync::Mutex;
use http::{HeaderMap, HeaderValue, Method, Uri};
use serde_json::{Map, Value};

use crate::Secret;
use crate::client::discovery::origin::{origin, without_query};
use crate::clock::unix_now;
use crate::jose::{
    Algorithm, KeyError, SigningKey, decode_base64url, encode_base64url, random_base64url, sha256_base64url,
};

/// The header with a proof.
pub(crate) const DPOP: &str = "dpop";
/// The header with the nonce for the next proof.
const DPOP_NONCE: &str = "dpop-nonce";

/// How long a nonce may be that a server gives.
const MAX_NONCE: usize = 1024;

/// A key, and the nonces that servers gave for its proofs.
#[derive(Debug)]
pub(crate) struct DpopKey {
    key: SigningKey,
    /// By the origin that gave them: the resource and the authorization server, so there are few.
    nonces: Mutex<HashMap<String, String>>,
}

/// How many origins a key is used with.
const MAX_ORIGINS: usize = 16;

impl DpopKey {
    pub(crate) fn generate() -> Result<Self, KeyError> {
        Ok(Self { key: SigningKey::generate()?, nonces: Mutex::default() })
    }

    /// The key as it is stored.
    pub(crate) fn stored(&self) -> Secret {
        Secret::new(encode_base64url(self.key.to_pkcs8()))
    }

    pub(crate) fn from_stored(stored: &Secret) -> Option<Self> {
        let bytes = decode_base64url(stored.expose())?;
        let key = SigningKey::from_pkcs8(&bytes, Algorithm::Es256).ok()?;
        Some(Self { key, nonces: Mutex::default() })
    }

    /// A proof for one request. `token` is the access token that it is sent with.
    pub(crate) fn proof(
        &self,
        method: &Method,
        url: &Uri,
        token: Option<&Secret>,
    ) -> Result<HeaderValue, KeyError> {
        let mut header = Map::new();
        header.insert("typ".to_owned(), Value::from("dpop+jwt"));
        header.insert("jwk".to_owned(), serde_json::to_value(self.key.public_jwk()).unwrap_or_default());
        let mut claims = Map::new();
        claims.insert("jti".to_owned(), Value::from(random_base64url(16)?));
        claims.insert("htm".to_owned(), Value::from(method.as_str()));
        claims.insert("htu".to_owned(), Value::from(without_query(url)));
        claims.insert("iat".to_owned(), Value::from(unix_now()));
        if let Some(token) = token {
            claims.insert("ath".to_owned(), Value::from(sha256_base64url(token.expose().as_bytes())));
        }
        if let Some(nonce) = self.nonces.lock().get(&origin(url)) {
            claims.insert("nonce".to_owned(), Value::from(nonce.as_str()));
        }
        let proof = self.key.sign_jwt(header, &claims)?;
        HeaderValue::from_str(&proof).map_err(|_| KeyError::Random)
    }

    /// Remembers the nonce of a response, and returns whether there is one.
    pub(crate) fn remember(&self, url: &Uri, headers: &HeaderMap) -> bool {
        let nonce = headers.get(DPOP_NONCE).and_then(|nonce| nonce.to_str().ok());
        let Some(nonce) = nonce.filter(|nonce| nonce.len() <= MAX_NONCE) else { return false };
        let mut nonces = self.nonces.lock();
        let origin = origin(url);
        if nonces.len() < MAX_ORIGINS || nonces.contains_key(&origin) {
            nonces.insert(origin, nonce.to_owned());
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jose::Jwt;

    fn claims(key: &DpopKey, proof: &HeaderValue) -> Map<String, Value> {
        let jwt = Jwt::parse(proof.to_str().unwrap()).unwrap();
        assert_eq!(jwt.header_text("typ"), Some("dpop+jwt"));
        jwt.verify(&key.key.public_jwk()).unwrap().into_members()
    }

    #[test]
    fn a_proof_is_of_one_request() {
        let key = DpopKey::generate().unwrap();
        let url: Uri = "https://a.example/mcp?secret=1".parse().unwrap();
        let token = Secret::new("Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU");
        let first = claims(&key, &key.proof(&Method::POST, &url, Some(&token)).unwrap());
        assert_eq!(first["htm"], "POST");
        assert_eq!(first["htu"], "https://a.example/mcp");
        // RFC 9449, section 4.1.
        assert_eq!(first["ath"], "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo");
        assert!(!first.contains_key("nonce"));
        let second = claims(&key, &key.proof(&Method::POST, &url, Some(&token)).unwrap());
        assert_ne!(first["jti"], second["jti"]);
    }

    #[test]
    fn a_nonce_is_for_the_origin_that_gave_it() {
        let key = DpopKey::from_stored(&DpopKey::generate().unwrap().stored()).unwrap();
        let url: Uri = "https://a.example/mcp".parse().unwrap();
        let headers = [(http::HeaderName::from_static(DPOP_NONCE), HeaderValue::from_static("n1"))];
        assert!(key.remember(&url, &headers.into_iter().collect()));
        assert!(!key.remember(&url, &HeaderMap::new()));
        let here = claims(&key, &key.proof(&Method::GET, &url, None).unwrap());
        assert_eq!(here["nonce"], "n1");
        let other: Uri = "https://b.example/mcp".parse().unwrap();
        assert!(!claims(&key, &key.proof(&Method::GET, &other, None).unwrap()).contains_key("nonce"));
    }
}

//! Keys that sign JWTs, and their public parts as JSON Web Keys.

use std::fmt;
use std::sync::Arc;

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der, PublicKeyX509Der};
use aws_lc_rs::rsa::{KeyPair as RsaKeyPair, KeySize};
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use jsonwebtoken::jwk::{Jwk, ThumbprintHash};
use jsonwebtoken::{Algorithm, EncodingKey};
use serde_json::{Map, Value, json};

/// A private key: of the server, of a client that authenticates by JWTs, or of one that proves possession. A clone is the same key.
///
/// ```
/// use agentwire_mcp_auth_testkit::Signer;
/// use serde_json::json;
///
/// let key = Signer::es256("key-1");
/// let assertion = key.sign(json!({"typ": "JWT"}), &json!({"iss": "client", "sub": "client"}));
/// assert_eq!(assertion.split('.').count(), 3);
/// assert_eq!(key.jwk()["kid"], "key-1");
/// ```
#[derive(Clone)]
pub struct Signer {
    key: Arc<Key>,
}

struct Key {
    id: String,
    algorithm: Algorithm,
    /// Both as PEM.
    private: String,
    public: String,
    encoding: EncodingKey,
    jwk: Jwk,
}

impl Signer {
    /// Makes a key for ES256 (the curve P-256).
    ///
    /// # Panics
    ///
    /// If the operating system has no randomness.
    pub fn es256(id: impl Into<String>) -> Self {
        let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).expect("randomness");
        let private = pair.to_pkcs8v1().expect("a key that was just made");
        let private = pem("PRIVATE", private.as_ref());
        let public: PublicKeyX509Der<'_> = pair.public_key().as_der().expect("a key that was just made");
        let encoding = EncodingKey::from_ec_pem(private.as_bytes()).expect("a key that was just made");
        Self::new(id.into(), Algorithm::ES256, private, pem("PUBLIC", public.as_ref()), encoding)
    }

    /// Makes a key for RS256, of 2048 bits. This takes about a hundred milliseconds.
    ///
    /// # Panics
    ///
    /// If the operating system has no randomness.
    pub fn rs256(id: impl Into<String>) -> Self {
        let pair = RsaKeyPair::generate(KeySize::Rsa2048).expect("randomness");
        let private: Pkcs8V1Der<'_> = pair.as_der().expect("a key that was just made");
        let private = pem("PRIVATE", private.as_ref());
        let public: PublicKeyX509Der<'_> = pair.public_key().as_der().expect("a key that was just made");
        let encoding = EncodingKey::from_rsa_pem(private.as_bytes()).expect("a key that was just made");
        Self::new(id.into(), Algorithm::RS256, private, pem("PUBLIC", public.as_ref()), encoding)
    }

    fn new(id: String, algorithm: Algorithm, private: String, public: String, encoding: EncodingKey) -> Self {
        // Other features of `jsonwebtoken` in the same build would make its own choice panic.
        let _ = jsonwebtoken::crypto::aws_lc::DEFAULT_PROVIDER.install_default();
        let jwk = Jwk::from_encoding_key(&encoding, algorithm).expect("a key that was just made");
        Self { key: Arc::new(Key { id, algorithm, private, public, encoding, jwk }) }
    }

    /// The key's id, its `kid`.
    pub fn id(&self) -> &str {
        &self.key.id
    }

    /// The algorithm's name: `ES256` or `RS256`.
    pub fn algorithm(&self) -> &'static str {
        match self.key.algorithm {
            Algorithm::RS256 => "RS256",
            _ => "ES256",
        }
    }

    /// The private key, as PEM of PKCS #8. A key for tests only: nothing real may depend on it.
    pub fn private_pem(&self) -> &str {
        &self.key.private
    }

    /// The public key as a JSON Web Key, with `kid`, `alg` and `use`.
    pub fn jwk(&self) -> Value {
        let mut jwk = serde_json::to_value(&self.key.jwk).unwrap_or_default();
        if let Some(members) = jwk.as_object_mut() {
            members.insert("kid".into(), self.key.id.as_str().into());
            members.insert("use".into(), "sig".into());
        }
        jwk
    }

    /// The public key's thumbprint by SHA-256 (RFC 7638), the `jkt` of RFC 9449.
    pub fn thumbprint(&self) -> String {
        self.key.jwk.thumbprint(ThumbprintHash::SHA256).unwrap_or_default()
    }

    /// The public key, as PEM of its SubjectPublicKeyInfo.
    pub fn public_pem(&self) -> &str {
        &self.key.public
    }

    /// Signs claims. `header` may have any member; `alg` and `kid` are added unless it has them.
    pub fn sign(&self, header: Value, claims: &Value) -> String {
        let mut members = Map::new();
        members.insert("alg".into(), self.algorithm().into());
        members.insert("kid".into(), self.key.id.as_str().into());
        if let Value::Object(header) = header {
            members.extend(header);
        }
        let text = unsigned(&Value::Object(members), claims);
        let signature = jsonwebtoken::crypto::sign(text.as_bytes(), &self.key.encoding, self.key.algorithm);
        format!("{text}.{}", signature.unwrap_or_default())
    }

    /// Makes a proof of possession (RFC 9449): `htm` and `htu` are the method and the URL of the request that it is for.
    /// With an access token, the proof has its hash.
    pub fn dpop_proof(&self, method: &str, url: &str, nonce: Option<&str>, token: Option<&str>) -> String {
        let mut claims = json!({
            "jti": random(16),
            "htm": method,
            "htu": url,
            "iat": std::time::UNIX_EPOCH.elapsed().unwrap_or_default().as_secs(),
        });
        if let Some(nonce) = nonce {
            claims["nonce"] = nonce.into();
        }
        if let Some(token) = token {
            claims["ath"] = sha256(token.as_bytes()).into();
        }
        let jwk = serde_json::to_value(&self.key.jwk).unwrap_or_default();
        self.sign(json!({"typ": "dpop+jwt", "jwk": jwk}), &claims)
    }
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signer").field("id", &self.key.id).finish_non_exhaustive()
    }
}

/// Header and claims as the first two parts of a JWT.
pub(crate) fn unsigned(header: &Value, claims: &Value) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    format!("{}.{}", part(header), part(claims))
}

/// Signs by HS256.
pub(crate) fn sign_hmac(header: &Value, claims: &Value, secret: &[u8]) -> String {
    let text = unsigned(header, claims);
    let key = EncodingKey::from_secret(secret);
    let signature = jsonwebtoken::crypto::sign(text.as_bytes(), &key, Algorithm::HS256);
    format!("{text}.{}", signature.unwrap_or_default())
}

/// The hash of bytes, in base64url without padding.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, bytes))
}

/// A random string of so many bytes, in base64url.
pub(crate) fn random(bytes: usize) -> String {
    let mut buffer = vec![0; bytes];
    aws_lc_rs::rand::fill(&mut buffer).expect("randomness");
    URL_SAFE_NO_PAD.encode(buffer)
}

/// A key as PEM, in lines of 64 characters.
fn pem(kind: &str, der: &[u8]) -> String {
    let mut pem = format!("-----BEGIN {kind} KEY-----\n");
    for (index, letter) in STANDARD.encode(der).chars().enumerate() {
        if index > 0 && index % 64 == 0 {
            pem.push('\n');
        }
        pem.push(letter);
    }
    pem + &format!("\n-----END {kind} KEY-----\n")
}

//! A private key that signs tokens: assertions of a client, proofs of possession.

use std::fmt;
use std::sync::Arc;

use ring::rand::SystemRandom;
use ring::rsa;
use ring::signature::{
    self, EcdsaKeyPair, EcdsaSigningAlgorithm, Ed25519KeyPair, KeyPair as _, RsaEncoding, RsaKeyPair,
};
use serde_json::{Map, Value};

use crate::jose::pem::pkcs8_of;
use crate::jose::{Algorithm, Jwk, KeyError, encode_base64url};

/// A private key and the algorithm that it signs with. A clone shares the key. `Debug` shows only the public half.
///
/// ```
/// use agentwire_mcp_auth::SigningKey;
///
/// let key = SigningKey::generate()?;
/// assert_eq!(key.algorithm().as_str(), "ES256");
/// # Ok::<(), agentwire_mcp_auth::KeyError>(())
/// ```
#[derive(Clone)]
pub struct SigningKey(Arc<Inner>);

struct Inner {
    algorithm: Algorithm,
    pair: Pair,
    /// The key in DER.
    pkcs8: Vec<u8>,
    public: Jwk,
}

enum Pair {
    Ec(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
    Rsa(RsaKeyPair),
}

impl SigningKey {
    /// A new key for ES256.
    ///
    /// # Errors
    ///
    /// When the operating system has no randomness.
    pub fn generate() -> Result<Self, KeyError> {
        let made =
            EcdsaKeyPair::generate_pkcs8(&signature::ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new());
        Self::from_pkcs8(made.map_err(|_| KeyError::Random)?.as_ref(), Algorithm::Es256)
    }

    /// A key from PEM: `BEGIN PRIVATE KEY` (PKCS #8), `BEGIN EC PRIVATE KEY` (SEC 1) or `BEGIN RSA PRIVATE KEY` (PKCS #1),
    /// not encrypted. An RSA key has 2,048 to 4,096 bits. A key for ES256 or ES384 must include its public half, as openssl
    /// writes it.
    ///
    /// # Errors
    ///
    /// When it is not such a text, or the key does not fit the algorithm.
    pub fn from_pkcs8_pem(pem: &str, algorithm: Algorithm) -> Result<Self, KeyError> {
        Self::from_pkcs8(&pkcs8_of(pem, algorithm)?, algorithm)
    }

    /// A key from PKCS #8 in DER.
    ///
    /// # Errors
    ///
    /// When the key does not fit the algorithm.
    pub fn from_pkcs8(der: &[u8], algorithm: Algorithm) -> Result<Self, KeyError> {
        let rejected = |error| KeyError::rejected(algorithm, error);
        let (pair, public) = match algorithm {
            Algorithm::Es256 | Algorithm::Es384 => {
                let pair = EcdsaKeyPair::from_pkcs8(curve(algorithm), der, &SystemRandom::new())
                    .map_err(rejected)?;
                let public = Jwk::from_point(algorithm, pair.public_key().as_ref());
                let public = public.ok_or_else(|| KeyError::rejected(algorithm, "it is on another curve"))?;
                (Pair::Ec(pair), public)
            }
            Algorithm::EdDsa => {
                // openssl writes these keys without the public half.
                let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(der).map_err(rejected)?;
                let public = Jwk::from_ed25519(pair.public_key().as_ref());
                (Pair::Ed25519(pair), public)
            }
            _ => {
                let pair = RsaKeyPair::from_pkcs8(der).map_err(rejected)?;
                let public = rsa::PublicKeyComponents::<Vec<u8>>::from(pair.public());
                (Pair::Rsa(pair), Jwk::from_rsa(public.n, public.e))
            }
        };
        let public = public.for_signatures(algorithm);
        Ok(Self(Arc::new(Inner { algorithm, pair, pkcs8: der.to_vec(), public })))
    }

    /// The key in PKCS #8, as [`from_pkcs8`](Self::from_pkcs8) reads it. It is a secret.
    pub(crate) fn to_pkcs8(&self) -> Vec<u8> {
        self.0.pkcs8.clone()
    }

    /// The algorithm of its signatures.
    pub fn algorithm(&self) -> Algorithm {
        self.0.algorithm
    }

    /// The public half.
    pub fn public_jwk(&self) -> Jwk {
        self.0.public.clone()
    }

    /// Signs a token with that header, to which `alg` is added, and those claims.
    pub(crate) fn sign_jwt(
        &self,
        mut header: Map<String, Value>,
        claims: &Map<String, Value>,
    ) -> Result<String, KeyError> {
        header.insert("alg".to_owned(), self.0.algorithm.as_str().into());
        let (header, claims) = (Value::Object(header).to_string(), serde_json::to_string(claims));
        let claims = claims.map_err(|error| KeyError::rejected(self.0.algorithm, error))?;
        let mut token = format!("{}.{}", encode_base64url(header), encode_base64url(claims));
        let signature = self.sign(token.as_bytes())?;
        token.push('.');
        token.push_str(&encode_base64url(signature));
        Ok(token)
    }

    fn sign(&self, signed: &[u8]) -> Result<Vec<u8>, KeyError> {
        let random = SystemRandom::new();
        match &self.0.pair {
            Pair::Ed25519(pair) => Ok(pair.sign(signed).as_ref().to_vec()),
            Pair::Ec(pair) => {
                let signature = pair.sign(&random, signed).map_err(|_| KeyError::Random)?;
                Ok(signature.as_ref().to_vec())
            }
            Pair::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                let encoding = rsa_encoding(self.0.algorithm);
                pair.sign(encoding, &random, signed, &mut signature).map_err(|_| KeyError::Random)?;
                Ok(signature)
            }
        }
    }
}

fn curve(algorithm: Algorithm) -> &'static EcdsaSigningAlgorithm {
    match algorithm {
        Algorithm::Es384 => &signature::ECDSA_P384_SHA384_FIXED_SIGNING,
        _ => &signature::ECDSA_P256_SHA256_FIXED_SIGNING,
    }
}

fn rsa_encoding(algorithm: Algorithm) -> &'static dyn RsaEncoding {
    match algorithm {
        Algorithm::Rs384 => &signature::RSA_PKCS1_SHA384,
        Algorithm::Rs512 => &signature::RSA_PKCS1_SHA512,
        Algorithm::Ps256 => &signature::RSA_PSS_SHA256,
        Algorithm::Ps384 => &signature::RSA_PSS_SHA384,
        Algorithm::Ps512 => &signature::RSA_PSS_SHA512,
        _ => &signature::RSA_PKCS1_SHA256,
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey")
            .field("algorithm", &self.0.algorithm)
            .field("public", &self.0.public)
            .finish()
    }
}

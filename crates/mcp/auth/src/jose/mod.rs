//! Signed tokens: JWS, JWK and JWT (RFC 7515, 7517, 7519), as far as OAuth needs them. Signatures are `ring`'s.
//!
//! Only signatures with a private key are supported. [`Algorithm`] has no variant for `none` or for a shared secret, so no header
//! can select them.

mod algorithm;
mod claims;
mod encoding;
mod error;
mod jwk;
mod jwt;
mod pem;
mod signing_key;
#[cfg(test)]
mod tests;
mod unique;

pub use algorithm::Algorithm;
pub(crate) use claims::Claims;
pub(crate) use encoding::{decode_base64url, encode_base64url, random_base64url, sha256_base64url};
pub(crate) use error::JwtError;
pub use error::KeyError;
pub use jwk::Jwk;
pub(crate) use jwt::Jwt;
pub use signing_key::SigningKey;
pub(crate) use unique::read_object;

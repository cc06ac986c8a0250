//! Signed tokens: JWS, JWK and JWT (RFC 7515, 7517, 7519), as far as OAuth needs them. Signatures are `ring`'s.
//!
//! Only signatures by a private key exist here. `none` and the algorithms with a shared secret have no name, so no header can
//! ask for them.

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

//! Checks the signatures of JWTs that clients send: assertions and proofs.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{AlgorithmFamily, DecodingKey, Validation};
use serde_json::Value;

/// A JWT whose signature is right. Its claims are not checked yet.
#[derive(Debug)]
pub(crate) struct Verified {
    pub(crate) header: Value,
    pub(crate) claims: Value,
}

impl Verified {
    pub(crate) fn claim(&self, name: &str) -> Option<&str> {
        self.claims[name].as_str()
    }

    pub(crate) fn number(&self, name: &str) -> Option<i64> {
        let value = &self.claims[name];
        value.as_i64().or_else(|| value.as_f64().map(|number| number as i64))
    }

    /// Whether `aud` is, or has, one of these strings.
    pub(crate) fn is_for(&self, audiences: &[&str]) -> bool {
        let matches = |value: &Value| value.as_str().is_some_and(|value| audiences.contains(&value));
        match &self.claims["aud"] {
            Value::Array(list) => list.iter().any(matches),
            value => matches(value),
        }
    }
}

/// The header of a JWT, which nothing vouches for.
pub(crate) fn header(token: &str) -> Option<Value> {
    let bytes = URL_SAFE_NO_PAD.decode(token.split('.').next()?).ok()?;
    // read: a test's own bytes, and this crate may depend on none of ours
    serde_json::from_slice(&bytes).ok()
}

/// The claims of a JWT, which nothing vouches for.
pub(crate) fn claims(token: &str) -> Option<Value> {
    header(token.split_once('.')?.1)
}

/// Checks a JWT's signature by one of the keys: that of its `kid`, or any where it has none.
pub(crate) fn verify(token: &str, keys: &[Value]) -> Result<Verified, &'static str> {
    let header = header(token).ok_or("it is not a JWT")?;
    let kid = header["kid"].as_str();
    let matching = keys.iter().filter(|key| match (kid, key["kid"].as_str()) {
        (Some(wanted), Some(has)) => wanted == has,
        _ => true,
    });
    let mut why = "none of the keys has its `kid`";
    for key in matching {
        match verify_by(token, key) {
            Ok(claims) => return Ok(Verified { header, claims }),
            Err(reason) => why = reason,
        }
    }
    Err(why)
}

fn verify_by(token: &str, key: &Value) -> Result<Value, &'static str> {
    let jwk: Jwk = serde_json::from_value(key.clone()).map_err(|_| "the key is not a JSON Web Key")?;
    let key = DecodingKey::from_jwk(&jwk).map_err(|_| "the key is of an unknown type")?;
    if key.family() == AlgorithmFamily::Hmac {
        return Err("the key is a secret");
    }
    let algorithm = jsonwebtoken::decode_header(token).map_err(|_| "its `alg` is unknown")?.alg;
    if !key.family().algorithms().contains(&algorithm) {
        return Err("its `alg` does not fit the key");
    }
    let mut validation = Validation::new(algorithm);
    validation.required_spec_claims.clear();
    validation.validate_exp = false;
    validation.validate_aud = false;
    let data = jsonwebtoken::decode::<Value>(token, &key, &validation);
    data.map(|data| data.claims).map_err(|_| "its signature is wrong")
}

/// The thumbprint of a public key; none if the key is not usable, or is private.
pub(crate) fn thumbprint(key: &Value) -> Option<String> {
    if key["d"].is_string() {
        return None;
    }
    let jwk: Jwk = serde_json::from_value(key.clone()).ok()?;
    jwk.thumbprint(jsonwebtoken::jwk::ThumbprintHash::SHA256).ok()
}

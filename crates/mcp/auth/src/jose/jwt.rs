//! A signed token: parsed strictly, and trusted only after its signature has been verified.

use serde_json::{Map, Value};

use crate::jose::unique::read_object;
use crate::jose::{Algorithm, Claims, Jwk, JwtError, decode_base64url};

/// The longest token: 64 KiB. HTTP servers accept no longer header.
const MAX_LEN: usize = 64 << 10;

/// A token whose signature has not been verified.
pub(crate) struct Jwt {
    /// The signed text: the encoded header and claims.
    signed: String,
    header: Map<String, Value>,
    claims: Claims,
    signature: Vec<u8>,
    algorithm: Algorithm,
}

impl Jwt {
    /// Reads a token in its compact form. Fails for a header with critical extensions (`crit`), because none is supported.
    pub(crate) fn parse(token: &str) -> Result<Self, JwtError> {
        if token.len() > MAX_LEN {
            return Err(JwtError::TooLong { limit: MAX_LEN });
        }
        let malformed = |why| move || JwtError::Malformed(why);
        let (signed, signature) = token.rsplit_once('.').ok_or_else(malformed("it has not three parts"))?;
        let (header, claims) = signed.split_once('.').ok_or_else(malformed("it has not three parts"))?;
        if claims.contains('.') {
            return Err(JwtError::Malformed("it has not three parts"));
        }
        let decode = |part| decode_base64url(part).ok_or_else(malformed("a part is not in base64url"));
        let object = |bytes: Vec<u8>, why| read_object(&bytes).ok_or_else(malformed(why));
        let header = object(decode(header)?, "its header is not an object, or repeats a name")?;
        if header.contains_key("crit") {
            return Err(JwtError::Malformed("its header has `crit`, which asks for an unknown extension"));
        }
        let algorithm = match header.get("alg") {
            Some(Value::String(name)) => {
                Algorithm::parse(name).ok_or_else(|| JwtError::Algorithm(name.chars().take(32).collect()))?
            }
            _ => return Err(JwtError::Malformed("its header has no `alg`")),
        };
        let claims = Claims::new(object(decode(claims)?, "its claims are not an object, or repeat a name")?);
        let signature = decode(signature)?;
        Ok(Self { signed: signed.to_owned(), header, claims, signature, algorithm })
    }

    /// The members of the header, which are untrusted before [`verify`](Self::verify).
    pub(crate) fn header(&self) -> &Map<String, Value> {
        &self.header
    }

    pub(crate) fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// A member of the header that is text.
    pub(crate) fn header_text(&self, name: &str) -> Option<&str> {
        self.header.get(name)?.as_str()
    }

    /// The issuer that the token names. It selects the keys that verify the token.
    pub(crate) fn unverified_issuer(&self) -> Option<&str> {
        self.claims.text("iss")
    }

    /// The claim `iat`, in seconds since 1970.
    pub(crate) fn unverified_issue_time(&self) -> Option<u64> {
        self.claims.seconds("iat").ok().flatten()
    }

    /// The issuer in a token that [`parse`](Self::parse) refuses, such as one that is signed with another algorithm.
    pub(crate) fn named_issuer(token: &str) -> Option<String> {
        let claims = token.get(..MAX_LEN.min(token.len()))?.split('.').nth(1)?;
        let claims = Claims::new(read_object(&decode_base64url(claims)?)?);
        claims.text("iss").map(str::to_owned)
    }

    /// Checks the signature, and returns the claims. The caller checks the dates, the issuer and the audience.
    pub(crate) fn verify(&self, key: &Jwk) -> Result<Claims, JwtError> {
        key.verify(self.algorithm, self.signed.as_bytes(), &self.signature)?;
        Ok(self.claims.clone())
    }
}

/// Shows nothing of the token.
impl std::fmt::Debug for Jwt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Jwt").field("algorithm", &self.algorithm).finish_non_exhaustive()
    }
}

//! Proofs that the sender of a request has the key to which its token is bound (DPoP, RFC 9449).

pub(crate) mod nonce;
pub(crate) mod replay;
pub(crate) mod shared_replay;

use agentwire_jsonrpc::WithCauses;
use std::sync::Arc;
use std::time::Duration;

use agentwire_transport_http::server::Principal;
use http::Method;
use serde::Deserialize;
use serde_json::Value;

use crate::jose::{Claims, Jwk, Jwt, sha256_base64url};
use crate::server::dpop::nonce::Nonces;
use crate::server::dpop::replay::ReplayStore;
use crate::server::public_url::{PublicUrl, same_url};
use crate::server::rejection::Rejection;

/// The longest proof, in bytes.
const MAX_LEN: usize = 8 << 10;
/// The longest `jti` of a proof, in bytes.
const MAX_JTI: usize = 256;
/// The members that only the JWK of a private or a symmetric key has.
const PRIVATE: [&str; 8] = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

/// The policy for tokens that are bound to a key of their client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum DpopPolicy {
    /// Proofs are not accepted. A token that is bound to a key is refused, because nothing proves that its sender has the key.
    #[default]
    Off,
    /// A token that is bound to a key needs a proof. Any other is accepted as a bearer token.
    Accept,
    /// Every token needs a proof.
    Require,
}

/// The checks of proofs, and their settings.
#[derive(Clone, Debug)]
pub(crate) struct Proofs {
    pub(crate) policy: DpopPolicy,
    /// How long after its `iat` a proof is accepted.
    pub(crate) lifetime: Duration,
    pub(crate) nonces: Option<Nonces>,
    pub(crate) store: Arc<dyn ReplayStore>,
}

/// The request that a proof is for.
pub(crate) struct ProvenRequest<'a> {
    pub(crate) method: &'a Method,
    pub(crate) path: &'a str,
    pub(crate) resource: &'a PublicUrl,
    pub(crate) token: &'a str,
    /// The thumbprint of the key that the token is bound to.
    pub(crate) thumbprint: &'a str,
    pub(crate) caller: &'a Principal,
    pub(crate) now: u64,
    pub(crate) leeway: u64,
}

impl Proofs {
    /// Checks a proof, the header `DPoP` of a request.
    pub(crate) async fn check(&self, proof: &str, request: &ProvenRequest<'_>) -> Result<(), Rejection> {
        let (claims, made_at) = self.read(proof, request)?;
        let refuse = |why| Rejection::Proof { why };
        let jti = claims.text("jti").filter(|jti| !jti.is_empty() && jti.len() <= MAX_JTI);
        let jti = jti.ok_or_else(|| refuse("its `jti` is missing or too long"))?;
        // Last, so that only proofs of clients with a valid token take memory. The length of the thumbprint keeps two pairs of
        // texts from making one name.
        let name = format!("{}:{}{jti}", request.thumbprint.len(), request.thumbprint);
        let expires_at = made_at.saturating_add(self.lifetime.as_secs()).saturating_add(request.leeway);
        let inserted =
            self.store.insert(&sha256_base64url(name.as_bytes()), request.caller, expires_at).await;
        match inserted {
            Ok(true) => Ok(()),
            Ok(false) => Err(refuse("it has been used before")),
            Err(error) => Err(Rejection::unavailable("the store of used proofs", WithCauses::new(&*error))),
        }
    }

    /// Checks everything except earlier use. Returns the claims and the time of `iat`.
    fn read(&self, proof: &str, request: &ProvenRequest<'_>) -> Result<(Claims, u64), Rejection> {
        let refuse = |why| Rejection::Proof { why };
        if proof.len() > MAX_LEN {
            return Err(refuse("it is longer than 8 KiB"));
        }
        let jwt = Jwt::parse(proof).map_err(|_| refuse("it is not a JWT with an accepted signature"))?;
        if jwt.header_text("typ") != Some("dpop+jwt") {
            return Err(refuse("its `typ` is not `dpop+jwt`"));
        }
        let key = public_key(&jwt).ok_or_else(|| refuse("its `jwk` is not a public key"))?;
        let claims = jwt.verify(&key).map_err(|_| refuse("its signature is not of its key"))?;
        if key.thumbprint() != request.thumbprint {
            return Err(Rejection::Bound);
        }
        if claims.text("htm") != Some(request.method.as_str()) {
            return Err(refuse("its `htm` is another method"));
        }
        let is_ours = |url: &str| {
            same_url(url, request.resource.as_str()) || same_url(url, &request.resource.at(request.path))
        };
        if !claims.text("htu").is_some_and(is_ours) {
            return Err(refuse("its `htu` is another URL"));
        }
        if claims.text("ath") != Some(&*sha256_base64url(request.token.as_bytes())) {
            return Err(refuse("its `ath` is of another token"));
        }
        let made_at =
            claims.seconds("iat").ok().flatten().ok_or_else(|| refuse("its `iat` is missing or invalid"))?;
        if made_at > request.now.saturating_add(request.leeway) {
            return Err(refuse("its `iat` is in the future"));
        }
        if made_at.saturating_add(self.lifetime.as_secs()).saturating_add(request.leeway) < request.now {
            return Err(refuse("its `iat` is too long ago"));
        }
        if let Some(nonces) = &self.nonces
            && !claims.text("nonce").is_some_and(|nonce| nonces.accepts(nonce, request.now))
        {
            return Err(Rejection::Nonce);
        }
        Ok((claims, made_at))
    }
}

/// The public key in the header of a proof. `None` if the header contains a private key.
fn public_key(jwt: &Jwt) -> Option<Jwk> {
    let key = jwt.header().get("jwk")?;
    let Value::Object(members) = key else { return None };
    if PRIVATE.iter().any(|name| members.contains_key(*name)) {
        return None;
    }
    Jwk::deserialize(key).ok()
}

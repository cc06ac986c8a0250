//! Proofs of possession (RFC 9449).

use http::StatusCode;

use crate::context::{Context, wall_seconds};
use crate::fault::Fault;
use crate::log::RecordedRequest;
use crate::reply::Reply;
use crate::tokens::signer::{random, sha256};
use crate::tokens::verify::{thumbprint, verify};

/// How far the time of a proof may be off, in seconds.
const LEEWAY: i64 = 300;

/// Why a proof is refused.
pub(crate) enum ProofError {
    /// It has no nonce, or an old one. The right one is this.
    Nonce(String),
    Invalid(&'static str),
}

impl ProofError {
    /// The answer of the token endpoint.
    pub(crate) fn reply(self) -> Reply {
        match self {
            Self::Nonce(nonce) => {
                let reply = Reply::bad("use_dpop_nonce", "the proof needs the nonce of this answer");
                reply.with(http::HeaderName::from_static("dpop-nonce"), &nonce)
            }
            Self::Invalid(why) => Reply::error(StatusCode::BAD_REQUEST, "invalid_dpop_proof", why),
        }
    }
}

/// Checks the proof of a request, if it has one, and returns its key's thumbprint. `url` is that of the request, `token` the
/// access token that comes with it.
pub(crate) fn check(
    context: &Context,
    request: &RecordedRequest,
    url: &str,
    token: Option<&str>,
) -> Result<Option<String>, ProofError> {
    let mut proofs = request.headers.get_all("dpop").iter();
    let Some(proof) = proofs.next() else { return Ok(None) };
    if proofs.next().is_some() {
        return Err(ProofError::Invalid("more than one proof"));
    }
    let proof = proof.to_str().map_err(|_| ProofError::Invalid("the proof is not text"))?;
    let header = crate::tokens::verify::header(proof).ok_or(ProofError::Invalid("the proof is not a JWT"))?;
    if header["typ"] != "dpop+jwt" {
        return Err(ProofError::Invalid("`typ` is not `dpop+jwt`"));
    }
    let key = &header["jwk"];
    let thumbprint = thumbprint(key).ok_or(ProofError::Invalid("`jwk` is not a public key"))?;
    let mut key = key.clone();
    if let Some(members) = key.as_object_mut() {
        // The key is the one in the header, whatever it is called.
        members.remove("kid");
    }
    let proof = verify(proof, &[key]).map_err(ProofError::Invalid)?;
    let invalid = |why| Err(ProofError::Invalid(why));
    if proof.claim("htm") != Some(request.method.as_str()) {
        return invalid("`htm` is not the method");
    }
    if proof.claim("htu").map(without_query) != Some(without_query(url)) {
        return invalid("`htu` is not the URL");
    }
    match proof.number("iat") {
        Some(issued) if issued.abs_diff(wall_seconds()) <= LEEWAY.unsigned_abs() => {}
        _ => return invalid("`iat` is not now"),
    }
    if token.map(|token| sha256(token.as_bytes())).as_deref() != proof.claim("ath") {
        return invalid("`ath` is not the token's hash");
    }
    let Some(id) = proof.claim("jti").filter(|id| !id.is_empty()) else { return invalid("no `jti`") };
    check_nonce(context, proof.claim("nonce"))?;
    let mut store = context.store();
    if !store.used_ids.insert(format!("proof {thumbprint} {id}"), ()) {
        store.counters.replayed_proofs += 1;
        return invalid("the proof was presented before");
    }
    Ok(Some(thumbprint))
}

fn check_nonce(context: &Context, nonce: Option<&str>) -> Result<(), ProofError> {
    if context.occurs(Fault::DpopNonceAlways) {
        let mut store = context.store();
        store.nonce = random(12);
        return Err(ProofError::Nonce(store.nonce.clone()));
    }
    let store = context.store();
    match context.config.dpop_nonces && nonce != Some(store.nonce.as_str()) {
        true => Err(ProofError::Nonce(store.nonce.clone())),
        false => Ok(()),
    }
}

fn without_query(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or(url)
}

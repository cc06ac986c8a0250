//! The claims that make a token one for this server: by whom, for whom, from when and until when.

use serde_json::Value;

use crate::jose::Claims;
use crate::server::access_token::{AccessToken, Confirmation};
use crate::server::rejection::{Rejection, short};

/// The expected values of a token's claims.
pub(crate) struct ExpectedClaims<'a> {
    pub(crate) issuer: &'a str,
    /// The resource, and other names of it.
    pub(crate) audiences: &'a [String],
    /// Whether the token has to name its issuer, its audience and its end. An introspection response may omit the issuer and the
    /// end, because the authorization server itself has checked them.
    pub(crate) is_jwt: bool,
    pub(crate) needs_audience: bool,
    pub(crate) now: u64,
    /// How far clocks may differ, in seconds.
    pub(crate) leeway: u64,
}

/// Checks the claims, and reads what handlers need.
pub(crate) fn check_claims(claims: Claims, expected: &ExpectedClaims<'_>) -> Result<AccessToken, Rejection> {
    match claims.get("iss") {
        Some(Value::String(issuer)) if issuer == expected.issuer => {}
        None if !expected.is_jwt => {}
        found => {
            let found = found.and_then(Value::as_str).map(short);
            return Err(Rejection::Issuer { found });
        }
    }
    if let Some(kind) = other_kind(&claims) {
        return Err(Rejection::Type { found: Some(kind.to_owned()) });
    }
    let expires_at = claims.seconds("exp").map_err(|_| Rejection::Claim { claim: "exp" })?;
    if expires_at.is_none() && expected.is_jwt {
        return Err(Rejection::Claim { claim: "exp" });
    }
    check_expiry(expires_at, expected.now, expected.leeway)?;
    let from = claims.seconds("nbf").map_err(|_| Rejection::Claim { claim: "nbf" })?;
    if let Some(from) = from.filter(|from| *from > expected.now.saturating_add(expected.leeway)) {
        return Err(Rejection::NotYetValid { from });
    }
    check_audience(&claims, expected)?;
    // A subject that cannot be read is not the same as none: all subjects of a client would be one caller.
    if !matches!(claims.get("sub"), None | Some(Value::String(_))) {
        return Err(Rejection::Claim { claim: "sub" });
    }
    let text = |name| claims.text(name).filter(|text| !text.is_empty()).map(str::to_owned);
    let (subject, client_id) = (text("sub"), text("client_id").or_else(|| text("azp")));
    if subject.is_none() && client_id.is_none() {
        return Err(Rejection::Claim { claim: "sub" });
    }
    let (scopes, confirmation) = (scopes(&claims), confirmation(&claims));
    let mut token = AccessToken::of(expected.issuer.to_owned(), subject, client_id).with_scopes(scopes);
    if let Some(at) = expires_at {
        token = token.with_expiry(at);
    }
    Ok(token.with_confirmation(confirmation).with_claims(claims.into_members()))
}

pub(crate) fn check_expiry(expires_at: Option<u64>, now: u64, leeway: u64) -> Result<(), Rejection> {
    match expires_at {
        Some(at) if at.saturating_add(leeway) <= now => Err(Rejection::Expired { at }),
        _ => Ok(()),
    }
}

/// The kind of a token by claims that no access token has. ID tokens have hashes of what was issued with them (OpenID Connect Core,
/// 3.3.2.11), logout tokens have events (RFC 8417). Keycloak writes `typ`, and Cognito and Hydra write `token_use`. Introspection
/// endpoints answer about refresh tokens, too.
fn other_kind(claims: &Claims) -> Option<&'static str> {
    let text = |name| claims.text(name).unwrap_or_default().to_ascii_lowercase();
    let (typ, used, kind) = (text("typ"), text("token_use"), text("token_type"));
    let is_id = ["at_hash", "c_hash", "s_hash"].iter().any(|name| claims.get(name).is_some());
    if is_id || typ == "id" || matches!(used.as_str(), "id" | "id_token") {
        return Some("ID token");
    }
    if matches!(typ.as_str(), "refresh" | "offline")
        || used.starts_with("refresh")
        || kind.starts_with("refresh")
    {
        return Some("refresh token");
    }
    if typ == "logout" || claims.get("events").is_some() {
        return Some("security event token");
    }
    None
}

fn check_audience(claims: &Claims, expected: &ExpectedClaims<'_>) -> Result<(), Rejection> {
    if claims.get("aud").is_none() && !expected.needs_audience {
        return Ok(());
    }
    let found = claims.audience().ok_or(Rejection::Claim { claim: "aud" })?;
    if found.iter().any(|one| expected.audiences.iter().any(|known| known == one)) {
        return Ok(());
    }
    Err(Rejection::Audience { found: found.into_iter().take(8).map(short).collect() })
}

/// `scope` as RFC 9068 has it, or `scp`, as a text or an array.
fn scopes(claims: &Claims) -> Vec<String> {
    let split = |text: &str| text.split(' ').filter(|scope| !scope.is_empty()).map(str::to_owned).collect();
    match claims.get("scope").or_else(|| claims.get("scp")) {
        Some(Value::String(text)) => split(text),
        Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

fn confirmation(claims: &Claims) -> Option<Confirmation> {
    let confirmation = claims.get("cnf")?;
    let key = confirmation.get("jkt").and_then(Value::as_str);
    Some(key.map_or(Confirmation::Unknown, |key| Confirmation::Key(key.to_owned())))
}

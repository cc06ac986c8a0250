//! The token endpoint: codes and refresh tokens. The grants without a person are in `grants.rs`.

use std::collections::BTreeMap;

use http::StatusCode;
use serde_json::{Map, Value, json};

use super::client_auth::authenticate;
use super::{authorize, dpop, grants};
use crate::body;
use crate::config::{DpopMode, RefreshTokens};
use crate::context::{Context, millis};
use crate::fault::Fault;
use crate::log::{RecordedRequest, Site};
use crate::reply::Reply;
use crate::store::{Grant, RefreshToken};
use crate::tokens::mint;
use crate::tokens::signer::{random, sha256};

/// The refresh token of an answer.
enum Refresh {
    None,
    New,
    /// The one that was sent.
    Same(String),
}

/// The outcome of a grant: tokens, or an answer as it is.
type Outcome = Result<Value, Box<Reply>>;

pub(crate) async fn reply(context: &Context, request: &RecordedRequest) -> Reply {
    if let Some(delay) = context.config.token_delay {
        tokio::time::sleep(delay).await;
    }
    if request.site == Site::OtherOrigin {
        return Reply::ok(&json!({"access_token": "stolen", "token_type": "Bearer"}));
    }
    let body = |body| Reply::new(StatusCode::OK, "application/json", body);
    match context.faults.first(&[Fault::TokenRedirects, Fault::TokenEndless, Fault::TokenNotJson]) {
        Some(Fault::TokenRedirects) => {
            let url = format!("{}{}", context.urls.other, request.path);
            return Reply::redirect(StatusCode::TEMPORARY_REDIRECT, &url);
        }
        Some(Fault::TokenEndless) => return body(body::endless()),
        Some(_) => return Reply::page(),
        None => {}
    }
    match run(context, request) {
        Ok(_)
            if request.param("grant_type") == Some("refresh_token")
                && context.occurs(Fault::RefreshAnswerLost) =>
        {
            Reply::Close
        }
        Ok(answer) => Reply::ok(&answer),
        Err(reply) => failure(context, *reply),
    }
}

/// A description that would clear a terminal's screen, set its title, forge a line and turn the rest around.
const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;title\u{7}\r\nINFO: logged in\u{202e}";

/// An error's answer after its faults.
fn failure(context: &Context, reply: Reply) -> Reply {
    let Reply::Answer(mut response) = reply else { return reply };
    if context.occurs(Fault::TokenErrorsWith200) {
        *response.status_mut() = StatusCode::OK;
    }
    match context.occurs(Fault::ErrorTextHostile) {
        true => Reply::error(response.status(), "invalid_grant", HOSTILE),
        false => Reply::Answer(response),
    }
}

fn run(context: &Context, request: &RecordedRequest) -> Outcome {
    let refuse = |reply: Reply| Err(Box::new(reply));
    let grant_type = request.param("grant_type");
    if grant_type == Some("refresh_token") {
        refresh_faults(context)?;
    }
    // Before a code or an assertion is used up: a client that lacks the nonce sends the same again.
    let key = proof(context, request)?;
    match grant_type {
        Some("authorization_code") => code(context, request, key),
        Some("refresh_token") => refresh(context, request, key),
        Some("client_credentials") => {
            let grant = grants::client_credentials(context, request)?;
            Ok(issue(context, Grant { key, ..grant }, None, Refresh::None))
        }
        Some("urn:ietf:params:oauth:grant-type:token-exchange") => grants::token_exchange(context, request),
        Some("urn:ietf:params:oauth:grant-type:jwt-bearer") => {
            let grant = grants::jwt_bearer(context, request)?;
            Ok(issue(context, Grant { key, ..grant }, None, Refresh::None))
        }
        Some(_) => refuse(Reply::bad("unsupported_grant_type", "the grant is unknown")),
        None => refuse(Reply::bad("invalid_request", "no `grant_type`")),
    }
}

fn code(context: &Context, request: &RecordedRequest, key: Option<String>) -> Outcome {
    let grant = grant_of_code(context, request, key)?;
    let wants_offline = grant.has_scope("offline_access");
    let refresh = match context.config.refresh_tokens {
        _ if context.occurs(Fault::RefreshTokenNeverIssued) => Refresh::None,
        RefreshTokens::Always => Refresh::New,
        RefreshTokens::OfflineAccess if wants_offline => Refresh::New,
        RefreshTokens::OfflineAccess | RefreshTokens::Never => Refresh::None,
    };
    let id_token = grant.has_scope("openid").then(|| mint::id_token(context, &grant.client, &grant.subject));
    let mut answer = issue(context, grant, None, refresh);
    if let Some(id_token) = id_token {
        answer["id_token"] = id_token.into();
    }
    Ok(answer)
}

/// Uses up a code, and returns its grant.
fn grant_of_code(
    context: &Context,
    request: &RecordedRequest,
    key: Option<String>,
) -> Result<Grant, Box<Reply>> {
    let refuse = |code, why| Err(Box::new(Reply::bad(code, why)));
    let client = authenticate(context, request)?;
    if context.occurs(Fault::CodeRefused) {
        return refuse("invalid_grant", "the code is refused");
    }
    let resource = resource(context, request)?;
    let text = request.param("code").unwrap_or_default();
    let verifier = request.param("code_verifier").unwrap_or_default();
    // RFC 7636, 4.1 and 4.6.
    let is_well_formed = (43..=128).contains(&verifier.len())
        && verifier.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte));
    let right_verifier = |challenge: &str| is_well_formed && sha256(verifier.as_bytes()) == challenge;
    let mut store = context.store();
    let now = context.now();
    let Some(code) = store.codes.get_mut(text) else {
        return refuse("invalid_grant", "the code is unknown");
    };
    // Before the use is looked at: no client may revoke what is another's.
    if code.grant.client != client.id {
        return refuse("invalid_grant", "the code is another client's");
    }
    if code.is_used && !context.occurs(Fault::CodeReplayAccepted) {
        let family = code.grant.family;
        store.counters.replayed_codes += 1;
        store.revoke_family(family);
        return refuse("invalid_grant", "the code was used before");
    }
    if code.expires <= now {
        return refuse("invalid_grant", "the code has expired");
    }
    if request.param("redirect_uri").is_some_and(|uri| uri != code.redirect_uri) {
        return refuse("invalid_grant", "the redirect URI is another than that of the authorization request");
    }
    if !right_verifier(&code.challenge) && !context.occurs(Fault::VerifierUnchecked) {
        return refuse("invalid_grant", "the verifier does not match the challenge");
    }
    if context.config.strict_resource && resource != code.grant.resource {
        return refuse("invalid_target", "`resource` is another than that of the authorization request");
    }
    if code.grant.key.is_some() && code.grant.key != key {
        return refuse("invalid_grant", "the code is bound to another key");
    }
    code.is_used = true;
    Ok(Grant { key, ..code.grant.clone() })
}

/// The answers of faults before a refresh has any effect.
fn refresh_faults(context: &Context) -> Result<(), Box<Reply>> {
    let faults = [
        Fault::RefreshConnectionClosed,
        Fault::RefreshRefused,
        Fault::RefreshFails,
        Fault::RefreshUnavailable,
    ];
    Err(Box::new(match context.faults.first(&faults) {
        Some(Fault::RefreshConnectionClosed) => Reply::Close,
        Some(Fault::RefreshRefused) => Reply::bad("invalid_grant", "the refresh token is refused"),
        Some(Fault::RefreshFails) => Reply::text(StatusCode::INTERNAL_SERVER_ERROR, "failed"),
        Some(_) => Reply::unavailable(),
        None => return Ok(()),
    }))
}

fn refresh(context: &Context, request: &RecordedRequest, key: Option<String>) -> Outcome {
    let refuse = |code, why| Err(Box::new(Reply::bad(code, why)));
    let client = authenticate(context, request)?;
    let resource = resource(context, request)?;
    let text = request.param("refresh_token").unwrap_or_default();
    let mut store = context.store();
    let now = context.now();
    let Some(token) = store.refresh_tokens.get(text) else {
        return refuse("invalid_grant", "the refresh token is unknown");
    };
    let (grant, is_replaced, expires) = (token.grant.clone(), token.is_replaced, token.expires);
    // Before the reuse is looked at: no client may revoke what is another's.
    if grant.client != client.id {
        return refuse("invalid_grant", "the refresh token is another client's");
    }
    if is_replaced && !context.occurs(Fault::RefreshReuseAccepted) {
        store.counters.reused_refresh_tokens += 1;
        store.revoke_family(grant.family);
        return refuse("invalid_grant", "the refresh token was replaced before: its family is revoked");
    }
    if store.revoked_families.get(&grant.family).is_some() || expires.is_some_and(|expires| expires <= now) {
        return refuse("invalid_grant", "the refresh token has expired or is revoked");
    }
    if context.config.strict_resource && resource != grant.resource {
        return refuse("invalid_target", "`resource` is another than that of the authorization request");
    }
    if grant.key != key {
        return refuse("invalid_grant", "the refresh token is bound to another key");
    }
    let scope = request.param("scope").map(str::to_owned);
    if scope.as_ref().is_some_and(|scope| !grant.has_scope(scope)) {
        return refuse("invalid_scope", "more scopes than were granted");
    }
    store.counters.refreshes += 1;
    let refresh = match context.faults.first(&[Fault::RefreshNotRotated, Fault::RefreshTokenOmitted]) {
        Some(Fault::RefreshNotRotated) => Refresh::Same(text.to_owned()),
        Some(_) => Refresh::None,
        None => {
            if let Some(token) = store.refresh_tokens.get_mut(text) {
                token.is_replaced = true;
            }
            Refresh::New
        }
    };
    drop(store);
    Ok(issue(context, grant, scope, refresh))
}

fn resource(context: &Context, request: &RecordedRequest) -> Result<Option<String>, Box<Reply>> {
    authorize::resource(context, request).map_err(|(code, why)| Box::new(Reply::bad(code, &why)))
}

/// The key of the request's proof, if proofs are used.
fn proof(context: &Context, request: &RecordedRequest) -> Result<Option<String>, Box<Reply>> {
    if context.config.dpop == DpopMode::Off || context.occurs(Fault::DpopIgnored) {
        return Ok(None);
    }
    let url = format!("{}{}", context.origin(request.site), request.path);
    let key = dpop::check(context, request, &url, None).map_err(|error| Box::new(error.reply()))?;
    match key {
        None if context.config.dpop == DpopMode::Required => {
            Err(Box::new(Reply::bad("invalid_dpop_proof", "no proof of possession")))
        }
        key => Ok(key),
    }
}

/// Makes the tokens of a grant, and the answer with them. `scope` narrows the access token, but not the refresh token
/// (RFC 6749, 6).
fn issue(context: &Context, mut grant: Grant, scope: Option<String>, refresh: Refresh) -> Value {
    let lifetime = context.config.access_token_lifetime;
    let token_type = if grant.key.is_some() { "DPoP" } else { "Bearer" };
    let mut answer = Map::new();
    let refresh_token = match refresh {
        Refresh::None => None,
        Refresh::Same(token) => Some(token),
        Refresh::New => {
            let token = format!("rt-{}", random(24));
            let expires =
                context.config.refresh_token_lifetime.map(|lifetime| context.now() + millis(lifetime));
            let mut store = context.store();
            store.remember(&token);
            let entry = RefreshToken { grant: grant.clone(), expires, is_replaced: false };
            store.refresh_tokens.insert(token.clone(), entry);
            Some(token)
        }
    };
    if let Some(token) = refresh_token {
        answer.insert("refresh_token".into(), token.into());
    }
    grant.scope = scope.unwrap_or(grant.scope);
    answer.insert("scope".into(), grant.scope.as_str().into());
    let token = mint::access_token(context, grant, lifetime, BTreeMap::new());
    answer.insert("access_token".into(), token.into());
    answer.insert("token_type".into(), token_type.into());
    answer.insert("expires_in".into(), lifetime.as_secs().into());
    spoil(context, &mut answer);
    Value::Object(answer)
}

/// Changes an answer with tokens by its faults.
fn spoil(context: &Context, answer: &mut Map<String, Value>) {
    if context.occurs(Fault::AccessTokenMissing) {
        answer.remove("access_token");
    }
    match context.faults.first(&[Fault::TokenTypeMissing, Fault::TokenTypeUnknown]) {
        Some(Fault::TokenTypeMissing) => drop(answer.remove("token_type")),
        Some(_) => drop(answer.insert("token_type".into(), "mac".into())),
        None => {}
    }
    let faults =
        [Fault::ExpiresInMissing, Fault::ExpiresInString, Fault::ExpiresInNegative, Fault::ExpiresInHuge];
    let Some(fault) = context.faults.first(&faults) else { return };
    let value = match fault {
        Fault::ExpiresInString => json!(context.config.access_token_lifetime.as_secs().to_string()),
        Fault::ExpiresInNegative => json!(-1),
        // A whole number; JSON may write it with an exponent.
        Fault::ExpiresInHuge => json!(1e30),
        _ => return drop(answer.remove("expires_in")),
    };
    answer.insert("expires_in".into(), value);
}

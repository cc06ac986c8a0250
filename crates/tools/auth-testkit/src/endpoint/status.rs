//! Introspection (RFC 7662) and revocation (RFC 7009).

use std::time::Duration;

use http::StatusCode;
use serde_json::{Value, json};

use super::client_auth::authenticate;
use crate::client::ClientAuth;
use crate::context::Context;
use crate::fault::Fault;
use crate::log::RecordedRequest;
use crate::reply::Reply;

/// How much longer a slow introspection takes.
const SLOW: Duration = Duration::from_secs(5);

/// Describes a token, to a client with credentials. A caller that names no client may ask too, unless set otherwise.
pub(crate) async fn introspect(context: &Context, request: &RecordedRequest) -> Reply {
    if context.occurs(Fault::IntrospectionSlow) {
        tokio::time::sleep(SLOW).await;
    }
    if context.occurs(Fault::IntrospectionFails) {
        return Reply::unavailable();
    }
    if context.config.introspection_auth || is_authenticating(request) {
        match authenticate(context, request) {
            Ok(client) if client.auth == ClientAuth::None => {
                return Reply::error(
                    StatusCode::UNAUTHORIZED,
                    "invalid_client",
                    "the client has no credentials",
                );
            }
            Ok(_) => {}
            Err(reply) => return *reply,
        }
    }
    let Some(token) = request.param("token") else { return Reply::bad("invalid_request", "no `token`") };
    if context.occurs(Fault::IntrospectionAlwaysActive) {
        return Reply::ok(&json!({"active": true}));
    }
    Reply::ok(&describe(context, token))
}

fn describe(context: &Context, token: &str) -> Value {
    let now = context.now();
    let store = context.store();
    if let Some(token) = store.valid_token(token, now) {
        let grant = &token.grant;
        let token_type = if grant.key.is_some() { "DPoP" } else { "Bearer" };
        let mut answer = json!({
            "active": true,
            "iss": context.issuer(),
            "sub": grant.subject,
            "client_id": grant.client,
            "scope": grant.scope,
            "aud": token.audience,
            "token_type": token_type,
            "iat": token.issued / 1000,
            "exp": token.expires.div_ceil(1000),
        });
        if let Some(key) = &grant.key {
            answer["cnf"] = json!({ "jkt": key });
        }
        return answer;
    }
    json!({"active": false})
}

/// Revokes a token: of a refresh token the whole family, of an access token only itself. Success also if it is unknown.
pub(crate) fn revoke(context: &Context, request: &RecordedRequest) -> Reply {
    if context.occurs(Fault::RevocationFails) {
        return Reply::unavailable();
    }
    let client = match authenticate(context, request) {
        Ok(client) => client,
        Err(reply) => return *reply,
    };
    let Some(token) = request.param("token") else { return Reply::bad("invalid_request", "no `token`") };
    let mut store = context.store();
    let family = store.refresh_tokens.get(token).filter(|found| found.grant.client == client.id);
    if let Some(family) = family.map(|found| found.grant.family) {
        store.revoke_family(family);
    } else if let Some(found) = store.access_tokens.get_mut(token)
        && found.grant.client == client.id
    {
        found.is_revoked = true;
    }
    Reply::empty(StatusCode::OK)
}

fn is_authenticating(request: &RecordedRequest) -> bool {
    request.headers.contains_key("authorization")
        || ["client_id", "client_assertion"].iter().any(|name| request.param(name).is_some())
}

//! The dynamic registration of clients (RFC 7591).

use http::StatusCode;
use serde_json::{Map, Value};

use crate::client::RegisteredClient;
use crate::context::Context;
use crate::fault::Fault;
use crate::log::RecordedRequest;
use crate::reply::Reply;
use crate::tokens::signer::random;

/// How long a secret of [`Fault::RegistrationSecretExpires`] is valid.
const SHORT_SECRET_MILLIS: u64 = 1000;

pub(crate) fn reply(context: &Context, request: &RecordedRequest) -> Reply {
    if !context.config.registration {
        return Reply::text(StatusCode::NOT_FOUND, "no registration");
    }
    match context.faults.first(&[Fault::RegistrationRefused, Fault::RegistrationFails]) {
        Some(Fault::RegistrationRefused) => {
            return Reply::error(StatusCode::FORBIDDEN, "access_denied", "registration is not open");
        }
        Some(_) => return Reply::unavailable(),
        None => {}
    }
    // read: a test's own bytes, and this crate may depend on none of ours
    let Ok(Value::Object(metadata)) = serde_json::from_slice::<Value>(&request.body) else {
        return Reply::bad("invalid_client_metadata", "the body is not a JSON object");
    };
    match register(context, metadata) {
        Ok(answer) => Reply::json(StatusCode::CREATED, &Value::Object(answer)),
        Err((code, why)) => Reply::bad(code, why),
    }
}

fn register(
    context: &Context,
    mut metadata: Map<String, Value>,
) -> Result<Map<String, Value>, (&'static str, &'static str)> {
    let id = format!("client-{}", random(9));
    let invalid = |why| ("invalid_client_metadata", why);
    let mut client = RegisteredClient::from_metadata(id.clone(), &metadata).map_err(invalid)?;
    let application_type = metadata.get("application_type").map(Value::as_str).unwrap_or(Some("web"));
    check_redirects(&client, application_type)?;
    if context.occurs(Fault::RegistrationDropsScopes) {
        metadata.remove("scope");
        client.scope = Some("openid".into());
    }
    if context.occurs(Fault::RegistrationSecretExpires) {
        client.secret_expires = Some(context.now() + SHORT_SECRET_MILLIS);
    }
    metadata.insert("client_id".into(), id.clone().into());
    metadata.insert("client_id_issued_at".into(), (context.now() / 1000).into());
    metadata.insert("token_endpoint_auth_method".into(), client.auth.method().into());
    if let Some(secret) = client.auth.secret() {
        let expires = client.secret_expires.map_or(0, |millis| millis.div_ceil(1000));
        metadata.insert("client_secret".into(), secret.into());
        metadata.insert("client_secret_expires_at".into(), expires.into());
        context.store().remember(secret);
    }
    if context.occurs(Fault::RegistrationWithoutClientId) {
        metadata.remove("client_id");
    }
    let mut store = context.store();
    store.counters.registrations += 1;
    store.clients.insert(id, client);
    Ok(metadata)
}

/// The rules for redirect URIs (OpenID Connect Registration, 2): `http` on loopback hosts and own schemes are for native
/// applications, `https` is for others.
fn check_redirects(
    client: &RegisteredClient,
    application_type: Option<&str>,
) -> Result<(), (&'static str, &'static str)> {
    let invalid = |why| Err(("invalid_redirect_uri", why));
    for uri in &client.redirect_uris {
        let loopback = ["http://127.0.0.1", "http://[::1]", "http://localhost"];
        let is_loopback = loopback.iter().any(|prefix| {
            uri.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '/', '?']))
        });
        let is_https = uri.starts_with("https://");
        match application_type {
            Some("native") if uri.starts_with("http://") && !is_loopback => {
                return invalid("a native application redirects by http to a loopback host only");
            }
            Some("web") if !is_https => {
                return invalid(
                    "a web application redirects by https; `application_type` is `web` unless given",
                );
            }
            Some("native" | "web") => {}
            _ => return Err(("invalid_client_metadata", "`application_type` is unknown")),
        }
        if uri.contains('#') || !uri.contains(':') {
            return invalid("a redirect URI is absolute and has no fragment");
        }
    }
    Ok(())
}

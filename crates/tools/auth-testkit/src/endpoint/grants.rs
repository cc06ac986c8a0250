//! The grants without a person at the browser: client credentials, token exchange, JWTs as grants.

use serde_json::{Value, json};

use super::authorize;
use super::client_auth::authenticate;
use crate::client::ClientAuth;
use crate::context::{Context, wall_seconds};
use crate::log::RecordedRequest;
use crate::reply::Reply;
use crate::store::Grant;
use crate::tokens::signer::random;
use crate::tokens::verify::{Verified, verify};

/// The type of an identity assertion that is a grant (draft-ietf-oauth-identity-assertion-authz-grant).
const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";
const ID_TOKEN: &str = "urn:ietf:params:oauth:token-type:id_token";

/// The `typ` of such an assertion.
const ID_JAG_TYP: &str = "oauth-id-jag+jwt";

/// How long such an assertion is valid, in seconds.
const ID_JAG_LIFETIME: u64 = 300;

fn refusal(code: &str, why: &str) -> Box<Reply> {
    Box::new(Reply::bad(code, why))
}

fn target(context: &Context, request: &RecordedRequest) -> Result<Option<String>, Box<Reply>> {
    authorize::resource(context, request).map_err(|(code, why)| refusal(code, &why))
}

/// RFC 6749, 4.4: a client for itself.
pub(crate) fn client_credentials(context: &Context, request: &RecordedRequest) -> Result<Grant, Box<Reply>> {
    let client = authenticate(context, request)?;
    if client.auth == ClientAuth::None {
        return Err(refusal("unauthorized_client", "the client has no credentials"));
    }
    let resource = target(context, request)?;
    let scope = authorize::scope(context, &client, request.param("scope"))
        .map_err(|(code, why)| refusal(code, &why))?;
    let family = context.store().new_family();
    Ok(Grant { subject: client.id.clone(), client: client.id, scope, resource, key: None, family })
}

/// RFC 8693: as an identity provider, exchanges an ID token of its own for an assertion that another server accepts.
pub(crate) fn token_exchange(context: &Context, request: &RecordedRequest) -> Result<Value, Box<Reply>> {
    let client = authenticate(context, request)?;
    let invalid = |why| refusal("invalid_request", why);
    if request.param("requested_token_type") != Some(ID_JAG) {
        return Err(invalid("`requested_token_type` is not that of an ID-JAG"));
    }
    if request.param("subject_token_type") != Some(ID_TOKEN) {
        return Err(invalid("`subject_token_type` is not that of an ID token"));
    }
    let audience = request.param("audience").ok_or_else(|| invalid("no `audience`"))?;
    let resource = request.param("resource").ok_or_else(|| invalid("no `resource`"))?;
    let token = request.param("subject_token").ok_or_else(|| invalid("no `subject_token`"))?;
    let verified = verify(token, &context.public_keys()).map_err(|why| refusal("invalid_grant", why))?;
    let issuer = context.issuer();
    check_expiry(&verified)?;
    if verified.claim("iss") != Some(&issuer) || !verified.is_for(&[&client.id]) {
        return Err(refusal("invalid_grant", "the ID token is not one of this server for this client"));
    }
    let scope = request.param("scope").unwrap_or_default();
    let now = context.now() / 1000;
    let claims = json!({
        "iss": issuer,
        "sub": verified.claims["sub"],
        "aud": audience,
        "resource": resource,
        "client_id": client.id_elsewhere.as_ref().unwrap_or(&client.id),
        "scope": scope,
        "jti": random(12),
        "iat": now,
        "exp": now + ID_JAG_LIFETIME,
    });
    let assertion = context.signer().sign(json!({"typ": ID_JAG_TYP}), &claims);
    context.store().remember(&assertion);
    Ok(json!({
        "issued_token_type": ID_JAG,
        "access_token": assertion,
        "token_type": "N_A",
        "scope": scope,
        "expires_in": ID_JAG_LIFETIME,
    }))
}

/// RFC 7523, 2.1: accepts an ID-JAG of a trusted identity provider, or the identity that a platform gives to a workload.
pub(crate) fn jwt_bearer(context: &Context, request: &RecordedRequest) -> Result<Grant, Box<Reply>> {
    let invalid = |why| refusal("invalid_grant", why);
    let assertion = request.param("assertion").ok_or_else(|| refusal("invalid_request", "no `assertion`"))?;
    let issuer = crate::tokens::verify::claims(assertion)
        .and_then(|claims| claims["iss"].as_str().map(str::to_owned))
        .ok_or_else(|| invalid("the assertion is not a JWT with an `iss`"))?;
    let keys = context.store().trusted.get(&issuer).cloned();
    let keys = keys.ok_or_else(|| invalid("the assertion's issuer is not trusted"))?;
    let verified = verify(assertion, &keys).map_err(invalid)?;
    check_expiry(&verified)?;
    if !verified.is_for(&[&context.issuer(), &context.endpoint("token")]) {
        return Err(invalid("`aud` is not this server"));
    }
    let subject = verified.claim("sub").ok_or_else(|| invalid("no `sub`"))?.to_owned();
    let is_id_jag = verified.header["typ"] == ID_JAG_TYP;
    let (client, scope, resource) = match is_id_jag {
        true => id_jag(context, request, &verified)?,
        false => workload(context, request, &subject)?,
    };
    // At last, so that a request that is refused for another reason does not use the assertion up.
    if let Some(id) = verified.claim("jti") {
        let is_new = context.store().used_ids.insert(format!("grant {issuer} {id}"), ());
        if !is_new {
            return Err(invalid("the assertion was presented before"));
        }
    }
    let family = context.store().new_family();
    Ok(Grant { client, subject, scope, resource, key: None, family })
}

/// The client, the scope and the resource of a grant.
type Terms = (String, String, Option<String>);

/// An ID-JAG is for the client that it names, which authenticates as well.
fn id_jag(context: &Context, request: &RecordedRequest, verified: &Verified) -> Result<Terms, Box<Reply>> {
    let client = authenticate(context, request)?;
    if verified.claim("client_id") != Some(&client.id) {
        return Err(refusal("invalid_grant", "the assertion's `client_id` is another client"));
    }
    let resource = verified.claim("resource").map(str::to_owned);
    let is_known = |resource: &String| {
        *resource == context.resource_url() || context.store().resources.contains(resource)
    };
    if !resource.as_ref().is_some_and(is_known) {
        return Err(refusal("invalid_target", "the assertion's `resource` is unknown"));
    }
    let asked = verified.claim("scope").filter(|scope| !scope.is_empty()).or(request.param("scope"));
    let scope = authorize::scope(context, &client, asked).map_err(|(code, why)| refusal(code, &why))?;
    Ok((client.id, scope, resource))
}

/// The identity of a workload is its own authentication. If the request names a client, it has to be a known one.
fn workload(context: &Context, request: &RecordedRequest, subject: &str) -> Result<Terms, Box<Reply>> {
    let resource = target(context, request)?;
    let client = match request.param("client_id").is_some() || request.headers.contains_key("authorization") {
        true => authenticate(context, request)?,
        false => crate::client::RegisteredClient::new(subject),
    };
    let scope = authorize::scope(context, &client, request.param("scope"));
    let scope = scope.map_err(|(code, why)| refusal(code, &why))?;
    Ok((client.id, scope, resource))
}

fn check_expiry(verified: &Verified) -> Result<(), Box<Reply>> {
    match verified.number("exp") {
        Some(expires) if expires > wall_seconds() => Ok(()),
        _ => Err(refusal("invalid_grant", "`exp` is missing or past")),
    }
}

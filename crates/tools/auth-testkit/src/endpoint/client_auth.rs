//! Authenticates clients at the token endpoint and its neighbours.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::StatusCode;
use http::header::WWW_AUTHENTICATE;

use super::authorize::find_client;
use crate::client::{ClientAuth, RegisteredClient};
use crate::context::{Context, wall_seconds};
use crate::fault::Fault;
use crate::log::RecordedRequest;
use crate::reply::Reply;
use crate::tokens::verify::verify;

/// The type of a client's assertion (RFC 7523, 2.2).
const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// A request's credentials of its client.
#[derive(Default)]
struct Credentials {
    id: Option<String>,
    basic: Option<String>,
    post: Option<String>,
    assertion: Option<String>,
}

/// The client of a request, which has authenticated in the way that it is registered for.
pub(crate) fn authenticate(
    context: &Context,
    request: &RecordedRequest,
) -> Result<RegisteredClient, Box<Reply>> {
    check(context, request).map_err(|why| {
        let reply = Reply::error(StatusCode::UNAUTHORIZED, "invalid_client", &why);
        Box::new(match request.headers.contains_key("authorization") {
            true => reply.with(WWW_AUTHENTICATE, "Basic realm=\"token\""),
            false => reply,
        })
    })
}

fn check(context: &Context, request: &RecordedRequest) -> Result<RegisteredClient, String> {
    if context.occurs(Fault::ClientForgotten) {
        return Err("the client is unknown".into());
    }
    let credentials = credentials(request)?;
    let id = credentials.id.as_deref().ok_or("no client is named")?;
    let client = find_client(context, id)?;
    let used = match &credentials {
        Credentials { assertion: Some(_), .. } => "private_key_jwt",
        Credentials { basic: Some(_), .. } => "client_secret_basic",
        Credentials { post: Some(_), .. } => "client_secret_post",
        _ => "none",
    };
    let method = client.auth.method();
    if used != method {
        return Err(format!("the client is registered for `{method}`, and uses `{used}`"));
    }
    match &client.auth {
        ClientAuth::None => {}
        ClientAuth::Basic(secret) | ClientAuth::Post(secret) => {
            let sent = credentials.basic.as_ref().or(credentials.post.as_ref());
            if sent != Some(secret) {
                return Err("the secret is wrong (RFC 6749, 2.3.1 has it form-encoded for `Basic`)".into());
            }
            if client.secret_expires.is_some_and(|expires| expires <= context.now()) {
                return Err("the secret has expired".into());
            }
        }
        ClientAuth::Keys(keys) => {
            check_assertion(context, id, credentials.assertion.as_deref().unwrap_or_default(), keys)?;
        }
    }
    Ok(client)
}

fn credentials(request: &RecordedRequest) -> Result<Credentials, String> {
    let text = |name: &str| request.param(name).map(str::to_owned);
    let mut credentials =
        Credentials { id: text("client_id"), post: text("client_secret"), ..Credentials::default() };
    if let Some(header) = request.header("authorization") {
        let (scheme, encoded) = header.split_once(' ').unwrap_or((header, ""));
        if !scheme.eq_ignore_ascii_case("basic") {
            return Err("the `Authorization` is not `Basic`".into());
        }
        let decoded = STANDARD.decode(encoded).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let decoded = decoded.ok_or("the `Authorization` is not base64 of text")?;
        let (id, secret) = decoded.split_once(':').ok_or("the `Authorization` has no colon")?;
        let id = form_decode(id);
        if credentials.id.as_ref().is_some_and(|other| *other != id) {
            return Err("two clients are named".into());
        }
        credentials.id = Some(id);
        credentials.basic = Some(form_decode(secret));
    }
    if let Some(assertion) = text("client_assertion") {
        if request.param("client_assertion_type") != Some(ASSERTION_TYPE) {
            return Err("`client_assertion_type` is unknown".into());
        }
        let subject = subject(&assertion).ok_or("the assertion is not a JWT")?;
        if credentials.id.as_ref().is_some_and(|id| *id != subject) {
            return Err("`client_id` is not the assertion's `sub`".into());
        }
        credentials.id = Some(subject);
        credentials.assertion = Some(assertion);
    }
    let ways = [&credentials.basic, &credentials.post, &credentials.assertion];
    if ways.iter().filter(|way| way.is_some()).count() > 1 {
        return Err("the client authenticates in two ways".into());
    }
    Ok(credentials)
}

/// The text of one part of `Basic`: each is form-encoded (RFC 6749, 2.3.1).
fn form_decode(text: &str) -> String {
    let pair = format!("x={text}");
    let value = form_urlencoded::parse(pair.as_bytes()).next().map(|(_, value)| value.into_owned());
    value.unwrap_or_default()
}

/// The claim `sub` of a JWT that is not checked yet.
fn subject(token: &str) -> Option<String> {
    Some(crate::tokens::verify::claims(token)?["sub"].as_str()?.to_owned())
}

/// The rules of RFC 7523, 3.
fn check_assertion(
    context: &Context,
    id: &str,
    assertion: &str,
    keys: &[serde_json::Value],
) -> Result<(), String> {
    let refusal = |why: &str| format!("the client's assertion is refused: {why}");
    let refuse = |why: &str| Err(refusal(why));
    let verified = verify(assertion, keys).map_err(refusal)?;
    if verified.claim("iss") != Some(id) || verified.claim("sub") != Some(id) {
        return refuse("`iss` and `sub` are not the client");
    }
    if !verified.is_for(&[&context.issuer(), &context.endpoint("token")]) {
        return refuse("`aud` is neither the issuer nor the token endpoint");
    }
    if verified.number("exp").is_none_or(|expires| expires <= wall_seconds()) {
        return refuse("`exp` is missing or past");
    }
    let Some(jti) = verified.claim("jti") else { return refuse("no `jti`") };
    if !context.store().used_ids.insert(format!("assertion {id} {jti}"), ()) {
        return refuse("its `jti` was presented before");
    }
    Ok(())
}

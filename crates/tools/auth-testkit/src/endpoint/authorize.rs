//! The authorization endpoint: redirects straight back, as if a person had agreed.

use form_urlencoded::Serializer;
use http::StatusCode;

use crate::client::RegisteredClient;
use crate::config::DpopMode;
use crate::context::{Context, millis};
use crate::fault::Fault;
use crate::log::RecordedRequest;
use crate::reply::Reply;
use crate::store::{Code, Grant};
use crate::tokens::signer::random;

/// An error that goes back to the client: its code and its description.
type Refusal = (&'static str, String);

pub(crate) fn reply(context: &Context, request: &RecordedRequest) -> Reply {
    // Errors about who asks are for the person: the redirect URI is not known to be the client's.
    let client = match find_client(context, request.param("client_id").unwrap_or_default()) {
        Ok(client) => client,
        Err(why) => return Reply::bad("invalid_client", &why),
    };
    let redirect_uri = match request.param("redirect_uri") {
        Some(uri) if client.redirects_to(uri) => uri.to_owned(),
        Some(_) => return Reply::bad("invalid_request", "the redirect URI is none of the client's"),
        None => return Reply::bad("invalid_request", "no `redirect_uri`"),
    };
    let mut answer = Vec::new();
    match authorize(context, request, &client, &redirect_uri) {
        Ok(code) => answer.push(("code", code)),
        Err((error, description)) => {
            answer.push(("error", error.to_owned()));
            answer.push(("error_description", description));
        }
    }
    if context.occurs(Fault::CodeMissing) {
        answer.clear();
    }
    answer.extend(state(context, request));
    answer.extend(iss(context));
    let mut pairs = Serializer::new(String::new());
    pairs.extend_pairs(answer);
    let sign = if redirect_uri.contains('?') { '&' } else { '?' };
    Reply::redirect(StatusCode::FOUND, &format!("{redirect_uri}{sign}{}", pairs.finish()))
}

/// A client that is registered, or whose id is the URL of a document.
pub(crate) fn find_client(context: &Context, id: &str) -> Result<RegisteredClient, String> {
    if let Some(client) = context.store().clients.get(id) {
        return Ok(client.clone());
    }
    let Some(document) = context.config.documents.get(id) else {
        return Err("the client is unknown".into());
    };
    if !context.config.client_documents {
        return Err("client id metadata documents are switched off".into());
    }
    let members = document.as_object().ok_or("the client's document is not an object")?;
    if members.get("client_id").and_then(|found| found.as_str()) != Some(id) {
        return Err("the document's `client_id` is another than its URL".into());
    }
    let mut members = members.clone();
    // A document is public, so its client has no secret.
    members.entry("token_endpoint_auth_method").or_insert_with(|| "none".into());
    RegisteredClient::from_metadata(id.to_owned(), &members).map_err(str::to_owned)
}

fn authorize(
    context: &Context,
    request: &RecordedRequest,
    client: &RegisteredClient,
    redirect_uri: &str,
) -> Result<String, Refusal> {
    let invalid = |why: &str| Err(("invalid_request", why.to_owned()));
    if context.occurs(Fault::AccessDenied) {
        return Err(("access_denied", "the person has refused".into()));
    }
    if request.param("response_type") != Some("code") {
        return Err(("unsupported_response_type", "`response_type` is not `code`".into()));
    }
    let challenge = match (request.param("code_challenge"), request.param("code_challenge_method")) {
        (Some(challenge), Some("S256")) if challenge.len() == 43 => challenge.to_owned(),
        (Some(_), Some("S256")) => return invalid("`code_challenge` is not a SHA-256 in base64url"),
        (Some(_), _) => return invalid("`code_challenge_method` is not `S256`"),
        (None, _) => return invalid("no `code_challenge`"),
    };
    let resource = resource(context, request)?;
    let scope = scope(context, client, request.param("scope"))?;
    let key = match context.config.dpop {
        DpopMode::Off => None,
        _ => request.param("dpop_jkt").map(str::to_owned),
    };
    let mut store = context.store();
    let family = store.new_family();
    let grant = Grant {
        client: client.id.clone(),
        subject: context.config.subject.clone(),
        scope,
        resource,
        key,
        family,
    };
    let code = format!("code-{}", random(24));
    let expires = context.now() + millis(context.config.code_lifetime);
    store.remember(&code);
    store.counters.codes += 1;
    let redirect_uri = redirect_uri.to_owned();
    store.codes.insert(code.clone(), Code { grant, redirect_uri, challenge, expires, is_used: false });
    Ok(code)
}

/// The `resource` of a request (RFC 8707), which must be one that the server issues tokens for.
pub(crate) fn resource(context: &Context, request: &RecordedRequest) -> Result<Option<String>, Refusal> {
    let invalid = |why: &str| Err(("invalid_target", why.to_owned()));
    let resource = match request.params("resource").as_slice() {
        [] => return Ok(None),
        [resource] => *resource,
        _ => return invalid("more than one `resource`"),
    };
    if context.occurs(Fault::ResourceParameterRefused) {
        return invalid("AADSTS9010010: the resource parameter does not match the scopes");
    }
    if resource != context.resource_url() && !context.store().resources.contains(resource) {
        return invalid("the resource is unknown");
    }
    Ok(Some(resource.to_owned()))
}

/// The scopes that are granted: those that are asked for, else the one that the resource needs.
pub(crate) fn scope(
    context: &Context,
    client: &RegisteredClient,
    asked: Option<&str>,
) -> Result<String, Refusal> {
    let Some(asked) = asked.filter(|scope| !scope.is_empty()) else {
        return Ok(context.config.required_scope.clone());
    };
    let supported = &context.config.scopes_supported;
    if let Some(unknown) = asked.split(' ').find(|scope| !supported.iter().any(|known| known == scope)) {
        return Err(("invalid_scope", format!("the scope {unknown:?} is unknown")));
    }
    if let Some(refused) = client.refused_scopes(asked).first() {
        return Err(("invalid_scope", format!("the client is not registered for the scope {refused:?}")));
    }
    let first = asked.split(' ').next().unwrap_or(asked);
    let narrowed = context.occurs(Fault::ScopeNarrowed);
    Ok(if narrowed { first } else { asked }.to_owned())
}

fn state(context: &Context, request: &RecordedRequest) -> Option<(&'static str, String)> {
    let state = request.param("state")?;
    match context.faults.first(&[Fault::StateMissing, Fault::StateChanged]) {
        Some(Fault::StateMissing) => None,
        Some(_) => Some(("state", format!("{state}x"))),
        None => Some(("state", state.to_owned())),
    }
}

fn iss(context: &Context) -> Option<(&'static str, String)> {
    let issuer = context.issuer();
    let faults = [
        Fault::IssMissing,
        Fault::IssWrong,
        Fault::IssUnexpected,
        Fault::IssUnexpectedWrong,
        Fault::IssNormalized,
    ];
    let value = match context.faults.first(&faults) {
        Some(Fault::IssMissing) => return None,
        Some(Fault::IssWrong | Fault::IssUnexpectedWrong) => "https://issuer.attacker.example".into(),
        Some(Fault::IssNormalized) => format!("{issuer}/"),
        Some(_) => issuer,
        None if context.config.response_iss => issuer,
        None => return None,
    };
    Some(("iss", value))
}

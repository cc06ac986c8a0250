//! The protected resource beside the server: its metadata, its challenges, and its answers to those with a token.

use http::header::WWW_AUTHENTICATE;
use http::{HeaderName, Request, StatusCode};
use serde_json::{Map, Value, json};

use crate::config::{DpopMode, ResourceMetadataPlace};
use crate::context::Context;
use crate::endpoint::dpop::{self, ProofError};
use crate::fault::Fault;
use crate::log::{RecordedRequest, Site};
use crate::reply::Reply;
use crate::store::AccessToken;

/// Where RFC 9728 puts the metadata.
pub(crate) const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// Whom a request to the resource is from. A handler finds it in the request's extensions.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Authorized {
    /// The token's `sub`.
    pub subject: String,
    /// The token's `client_id`.
    pub client: String,
    /// The token's scopes, divided by spaces.
    pub scope: String,
}

/// The resource's metadata (RFC 9728).
pub(crate) fn metadata(context: &Context, request: &RecordedRequest) -> Reply {
    if request.site != Site::OtherOrigin {
        match context.faults.first(&[Fault::ResourceMetadataNotJson, Fault::ResourceMetadataFails]) {
            Some(Fault::ResourceMetadataNotJson) => return Reply::page(),
            Some(_) => return Reply::text(StatusCode::INTERNAL_SERVER_ERROR, "failed"),
            None => {}
        }
    }
    Reply::ok(&Value::Object(document(context, request.site)))
}

fn document(context: &Context, site: Site) -> Map<String, Value> {
    let mut document = Map::new();
    let mut set = |name: &str, value: Value| document.insert(name.to_owned(), value);
    let url = context.resource_url();
    let faults = [Fault::ResourceMissing, Fault::ResourceOtherHost, Fault::ResourceTrailingSlash];
    let resource = match context.faults.first(&faults) {
        _ if site == Site::OtherOrigin => {
            Some(format!("{}{}", context.urls.other, context.config.resource_path))
        }
        Some(Fault::ResourceMissing) => None,
        Some(Fault::ResourceOtherHost) => {
            Some(format!("https://resource.attacker.example{}", context.config.resource_path))
        }
        Some(_) => Some(format!("{url}/")),
        None => Some(url),
    };
    if let Some(resource) = resource {
        set("resource", resource.into());
    }
    let issuer = context.issuer();
    let faults = [
        Fault::AuthorizationServersMissing,
        Fault::AuthorizationServersEmpty,
        Fault::AuthorizationServersTwo,
        Fault::AuthorizationServersLinkLocal,
    ];
    match context.faults.first(&faults) {
        Some(Fault::AuthorizationServersMissing) => {}
        Some(Fault::AuthorizationServersEmpty) => drop(set("authorization_servers", json!([]))),
        Some(Fault::AuthorizationServersTwo) => {
            set("authorization_servers", json!([issuer, "https://second.example"]));
        }
        Some(_) => drop(set("authorization_servers", json!(["http://169.254.169.254"]))),
        None => drop(set("authorization_servers", json!([issuer]))),
    }
    set("scopes_supported", context.config.scopes_supported.clone().into());
    set("bearer_methods_supported", json!(["header"]));
    if context.config.dpop != DpopMode::Off {
        set("dpop_signing_alg_values_supported", json!(["ES256", "RS256"]));
    }
    if context.config.dpop == DpopMode::Required {
        set("dpop_bound_access_tokens_required", true.into());
    }
    if let Some(edit) = &context.config.edit_resource_metadata {
        edit(&mut document);
    }
    document
}

/// The fault of a request to the resource.
enum Refusal {
    /// It has no token.
    Absent,
    /// Its token is not valid: why.
    Invalid(&'static str),
    /// Its token lacks a scope: all that the operation needs.
    Scope(String),
    /// Its proof lacks the nonce.
    Nonce(String),
}

/// A request to the resource.
pub(crate) async fn reply(context: &Context, request: RecordedRequest) -> Reply {
    if request.site == Site::OtherOrigin {
        return Reply::ok(&json!({"origin": "other"}));
    }
    if request.token().is_some() && context.occurs(Fault::ResourceRedirects) {
        let url = format!("{}{}", context.urls.other, request.path);
        return Reply::redirect(StatusCode::TEMPORARY_REDIRECT, &url);
    }
    match check(context, &request) {
        Ok(token) => answer(context, request, token).await,
        Err(refusal) => refuse(context, &request, refusal),
    }
}

fn check(context: &Context, request: &RecordedRequest) -> Result<AccessToken, Refusal> {
    let text = request.token().ok_or(Refusal::Absent)?;
    if context.occurs(Fault::AlwaysUnauthorized) {
        return Err(Refusal::Invalid("the token is refused"));
    }
    let token = context.store().valid_token(text, context.now()).cloned();
    let token = token.ok_or(Refusal::Invalid("the token is unknown, expired or revoked"))?;
    if token.audience != context.resource_url() {
        return Err(Refusal::Invalid("the token is for another resource"));
    }
    let url = format!("{}{}", context.urls.resource, request.path);
    let key = match dpop::check(context, request, &url, Some(text)) {
        Ok(key) => key,
        Err(ProofError::Nonce(nonce)) => return Err(Refusal::Nonce(nonce)),
        Err(ProofError::Invalid(why)) => return Err(Refusal::Invalid(why)),
    };
    if token.grant.key.is_some() && (key != token.grant.key || !uses_dpop(request)) {
        return Err(Refusal::Invalid("the token is bound to a key, which the request does not prove"));
    }
    let needed = needed_scope(context, request);
    if !token.grant.has_scope(&needed) || context.occurs(Fault::AlwaysForbidden) {
        return Err(Refusal::Scope(needed));
    }
    Ok(token)
}

fn uses_dpop(request: &RecordedRequest) -> bool {
    let header = request.header("authorization").and_then(|header| header.get(..5));
    header.is_some_and(|scheme| scheme.eq_ignore_ascii_case("dpop "))
}

/// The scopes that an operation needs: those of the resource, of the path and of the tool that is called.
fn needed_scope(context: &Context, request: &RecordedRequest) -> String {
    let config = &context.config;
    let path = config.path_scopes.get(&request.path);
    let tool = tool(request).and_then(|tool| config.tool_scopes.get(&tool));
    let mut needed = Vec::new();
    for scopes in [Some(&config.required_scope), path, tool].into_iter().flatten() {
        for scope in scopes.split_ascii_whitespace() {
            if !needed.contains(&scope) {
                needed.push(scope);
            }
        }
    }
    needed.join(" ")
}

/// The name of the tool that a message of MCP calls.
fn tool(request: &RecordedRequest) -> Option<String> {
    // read: a test's own bytes, and this crate may depend on none of ours
    let message: Value = serde_json::from_slice(&request.body).ok()?;
    (message["method"] == "tools/call").then_some(())?;
    Some(message["params"]["name"].as_str()?.to_owned())
}

fn refuse(context: &Context, request: &RecordedRequest, refusal: Refusal) -> Reply {
    let (status, error) = match &refusal {
        Refusal::Absent => (StatusCode::UNAUTHORIZED, None),
        Refusal::Invalid(_) => (StatusCode::UNAUTHORIZED, Some("invalid_token")),
        Refusal::Nonce(_) => (StatusCode::UNAUTHORIZED, Some("use_dpop_nonce")),
        Refusal::Scope(_) => (StatusCode::FORBIDDEN, Some("insufficient_scope")),
    };
    let why = match &refusal {
        Refusal::Invalid(why) => *why,
        _ => error.unwrap_or("no token"),
    };
    let reply = Reply::json(status, &json!({"error": error.unwrap_or("unauthorized"), "why": why}));
    if status == StatusCode::UNAUTHORIZED && context.occurs(Fault::ChallengeMissing) {
        return reply;
    }
    let mut parts = Vec::new();
    if let Some(error) = error {
        parts.push(format!("error=\"{error}\""));
    }
    if context.config.challenge_metadata {
        parts.push(format!("resource_metadata=\"{}\"", metadata_url(context)));
    }
    let scope = match &refusal {
        Refusal::Scope(needed) => Some(needed.as_str()),
        _ if context.config.challenge_scope => Some(context.config.required_scope.as_str()),
        _ => None,
    };
    if let Some(scope) = scope.filter(|scope| !scope.is_empty()) {
        parts.push(format!("scope=\"{scope}\""));
    }
    let nonce = matches!(refusal, Refusal::Nonce(_));
    let scheme = match nonce || uses_dpop(request) || context.config.dpop == DpopMode::Required {
        true => {
            // RFC 9449, 7.1.
            parts.push("algs=\"ES256 RS256\"".to_owned());
            "DPoP"
        }
        false => "Bearer",
    };
    let mut challenge = format!("{scheme} {}", parts.join(", "));
    if context.occurs(Fault::ChallengeSeveralSchemes) {
        challenge = format!("Basic realm=\"a, Bearer \\\"b\\\"\", {challenge}, Negotiate");
    }
    let reply = reply.with(WWW_AUTHENTICATE, challenge.trim_end());
    match refusal {
        Refusal::Nonce(nonce) => reply.with(HeaderName::from_static("dpop-nonce"), &nonce),
        _ => reply,
    }
}

fn metadata_url(context: &Context) -> String {
    let faults = [Fault::ChallengeMetadataLinkLocal, Fault::ChallengeMetadataOtherHost];
    let path = &context.config.resource_path;
    match context.faults.first(&faults) {
        Some(Fault::ChallengeMetadataLinkLocal) => "http://169.254.169.254/latest/meta-data".into(),
        Some(_) => format!("{}{WELL_KNOWN}{path}", context.urls.other),
        None if context.config.resource_metadata_at.contains(&ResourceMetadataPlace::Path) => {
            format!("{}{WELL_KNOWN}{path}", context.urls.resource)
        }
        None => format!("{}{WELL_KNOWN}", context.urls.resource),
    }
}

/// The handler's answer, or what the request was authorized as.
async fn answer(context: &Context, request: RecordedRequest, token: AccessToken) -> Reply {
    context.store().counters.authorized_requests += 1;
    let grant = token.grant;
    let authorized = Authorized { subject: grant.subject, client: grant.client, scope: grant.scope };
    let Some(handler) = &context.config.handler else {
        return Reply::ok(&json!({
            "subject": authorized.subject,
            "client_id": authorized.client,
            "scope": authorized.scope,
        }));
    };
    let mut forwarded = Request::new(request.body);
    *forwarded.method_mut() = request.method;
    *forwarded.headers_mut() = request.headers;
    if let Ok(uri) = request.target.parse() {
        *forwarded.uri_mut() = uri;
    }
    forwarded.extensions_mut().insert(authorized);
    Reply::Answer(handler(forwarded).await)
}

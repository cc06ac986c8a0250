//! The metadata of the authorization server (RFC 8414, OpenID Connect Discovery).

use http::StatusCode;
use serde_json::{Map, Value, json};

use crate::body;
use crate::config::DpopMode;
use crate::context::Context;
use crate::fault::Fault;
use crate::log::{RecordedRequest, Site};
use crate::reply::Reply;

/// The grants that the token endpoint has.
pub(crate) const GRANTS: [&str; 5] = [
    "authorization_code",
    "refresh_token",
    "client_credentials",
    "urn:ietf:params:oauth:grant-type:token-exchange",
    "urn:ietf:params:oauth:grant-type:jwt-bearer",
];

/// The algorithms of assertions and proofs.
const ALGORITHMS: [&str; 2] = ["ES256", "RS256"];

pub(crate) fn reply(context: &Context, request: &RecordedRequest) -> Reply {
    let answer = || Reply::ok(&Value::Object(document(context)));
    // What another origin serves to those who follow a redirect looks right.
    if request.site == Site::OtherOrigin {
        return answer();
    }
    let faults = [
        Fault::MetadataNotJson,
        Fault::MetadataContentType,
        Fault::MetadataEndless,
        Fault::MetadataDrips,
        Fault::MetadataRedirectLoop,
        Fault::MetadataRedirects,
        Fault::MetadataFails,
    ];
    let body = |body| Reply::new(StatusCode::OK, "application/json", body);
    match context.faults.first(&faults) {
        Some(Fault::MetadataNotJson) => body(body::whole("<metadata/>")),
        Some(Fault::MetadataContentType) => {
            let text = Value::Object(document(context)).to_string();
            Reply::new(StatusCode::OK, "text/html", body::whole(text))
        }
        Some(Fault::MetadataEndless) => body(body::endless()),
        Some(Fault::MetadataDrips) => body(body::dripping()),
        Some(Fault::MetadataRedirectLoop) => {
            Reply::redirect(StatusCode::FOUND, &format!("{}{}", context.urls.server, request.path))
        }
        Some(Fault::MetadataRedirects) => {
            Reply::redirect(StatusCode::FOUND, &format!("{}{}", context.urls.other, request.path))
        }
        Some(_) => Reply::unavailable(),
        None => answer(),
    }
}

fn document(context: &Context) -> Map<String, Value> {
    let mut document = Map::new();
    let mut set = |name: &str, value: Value| document.insert(name.to_owned(), value);
    set("authorization_endpoint", authorization_endpoint(context).into());
    set("token_endpoint", token_endpoint(context).into());
    set("introspection_endpoint", context.endpoint("introspect").into());
    set("revocation_endpoint", context.endpoint("revoke").into());
    set("jwks_uri", jwks_uri(context).into());
    if context.config.registration {
        set("registration_endpoint", context.endpoint("register").into());
    }
    if let Some(issuer) = issuer(context) {
        set("issuer", issuer.into());
    }
    set("scopes_supported", context.config.scopes_supported.clone().into());
    set("response_types_supported", json!(["code"]));
    set("response_modes_supported", json!(["query"]));
    set("grant_types_supported", json!(GRANTS));
    set("authorization_grant_profiles_supported", json!(["urn:ietf:params:oauth:grant-profile:id-jag"]));
    let methods = ["none", "client_secret_basic", "client_secret_post", "private_key_jwt"];
    set("token_endpoint_auth_methods_supported", json!(methods));
    set("token_endpoint_auth_signing_alg_values_supported", json!(ALGORITHMS));
    match context.faults.first(&[Fault::PkceNotAdvertised, Fault::PkcePlainOnly]) {
        Some(Fault::PkceNotAdvertised) => {}
        Some(_) => drop(set("code_challenge_methods_supported", json!(["plain"]))),
        None => drop(set("code_challenge_methods_supported", json!(["S256"]))),
    }
    let unexpected = context.faults.first(&[Fault::IssUnexpected, Fault::IssUnexpectedWrong]).is_some();
    if context.config.response_iss && !unexpected {
        set("authorization_response_iss_parameter_supported", true.into());
    }
    if context.config.client_documents {
        set("client_id_metadata_document_supported", true.into());
    }
    if context.config.dpop != DpopMode::Off {
        set("dpop_signing_alg_values_supported", json!(ALGORITHMS));
    }
    set("subject_types_supported", json!(["public"]));
    set("id_token_signing_alg_values_supported", json!([context.signer().algorithm()]));
    if let Some(edit) = &context.config.edit_metadata {
        edit(&mut document);
    }
    document
}

fn issuer(context: &Context) -> Option<String> {
    let issuer = context.issuer();
    let faults = [
        Fault::MetadataIssuerMissing,
        Fault::MetadataIssuerDiffers,
        Fault::MetadataIssuerTrailingSlash,
        Fault::MetadataIssuerOtherHost,
    ];
    match context.faults.first(&faults) {
        Some(Fault::MetadataIssuerMissing) => None,
        Some(Fault::MetadataIssuerDiffers) => Some(format!("{issuer}/other")),
        Some(Fault::MetadataIssuerTrailingSlash) => Some(format!("{issuer}/")),
        Some(_) => Some("https://issuer.attacker.example".into()),
        None => Some(issuer),
    }
}

fn authorization_endpoint(context: &Context) -> String {
    let faults = [
        Fault::AuthorizationEndpointJavascript,
        Fault::AuthorizationEndpointFile,
        Fault::AuthorizationEndpointShell,
    ];
    let endpoint = context.endpoint("authorize");
    match context.faults.first(&faults) {
        Some(Fault::AuthorizationEndpointJavascript) => "javascript:fetch('https://attacker.example')".into(),
        Some(Fault::AuthorizationEndpointFile) => "file:///bin/sh".into(),
        Some(_) => format!("{endpoint}?a=$(touch${{IFS}}pwned)&calc.exe|`id`;'\""),
        None => endpoint,
    }
}

fn token_endpoint(context: &Context) -> String {
    let endpoint = context.endpoint("token");
    match context.faults.first(&[Fault::TokenEndpointScheme, Fault::TokenEndpointLinkLocal]) {
        Some(Fault::TokenEndpointScheme) => endpoint.replacen("http:", "ftp:", 1),
        Some(_) => "http://169.254.169.254/token".into(),
        None => endpoint,
    }
}

fn jwks_uri(context: &Context) -> String {
    match context.occurs(Fault::JwksUriLinkLocal) {
        true => "http://169.254.169.254/jwks".into(),
        false => context.endpoint("jwks"),
    }
}

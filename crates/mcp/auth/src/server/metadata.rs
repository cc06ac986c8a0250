//! The metadata of the protected resource (RFC 9728), as a document and as a service.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::task::{Context, Poll};

use agentwire_transport_http::server::Body;
use bytes::Bytes;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN, ALLOW,
    CACHE_CONTROL, CONTENT_TYPE,
};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use serde::Serialize;
use tower_service::Service;

use crate::jose::Algorithm;
use crate::server::dpop::DpopPolicy;
use crate::server::resource_server::ResourceServer;

const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, OPTIONS");

#[derive(Serialize)]
struct Document<'a> {
    resource: &'a str,
    authorization_servers: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    scopes_supported: Vec<String>,
    bearer_methods_supported: [&'a str; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_documentation: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dpop_signing_alg_values_supported: Option<[&'a str; Algorithm::ALL.len()]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dpop_bound_access_tokens_required: Option<bool>,
}

/// Answers GET and HEAD with the metadata, without a token and for any web page. It is a tower service on the types of the crate
/// `http`, to be mounted at each of the [`metadata_paths`](ResourceServer::metadata_paths), outside of any layer that asks for
/// a token.
#[derive(Clone, Debug)]
pub struct ResourceMetadata {
    document: Bytes,
}

impl ResourceServer {
    /// The document that names the authorization servers, as a service.
    pub fn metadata(&self) -> ResourceMetadata {
        let documents = &self.documents;
        let mut scopes = documents.scopes.clone().unwrap_or_else(|| self.scopes.known());
        // It is about refresh tokens, and no matter of a resource.
        scopes.retain(|scope| scope != "offline_access");
        let mut authorization_servers: Vec<&str> = self.issuers.iter().map(|issuer| issuer.url()).collect();
        authorization_servers.extend(documents.authorization_servers.iter().map(String::as_str));
        let document = Document {
            resource: self.resource.as_str(),
            authorization_servers,
            scopes_supported: scopes,
            bearer_methods_supported: ["header"],
            resource_name: documents.name.as_deref(),
            resource_documentation: documents.documentation.as_deref(),
            dpop_signing_alg_values_supported: (self.proofs.policy != DpopPolicy::Off)
                .then(|| Algorithm::ALL.map(Algorithm::as_str)),
            dpop_bound_access_tokens_required: (self.proofs.policy == DpopPolicy::Require).then_some(true),
        };
        let document = serde_json::to_vec(&document).expect("texts have a JSON form");
        ResourceMetadata { document: document.into() }
    }

    /// The paths of the metadata: `/.well-known/oauth-protected-resource` followed by the path of the public URL, and the same
    /// without that, where clients look next.
    pub fn metadata_paths(&self) -> Vec<String> {
        self.resource.metadata_paths()
    }

    /// The URL of the metadata, which challenges name.
    pub fn metadata_url(&self) -> String {
        self.resource.metadata_url()
    }
}

impl<B> Service<Request<B>> for ResourceMetadata {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Ready<Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let mut headers = HeaderMap::new();
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        let (status, body) = match *request.method() {
            Method::GET | Method::HEAD => {
                headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
                headers.insert(CACHE_CONTROL, HeaderValue::from_static("max-age=300"));
                let is_get = *request.method() == Method::GET;
                (StatusCode::OK, if is_get { self.document.clone() } else { Bytes::new() })
            }
            Method::OPTIONS => {
                headers.insert(ACCESS_CONTROL_ALLOW_METHODS, METHODS);
                // The header that clients of MCP add to every request.
                headers
                    .insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("mcp-protocol-version"));
                (StatusCode::NO_CONTENT, Bytes::new())
            }
            _ => {
                headers.insert(ALLOW, METHODS);
                (StatusCode::METHOD_NOT_ALLOWED, Bytes::new())
            }
        };
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        ready(Ok(response))
    }
}

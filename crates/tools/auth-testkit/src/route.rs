//! From a request to the endpoint that answers it.

use http::{Method, StatusCode};

use crate::config::{MetadataPlace, ResourceMetadataPlace};
use crate::context::Context;
use crate::endpoint::{authorize, keys, metadata, register, status, token};
use crate::log::{Endpoint, RecordedRequest, Site};
use crate::reply::Reply;
use crate::resource;

/// The endpoint at a path of an origin. Where the resource shares the server's origin, the site is that of the endpoint.
pub(crate) fn find(context: &Context, site: Site, path: &str) -> (Site, Endpoint) {
    let config = &context.config;
    if (site != Site::Resource || config.same_origin)
        && let Some(endpoint) = find_in_server(context, path)
    {
        return (if site == Site::Resource { Site::AuthServer } else { site }, endpoint);
    }
    if (site != Site::AuthServer || config.same_origin)
        && let Some(endpoint) = find_in_resource(context, path)
    {
        return (if site == Site::AuthServer { Site::Resource } else { site }, endpoint);
    }
    (site, Endpoint::NotFound)
}

fn find_in_server(context: &Context, path: &str) -> Option<Endpoint> {
    let issuer = context.config.issuer_path.as_str();
    let places = &context.config.metadata_at;
    let is_metadata = places.iter().any(|place| match place {
        MetadataPlace::OauthInserted => is_joined(path, "/.well-known/oauth-authorization-server", issuer),
        MetadataPlace::OpenIdInserted => is_joined(path, "/.well-known/openid-configuration", issuer),
        MetadataPlace::OpenIdAppended => is_joined(path, issuer, "/.well-known/openid-configuration"),
    });
    if is_metadata {
        return Some(Endpoint::Metadata);
    }
    match path.strip_prefix(issuer)? {
        "/register" => Some(Endpoint::Registration),
        "/authorize" => Some(Endpoint::Authorization),
        "/token" => Some(Endpoint::Token),
        "/introspect" => Some(Endpoint::Introspection),
        "/revoke" => Some(Endpoint::Revocation),
        "/jwks" => Some(Endpoint::Keys),
        _ => None,
    }
}

fn find_in_resource(context: &Context, path: &str) -> Option<Endpoint> {
    let resource = context.config.resource_path.as_str();
    let places = &context.config.resource_metadata_at;
    let is_metadata = places.iter().any(|place| match place {
        ResourceMetadataPlace::Path => is_joined(path, resource::WELL_KNOWN, resource),
        ResourceMetadataPlace::Root => path == resource::WELL_KNOWN,
    });
    if is_metadata {
        return Some(Endpoint::ResourceMetadata);
    }
    if path.starts_with("/.well-known/") {
        return None;
    }
    let rest = path.strip_prefix(resource)?;
    (rest.is_empty() || rest.starts_with('/') || resource.ends_with('/')).then_some(Endpoint::Resource)
}

fn is_joined(path: &str, first: &str, second: &str) -> bool {
    path.strip_prefix(first) == Some(second)
}

/// Answers a request.
pub(crate) async fn answer(context: &Context, request: RecordedRequest) -> Reply {
    let wanted = match request.endpoint {
        Endpoint::Metadata | Endpoint::ResourceMetadata | Endpoint::Keys => Some(Method::GET),
        Endpoint::Registration | Endpoint::Token | Endpoint::Introspection | Endpoint::Revocation => {
            Some(Method::POST)
        }
        Endpoint::Authorization | Endpoint::Resource | Endpoint::NotFound => None,
    };
    if wanted.is_some_and(|wanted| wanted != request.method) {
        return Reply::text(StatusCode::METHOD_NOT_ALLOWED, "another method is needed");
    }
    match request.endpoint {
        Endpoint::Metadata => metadata::reply(context, &request),
        Endpoint::ResourceMetadata => resource::metadata(context, &request),
        Endpoint::Keys => keys::reply(context, &request),
        Endpoint::Registration => register::reply(context, &request),
        Endpoint::Authorization => authorize::reply(context, &request),
        Endpoint::Token => token::reply(context, &request).await,
        Endpoint::Introspection => status::introspect(context, &request).await,
        Endpoint::Revocation => status::revoke(context, &request),
        Endpoint::Resource => resource::reply(context, request).await,
        Endpoint::NotFound => Reply::text(StatusCode::NOT_FOUND, "nothing is here"),
    }
}

//! Requests for resources, whether they are listed or made by a template.

use agentwire_jsonrpc::{ErrorObject, RequestMethod};
use agentwire_mcp_schema::{
    ListResourceTemplatesRequest, ListResourcesRequest, ReadResourceRequest, SubscribeRequest,
    UnsubscribeRequest, code,
};
use serde::Deserialize;

use super::pending::PendingRequest;
use crate::capability::Capability;
use crate::request::client_context::ClientContext;
use crate::request::params::read_params;
use crate::request::request_future::Reply;

pub(super) fn answer(pending: PendingRequest<'_>) -> Result<Reply, ErrorObject> {
    let (server, params) = (pending.server, pending.request.params.as_ref());
    match (&*pending.request.method, &pending.caller) {
        (ReadResourceRequest::NAME, _) if pending.is_offered(Capability::Resources) => read(pending),
        (ListResourcesRequest::NAME, _) if pending.is_offered(Capability::Resources) => {
            pending.list(&server.registries.resources, "resources")
        }
        (ListResourceTemplatesRequest::NAME, _) if pending.is_offered(Capability::Resources) => {
            pending.list(&server.registries.resource_templates, "resourceTemplates")
        }
        (SubscribeRequest::NAME, ClientContext::Session(session))
            if session.is_offered(Capability::Updates) =>
        {
            let SubscribeRequest { uri, .. } = read_params(params)?;
            if !server.registries.has_resource(&uri) {
                return Err(code::missing_resource(&uri, session.negotiated().revision));
            }
            session.watch(&uri, pending.scope.source().map(|source| &**source))?;
            Reply::empty(&pending.scope)
        }
        (UnsubscribeRequest::NAME, ClientContext::Session(session))
            if session.is_offered(Capability::Updates) =>
        {
            session.unwatch(&read_params::<UnsubscribeRequest>(params)?.uri);
            Reply::empty(&pending.scope)
        }
        (unknown, _) => Err(ErrorObject::method_not_found(unknown)),
    }
}

/// What is wanted of a [`ReadResourceRequest`] here. What it brings back of earlier rounds is read as it is needed, and a
/// server that has none goes without the code for that.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct ResourceParams {
    uri: String,
}

fn read(pending: PendingRequest<'_>) -> Result<Reply, ErrorObject> {
    let ResourceParams { uri } = read_params(pending.request.params.as_ref())?;
    let revision = pending.caller.revision();
    let server = pending.server;
    if let Some(resource) = server.registries.resources.find(&uri) {
        let context = pending.into_context()?;
        let handler = resource.run(server.first_layer(), context.clone());
        return Ok(Reply::Handler(context, handler));
    }
    let (template, values) =
        server.registries.find_template(&uri).ok_or_else(|| code::missing_resource(&uri, revision))?;
    let context = pending.into_context()?;
    let handler = template.run(server.first_layer(), &values, uri, context.clone())?;
    Ok(Reply::Handler(context, handler))
}

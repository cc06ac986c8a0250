//! Answers requests for resources, registered by URI or by template.

use agentwire_jsonrpc::{ErrorObject, RequestMethod};
use agentwire_mcp_schema::{
    ListResourceTemplatesRequest, ListResourcesRequest, ReadResourceRequest, SubscribeRequest,
    UnsubscribeRequest, code,
};
use serde::Deserialize;

use super::pending::PendingRequest;
use crate::capability::Capability;
use crate::define::resource_template::TemplateMatch;
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

/// The members of a [`ReadResourceRequest`] that are used here. Answers of earlier rounds are read when they are needed, and a
/// server that has none goes without the code for that.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct ResourceParams {
    uri: String,
}

fn read(pending: PendingRequest<'_>) -> Result<Reply, ErrorObject> {
    let ResourceParams { uri } = read_params(pending.request.params.as_ref())?;
    let revision = pending.caller.revision();
    let registries = &pending.server.registries;
    if let Some(resource) = registries.resources.find(&uri) {
        return pending.run(&resource, &());
    }
    let (template, values) =
        registries.find_template(&uri).ok_or_else(|| code::missing_resource(&uri, revision))?;
    pending.run(&template, &TemplateMatch { uri, values })
}

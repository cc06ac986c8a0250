//! Requests for resources, whether they are listed or made by a template.

use agentwire_jsonrpc::{ErrorObject, RequestMethod};
use agentwire_mcp_schema::{
    ListResourceTemplatesRequest, ListResourcesRequest, ReadResourceRequest, SubscribeRequest,
    UnsubscribeRequest, code,
};
use serde::Deserialize;

use super::Asked;
use crate::era::{Caller, Reply};
use crate::kind::Kind;
use crate::params::read_object;

pub(super) fn answer(asked: Asked<'_>) -> Result<Reply, ErrorObject> {
    let (server, params) = (asked.server, asked.request.params.as_ref());
    match (&*asked.request.method, &asked.caller) {
        (ReadResourceRequest::NAME, _) if asked.is_offered(Kind::Resources) => read(asked),
        (ListResourcesRequest::NAME, _) if asked.is_offered(Kind::Resources) => {
            asked.list(server.resources(), "resources")
        }
        (ListResourceTemplatesRequest::NAME, _) if asked.is_offered(Kind::Resources) => {
            asked.list(server.resource_templates(), "resourceTemplates")
        }
        (SubscribeRequest::NAME, Caller::Session(session)) if session.is_offered(Kind::Updates) => {
            session.watch(params, &asked.scope)
        }
        (UnsubscribeRequest::NAME, Caller::Session(session)) if session.is_offered(Kind::Updates) => {
            session.unwatch(params, &asked.scope)
        }
        (unknown, _) => Err(ErrorObject::method_not_found(unknown)),
    }
}

/// What is wanted of a [`ReadResourceRequest`] here. What it brings back of earlier rounds is read as it is needed, and a
/// server that has none goes without the code for that.
#[derive(Deserialize)]
struct Reading {
    uri: String,
}

fn read(asked: Asked<'_>) -> Result<Reply, ErrorObject> {
    let Reading { uri } = read_object(asked.request.params.as_ref())?;
    let revision = asked.caller.revision();
    if let Some(resource) = asked.server.resources().find(&uri) {
        let context = asked.into_asking()?;
        let running = resource.run(context.clone());
        return Ok(Reply::Running(context, running));
    }
    let (template, values) =
        asked.server.find_template(&uri).ok_or_else(|| code::missing_resource(&uri, revision))?;
    let context = asked.into_asking()?;
    let running = template.run(&values, uri, context.clone()).map_err(ErrorObject::internal_error)?;
    Ok(Reply::Running(context, running))
}

//! Requests for completions.

use std::sync::Arc;

use agentwire_jsonrpc::{ErrorObject, RequestMethod};
use agentwire_mcp_schema::{CompleteRequest, CompleteResult, CompletionReference};

use super::pending::PendingRequest;
use crate::Context;
use crate::capability::Capability;
use crate::define::completion::Completable;
use crate::request::params::read_params;
use crate::request::request_future::Reply;

pub(super) fn answer(pending: PendingRequest<'_>) -> Result<Reply, ErrorObject> {
    match &*pending.request.method {
        CompleteRequest::NAME if pending.is_offered(Capability::Completions) => complete(pending),
        unknown => Err(ErrorObject::method_not_found(unknown)),
    }
}

fn complete(pending: PendingRequest<'_>) -> Result<Reply, ErrorObject> {
    let PendingRequest { server, caller, request, params, scope } = pending;
    let request: CompleteRequest = read_params(request.params.as_ref())?;
    let found: Arc<dyn Completable> = match &request.reference {
        CompletionReference::Prompt(prompt) => {
            server.registries.prompts.find(&prompt.name).map(|prompt| prompt as _)
        }
        CompletionReference::Resource(template) => {
            server.registries.resource_templates.find(&template.uri).map(|template| template as _)
        }
        _ => None,
    }
    .ok_or_else(|| ErrorObject::invalid_params("there is nothing by the name in `ref`"))?;
    let name = &request.argument.name;
    if !found.has_argument(name) {
        return Err(ErrorObject::invalid_params(format_args!("there is no argument `{name}`")));
    }
    let context = Context::new(server.settings.clone(), caller, scope, &params, None)?;
    match found.completers().run(request, context.clone()) {
        Some(handler) => Ok(Reply::Handler(context, handler)),
        None => context.encode(CompleteResult::default()).map(Reply::done),
    }
}

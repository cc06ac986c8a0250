//! Answers requests for completions.

use std::sync::Arc;

use agentwire_jsonrpc::{ErrorObject, RequestMethod};
use agentwire_mcp_schema::{CompleteRequest, CompleteResult, CompletionReference};

use super::pending::PendingRequest;
use crate::Context;
use crate::capability::Capability;
use crate::define::registered::{Completable, Registered};
use crate::request::params::read_params;
use crate::request::request_future::Reply;

pub(super) fn answer(pending: PendingRequest<'_>) -> Result<Reply, ErrorObject> {
    match &*pending.request.method {
        CompleteRequest::NAME if pending.is_offered(Capability::Completions) => complete(pending),
        unknown => Err(ErrorObject::method_not_found(unknown)),
    }
}

fn complete(pending: PendingRequest<'_>) -> Result<Reply, ErrorObject> {
    let request: CompleteRequest = read_params(pending.request.params.as_ref())?;
    let registries = &pending.server.registries;
    match &request.reference {
        CompletionReference::Prompt(prompt) => run(registries.prompts.find(&prompt.name), pending, request),
        CompletionReference::Resource(template) => {
            run(registries.resource_templates.find(&template.uri), pending, request)
        }
        _ => Err(nothing_found()),
    }
}

fn run<K: Completable>(
    found: Option<Arc<Registered<K>>>,
    pending: PendingRequest<'_>,
    request: CompleteRequest,
) -> Result<Reply, ErrorObject> {
    let found = found.ok_or_else(nothing_found)?;
    let name = &request.argument.name;
    if !K::has_argument(&found, name) {
        return Err(ErrorObject::invalid_params(format_args!("there is no argument `{name}`")));
    }
    let PendingRequest { server, caller, params, scope, .. } = pending;
    let context = Context::new(server.settings.clone(), caller, scope, &params, None)?;
    match found.completers().run(request, context.clone()) {
        Some(handler) => Ok(Reply::Handler(context, handler)),
        None => context.encode(CompleteResult::default()).map(Reply::done),
    }
}

fn nothing_found() -> ErrorObject {
    ErrorObject::invalid_params("there is nothing by the name in `ref`")
}

//! Requests to complete what somebody types.

use std::sync::Arc;

use agentwire_jsonrpc::{ErrorObject, RequestMethod};
use agentwire_mcp_schema::{CompleteRequest, CompleteResult, CompletionReference};

use super::Asked;
use crate::Context;
use crate::completion::Completable;
use crate::era::Reply;
use crate::kind::Kind;
use crate::params::read_params;

pub(super) fn answer(asked: Asked<'_>) -> Result<Reply, ErrorObject> {
    match &*asked.request.method {
        CompleteRequest::NAME if asked.is_offered(Kind::Completions) => complete(asked),
        unknown => Err(ErrorObject::method_not_found(unknown)),
    }
}

fn complete(asked: Asked<'_>) -> Result<Reply, ErrorObject> {
    let Asked { server, caller, request, params, scope } = asked;
    let request: CompleteRequest = read_params(request.params.as_ref())?;
    let found: Arc<dyn Completable> = match &request.reference {
        CompletionReference::Prompt(prompt) => server.prompts().find(&prompt.name).map(|prompt| prompt as _),
        CompletionReference::Resource(template) => {
            server.resource_templates().find(&template.uri).map(|template| template as _)
        }
        _ => None,
    }
    .ok_or_else(|| ErrorObject::invalid_params("there is nothing by the name in `ref`"))?;
    let name = &request.argument.name;
    if !found.has_argument(name) {
        return Err(ErrorObject::invalid_params(format_args!("there is no argument `{name}`")));
    }
    let context = Context::new(server.clone(), caller, scope, &params)?;
    match found.completers().run(request, context.clone()) {
        Some(running) => Ok(Reply::Running(context, running)),
        None => context.encode(CompleteResult::default()).map(Reply::done),
    }
}

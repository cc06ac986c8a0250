//! Routes the requests that exist in sessions and as modern requests.

mod answers;
mod completions;
mod pending;
mod prompts;
mod resources;
mod tools;

use agentwire_jsonrpc::{ErrorObject, Request};

use crate::request::client_context::ClientContext;
use crate::request::params::Params;
use crate::request::request_future::Reply;
use crate::scope::RequestScope;
use crate::{Server, tasks};

use pending::PendingRequest;

pub(crate) use answers::Answers;

/// Answers a request, or starts its function. The message that arrived can be dropped when this returns.
pub(crate) fn dispatch(
    server: &Server,
    caller: ClientContext,
    request: &Request,
    params: Params<'_>,
    scope: RequestScope,
) -> Result<Reply, ErrorObject> {
    let method = &*request.method;
    if method.starts_with("tasks/") {
        return tasks::reply(&server.parts, caller, request, &params, scope);
    }
    let pending = PendingRequest { server: &server.parts, caller, request, params, scope };
    if method.starts_with("tools/") {
        return tools::answer(pending);
    }
    match server.answers.of(method) {
        Some(answer) => answer(pending),
        None => Err(ErrorObject::method_not_found(method)),
    }
}

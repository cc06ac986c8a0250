//! Answers requests for tools.

use agentwire_jsonrpc::{ErrorObject, RequestMethod};
use agentwire_mcp_schema::{CallToolRequest, ListToolsRequest};

use super::pending::PendingRequest;
use crate::capability::Capability;
use crate::request::request_future::Reply;
use crate::{tasks, tool_call};

pub(super) fn answer(pending: PendingRequest<'_>) -> Result<Reply, ErrorObject> {
    let server = pending.server;
    match &*pending.request.method {
        CallToolRequest::NAME if pending.is_offered(Capability::Tools) => call(pending),
        ListToolsRequest::NAME if pending.is_offered(Capability::Tools) => {
            pending.list(&server.registries.tools, "tools")
        }
        unknown => Err(ErrorObject::method_not_found(unknown)),
    }
}

fn call(pending: PendingRequest<'_>) -> Result<Reply, ErrorObject> {
    let server = pending.server;
    let name = pending.params.name()?;
    let arguments = pending.params.arguments()?;
    let tool = server.registries.tools.find(&name);
    let tool = tool.ok_or_else(|| ErrorObject::invalid_params(format_args!("there is no tool `{name}`")))?;
    pending.caller.check_param_headers(
        tool.header_marks(),
        arguments.as_str(),
        pending.scope.source().map(|source| &**source),
    )?;
    let plan = tasks::plan(server, &pending.caller, &tool, &pending.params)?;
    let context = pending.into_context()?;
    if let Some(plan) = plan {
        return plan.start(server, &tool, &arguments, context);
    }
    match tool_call::start(&tool, server.first_layer(), &arguments, context.clone()) {
        Ok(handler) => Ok(Reply::Handler(context, handler)),
        Err(why) => tool.wrong_arguments(&why, &context).map(Reply::done),
    }
}

//! Routes the requests that exist in sessions and as stateless requests.

mod answers;
mod completions;
mod prompts;
mod resources;

use agentwire_jsonrpc::{ErrorObject, Request, RequestMethod};
use agentwire_mcp_schema::{CallToolRequest, ListToolsRequest};

use crate::capability::Capability;
use crate::client_context::ClientContext;
use crate::params::Params;
use crate::registry::{Entry, Registry};
use crate::request_future::Reply;
use crate::scope::RequestScope;
use crate::tool::wrong_arguments;
use crate::{Context, Server};

pub(crate) use answers::Answers;

/// Decides about a request. What arrived is not needed any more when this returns.
pub(crate) fn dispatch(
    server: &Server,
    caller: ClientContext,
    request: &Request,
    params: Params<'_>,
    scope: RequestScope,
) -> Result<Reply, ErrorObject> {
    let pending = PendingRequest { server, caller, request, params, scope };
    match &*request.method {
        CallToolRequest::NAME if pending.is_offered(Capability::Tools) => pending.call_tool(),
        ListToolsRequest::NAME if pending.is_offered(Capability::Tools) => {
            pending.list(server.tools(), "tools")
        }
        method if method.starts_with("tasks/") => {
            let PendingRequest { caller, params, scope, .. } = pending;
            crate::tasks::reply(server, caller, request, &params, scope)
        }
        method => match server.answers().of(method) {
            Some(answer) => answer(pending),
            None => Err(ErrorObject::method_not_found(method)),
        },
    }
}

/// A request before its function has begun.
struct PendingRequest<'a> {
    server: &'a Server,
    caller: ClientContext,
    request: &'a Request,
    params: Params<'a>,
    scope: RequestScope,
}

impl PendingRequest<'_> {
    fn is_offered(&self, capability: Capability) -> bool {
        self.server.offers_to(&self.caller, capability)
    }

    fn call_tool(self) -> Result<Reply, ErrorObject> {
        let name = self.params.name()?;
        let arguments = self.params.arguments()?;
        let tool = self.server.tools().find(&name);
        let tool =
            tool.ok_or_else(|| ErrorObject::invalid_params(format_args!("there is no tool `{name}`")))?;
        self.caller.check_param_headers(
            tool.header_marks(),
            arguments.as_str(),
            self.scope.source().map(|source| &**source),
        )?;
        let (server, plan) =
            (self.server, crate::tasks::plan(self.server, &self.caller, &tool, &self.params)?);
        let context = self.into_context()?;
        if let Some(plan) = plan {
            return plan.start(server, &tool, &arguments, context);
        }
        match tool.run(server.first_layer(), &arguments, context.clone()) {
            Ok(handler) => Ok(Reply::Handler(context, handler)),
            Err(why) => wrong_arguments(&name, &why, &context).map(Reply::done),
        }
    }

    fn list<E: Entry>(self, registry: &Registry<E>, items: &'static str) -> Result<Reply, ErrorObject> {
        let revision = self.caller.revision();
        let page_meta = self.caller.page_meta(self.server.settings());
        let page_size = self.server.settings().page_size;
        let params = self.request.params.as_ref();
        registry.page(params, items, revision, page_size, page_meta.as_ref()).map(Reply::done)
    }

    /// The context of a function that may ask the client.
    fn into_context(self) -> Result<Context, ErrorObject> {
        let Self { server, caller, request, params, scope } = self;
        let settings = server.settings();
        let source = scope.source().map(|source| &**source);
        let round = caller.begin_round(settings, request, &params, source)?;
        Context::new(settings.clone(), caller, scope, &params, round)
    }
}

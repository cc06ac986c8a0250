//! Which request goes where, for everything that both eras have.

mod answers;
mod completions;
mod prompts;
mod resources;

use agentwire_jsonrpc::{ErrorObject, Request, RequestMethod};
use agentwire_mcp_schema::{CallToolRequest, ListToolsRequest};

use crate::era::{Caller, Reply};
use crate::kind::Kind;
use crate::params::Params;
use crate::registry::{Entry, Registry};
use crate::scope::RequestScope;
use crate::tool::wrong_arguments;
use crate::{Context, Server};

pub(crate) use answers::Answers;

/// Decides about a request. What arrived is not needed any more when this returns.
pub(crate) fn dispatch(
    server: &Server,
    caller: Caller,
    request: &Request,
    params: Params<'_>,
    scope: RequestScope,
) -> Result<Reply, ErrorObject> {
    let asked = Asked { server, caller, request, params, scope };
    match &*request.method {
        CallToolRequest::NAME if asked.is_offered(Kind::Tools) => asked.call_tool(),
        ListToolsRequest::NAME if asked.is_offered(Kind::Tools) => asked.list(server.tools(), "tools"),
        method if method.starts_with("tasks/") => {
            let Asked { caller, params, scope, .. } = asked;
            crate::tasks::reply(server, caller, request, &params, scope)
        }
        method => match server.answers().of(method) {
            Some(answer) => answer(asked),
            None => Err(ErrorObject::method_not_found(method)),
        },
    }
}

/// A request, and who made it.
struct Asked<'a> {
    server: &'a Server,
    caller: Caller,
    request: &'a Request,
    params: Params<'a>,
    scope: RequestScope,
}

impl Asked<'_> {
    fn is_offered(&self, kind: Kind) -> bool {
        self.caller.is_offered(self.server, kind)
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
        let context = self.into_asking()?;
        if let Some(plan) = plan {
            return plan.start(server, &tool, &arguments, context);
        }
        match tool.run(&arguments, context.clone()) {
            Ok(running) => Ok(Reply::Running(context, running)),
            Err(why) => wrong_arguments(&name, &why, &context).map(Reply::done),
        }
    }

    fn list<E: Entry>(self, registry: &Registry<E>, items: &'static str) -> Result<Reply, ErrorObject> {
        let revision = self.caller.revision();
        let remarks = self.caller.remarks(self.server);
        let page_size = self.server.page_size_value();
        let params = self.request.params.as_ref();
        registry.page(params, items, revision, page_size, remarks.as_ref()).map(Reply::done)
    }

    /// The context of a function that may ask the client.
    fn into_asking(self) -> Result<Context, ErrorObject> {
        Context::asking(self.server.clone(), self.caller, self.scope, &self.params, self.request)
    }
}

//! Which request goes where, for everything that both eras have.

use std::collections::BTreeMap;
use std::sync::Arc;

use agentwire_jsonrpc::{ErrorObject, Method, Request};
use agentwire_mcp_schema::{
    CallToolRequest, CompleteRequest, CompleteResult, CompletionReference, GetPromptRequest,
    ListPromptsRequest, ListResourceTemplatesRequest, ListResourcesRequest, ListToolsRequest,
    ReadResourceRequest, code,
};
use agentwire_peer::RequestContext;
use serde::Deserialize;

use crate::completion::Completable;
use crate::era::{Caller, Reply};
use crate::kind::Kind;
use crate::params::{Params, read_object, read_params};
use crate::registry::{Entry, Registry};
use crate::tool::wrong_arguments;
use crate::{Context, Server};

/// Decides about a request. What arrived is not needed any more when this returns.
pub(crate) fn dispatch(
    server: &Server,
    caller: Caller,
    request: &Request,
    params: Params<'_>,
    context: RequestContext,
) -> Result<Reply, ErrorObject> {
    let asked = Asked { server, caller, request, params, context };
    let is_offered = |kind| asked.caller.is_offered(server, kind);
    match &*request.method {
        CallToolRequest::NAME if is_offered(Kind::Tools) => asked.call_tool(),
        ListToolsRequest::NAME if is_offered(Kind::Tools) => asked.list(server.tools(), "tools"),
        ReadResourceRequest::NAME if is_offered(Kind::Resources) => asked.read_resource(),
        ListResourcesRequest::NAME if is_offered(Kind::Resources) => {
            asked.list(server.resources(), "resources")
        }
        ListResourceTemplatesRequest::NAME if is_offered(Kind::Resources) => {
            asked.list(server.resource_templates(), "resourceTemplates")
        }
        GetPromptRequest::NAME if is_offered(Kind::Prompts) => asked.fill_prompt(),
        ListPromptsRequest::NAME if is_offered(Kind::Prompts) => asked.list(server.prompts(), "prompts"),
        CompleteRequest::NAME if is_offered(Kind::Completions) => asked.complete(),
        #[cfg(feature = "tasks")]
        method if method.starts_with("tasks/") => {
            let Asked { caller, params, context, .. } = asked;
            crate::tasks::reply(server, caller, request, &params, context)
        }
        unknown => Err(ErrorObject::method_not_found(unknown)),
    }
}

/// What is wanted of a [`ReadResourceRequest`] here. What it brings back of earlier rounds is read as it is needed, and a
/// server that has none goes without the code for that, which is a tenth of a small one.
#[derive(Deserialize)]
struct Reading {
    uri: String,
}

/// What is wanted of a [`GetPromptRequest`] here, likewise.
#[derive(Deserialize)]
struct Filling {
    name: String,
    arguments: Option<BTreeMap<String, String>>,
}

/// A request, and who made it.
struct Asked<'a> {
    server: &'a Server,
    caller: Caller,
    request: &'a Request,
    params: Params<'a>,
    context: RequestContext,
}

impl Asked<'_> {
    fn call_tool(self) -> Result<Reply, ErrorObject> {
        let name = self.params.name()?;
        let arguments = self.params.arguments()?;
        let tool = self.server.tools().find(&name);
        let tool =
            tool.ok_or_else(|| ErrorObject::invalid_params(format_args!("there is no tool `{name}`")))?;
        self.caller.check_mirrored(
            tool.header_marks(),
            arguments,
            self.context.origin().map(|origin| &**origin),
        )?;
        #[cfg(feature = "tasks")]
        let (server, plan) =
            (self.server, crate::tasks::plan(self.server, &self.caller, &tool, &self.params)?);
        let context = self.into_asking()?;
        #[cfg(feature = "tasks")]
        if let Some(plan) = plan {
            return plan.start(server, &tool, arguments, context);
        }
        match tool.run(arguments, context.clone()) {
            Ok(running) => Ok(Reply::Running(context, running)),
            Err(why) => wrong_arguments(&name, &why, &context).map(Reply::done),
        }
    }

    fn read_resource(self) -> Result<Reply, ErrorObject> {
        let Reading { uri } = read_object(self.request.params.as_ref())?;
        let revision = self.caller.revision();
        if let Some(resource) = self.server.resources().find(&uri) {
            let context = self.into_asking()?;
            let running = resource.run(context.clone());
            return Ok(Reply::Running(context, running));
        }
        let (template, values) =
            self.server.find_template(&uri).ok_or_else(|| code::missing_resource(&uri, revision))?;
        let context = self.into_asking()?;
        let running = template.run(&values, uri, context.clone()).map_err(ErrorObject::internal_error)?;
        Ok(Reply::Running(context, running))
    }

    fn complete(self) -> Result<Reply, ErrorObject> {
        let asked: CompleteRequest = read_params(self.request.params.as_ref())?;
        let found: Arc<dyn Completable> = match &asked.reference {
            CompletionReference::Prompt(prompt) => {
                self.server.prompts().find(&prompt.name).map(|prompt| prompt as _)
            }
            CompletionReference::Resource(template) => {
                self.server.resource_templates().find(&template.uri).map(|template| template as _)
            }
            _ => None,
        }
        .ok_or_else(|| ErrorObject::invalid_params("there is nothing by the name in `ref`"))?;
        let name = &asked.argument.name;
        if !found.has_argument(name) {
            return Err(ErrorObject::invalid_params(format_args!("there is no argument `{name}`")));
        }
        let context = Context::new(self.server.clone(), self.caller, self.context, &self.params)?;
        match found.completers().run(asked, context.clone()) {
            Some(running) => Ok(Reply::Running(context, running)),
            None => context.encode(CompleteResult::default()).map(Reply::done),
        }
    }

    fn fill_prompt(self) -> Result<Reply, ErrorObject> {
        let Filling { name, arguments } = read_object(self.request.params.as_ref())?;
        let arguments = arguments.unwrap_or_default();
        let prompt = self.server.prompts().find(&name);
        let prompt =
            prompt.ok_or_else(|| ErrorObject::invalid_params(format_args!("there is no prompt `{name}`")))?;
        let context = self.into_asking()?;
        let running = prompt.run(&arguments, context.clone()).map_err(|why| {
            ErrorObject::invalid_params(format_args!("arguments of the prompt `{name}`: {why}"))
        })?;
        Ok(Reply::Running(context, running))
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
        Context::asking(self.server.clone(), self.caller, self.context, &self.params, self.request)
    }
}

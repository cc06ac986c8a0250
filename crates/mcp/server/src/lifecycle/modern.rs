//! Since revision 2026-07-28: modern requests.

use std::sync::Arc;

use agentwire_jsonrpc::{ErrorObject, RawJson, Request, RequestMethod};
use agentwire_mcp_schema::task_extension::TaskSubscription;
use agentwire_mcp_schema::{
    DiscoverRequest, DiscoverResult, SubscriptionFilter, SubscriptionsListenRequest,
    SubscriptionsListenResult,
};

use crate::caching::Caching;
use crate::capability::{Capability, CapabilitySet};
use crate::dispatch::dispatch;
use crate::lifecycle::subscription::Subscription;
use crate::request::client_context::ClientContext;
use crate::request::client_meta::{ClientMeta, supported};
use crate::request::params::{Params, read_params};
use crate::request::request_future::Reply;
use crate::request::watch_list::WatchList;
use crate::scope::RequestScope;
use crate::{Context, Server};

/// Decides about a modern request.
pub(crate) fn reply(
    server: &Server,
    client_meta: Arc<ClientMeta>,
    request: &Request,
    params: Params<'_>,
    scope: RequestScope,
) -> Result<Reply, ErrorObject> {
    if scope.in_batch() {
        return Err(ErrorObject::invalid_request("a request that says who asks must not be part of a batch"));
    }
    let caller = ClientContext::Request(client_meta);
    match &*request.method {
        DiscoverRequest::NAME => discover(server, &caller, &scope).map(Reply::done),
        SubscriptionsListenRequest::NAME => listen(server, caller, request, params, scope),
        _ => dispatch(server, caller, request, params, scope),
    }
}

fn discover(server: &Server, caller: &ClientContext, request: &RequestScope) -> Result<RawJson, ErrorObject> {
    let Caching { ttl, scope } = server.parts.settings.caching.clone();
    let mut result =
        DiscoverResult::new(supported(), server.parts.capabilities()).ttl_ms(ttl).cache_scope(scope);
    result.instructions = server.parts.settings.instructions.clone();
    caller.encode(&server.parts.settings, request, result)
}

fn listen(
    server: &Server,
    caller: ClientContext,
    request: &Request,
    params: Params<'_>,
    scope: RequestScope,
) -> Result<Reply, ErrorObject> {
    let settings = &server.parts.settings;
    let asked: SubscriptionsListenRequest = read_params(request.params.as_ref())?;
    let id = request.id.clone();
    let holder = || caller.holder(settings, scope.source().map(|source| &**source));
    let limits = &settings.subscription_limits;
    let honoured = honoured(server, &asked.notifications);
    let mut watched = WatchList::default();
    for uri in &honoured.resource_subscriptions {
        watched.add(uri, limits, &settings.watched, holder)?;
    }
    let context = Context::new(settings.clone(), caller, scope, &params, None)?;
    let tasks =
        crate::tasks::watch_tasks(&server.parts, &context, TaskSubscription::read(&asked.notifications))?;
    let mut subscription = Subscription::open(&settings.listeners, id.clone(), honoured, watched, tasks);
    let subscribed = context.clone();
    let running = Box::pin(async move {
        subscription.look_at_tasks().await?;
        subscription.run(&subscribed).await?;
        subscribed.encode(SubscriptionsListenResult::new(id))
    });
    Ok(Reply::Handler(context, running))
}

/// The part of a filter that the server honours: what it does not advertise is left out.
fn honoured(server: &Server, asked: &SubscriptionFilter) -> SubscriptionFilter {
    let offered = CapabilitySet::of(&server.parts.capabilities());
    let resources =
        if offered.has(Capability::Updates) { asked.resource_subscriptions.clone() } else { Vec::new() };
    SubscriptionFilter::default()
        .tools_list_changed(asked.tools_list_changed && offered.has(Capability::ToolChanges))
        .prompts_list_changed(asked.prompts_list_changed && offered.has(Capability::PromptChanges))
        .resources_list_changed(asked.resources_list_changed && offered.has(Capability::ResourceChanges))
        .resource_subscriptions(resources)
}

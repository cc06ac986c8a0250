//! A request before its function has begun.

use std::sync::Arc;

use agentwire_jsonrpc::{ErrorObject, Request};

use crate::Context;
use crate::capability::Capability;
use crate::define::registered::{Registered, RegisteredKind};
use crate::define::registry::Registry;
use crate::request::client_context::ClientContext;
use crate::request::params::Params;
use crate::request::request_future::Reply;
use crate::scope::RequestScope;
use crate::server::ServerParts;

/// A request before its function has begun.
pub(crate) struct PendingRequest<'a> {
    pub(super) server: &'a ServerParts,
    pub(super) caller: ClientContext,
    pub(super) request: &'a Request,
    pub(super) params: Params<'a>,
    pub(super) scope: RequestScope,
}

impl PendingRequest<'_> {
    pub(super) fn is_offered(&self, capability: Capability) -> bool {
        self.server.offers_to(&self.caller, capability)
    }

    /// Answers a request for a list with a page of it.
    pub(super) fn list<K: RegisteredKind>(
        self,
        registry: &Registry<K>,
        items: &'static str,
    ) -> Result<Reply, ErrorObject> {
        let revision = self.caller.revision();
        let page_meta = self.caller.page_meta(&self.server.settings);
        let page_size = self.server.settings.page_size;
        let params = self.request.params.as_ref();
        registry.page(params, items, revision, page_size, page_meta.as_ref()).map(Reply::done)
    }

    /// Runs the function of the item that a request names.
    pub(super) fn run<K: RegisteredKind>(
        self,
        item: &Arc<Registered<K>>,
        params: &K::Params,
    ) -> Result<Reply, ErrorObject> {
        let outer = self.server.first_layer();
        let context = self.into_context()?;
        match item.run(outer, params, context.clone()) {
            Ok(handler) => Ok(Reply::Handler(context, handler)),
            Err(why) => item.wrong_arguments(&why, &context).map(Reply::done),
        }
    }

    /// The context of a function that may ask the client.
    pub(super) fn into_context(self) -> Result<Context, ErrorObject> {
        let Self { server, caller, request, params, scope } = self;
        let settings = &server.settings;
        let source = scope.source().map(|source| &**source);
        let round = caller.begin_round(settings, request, &params, source)?;
        Context::new(settings.clone(), caller, scope, &params, round)
    }
}

//! What the driver of a connection calls.

use std::future::Future;
use std::sync::{Arc, OnceLock};

use agentwire_jsonrpc::{ErrorObject, Notice, Notification, RawJson, Request};
use agentwire_mcp_schema::InitializedNotification;
use agentwire_peer::{Handler, Peer, RequestContext};

use crate::Server;
use crate::era::{Asker, Reply, Session, session, stateless};
use crate::params::Params;
use crate::value_limit;

/// One connection. It holds next to nothing until a client begins a session on it.
pub(crate) struct Front {
    server: Server,
    session: OnceLock<Arc<Session>>,
}

impl Front {
    pub(crate) fn new(server: Server) -> Self {
        Self { server, session: OnceLock::new() }
    }

    fn reply(&self, request: &Request, context: RequestContext) -> Result<Reply, ErrorObject> {
        let params = Params::peek(request.params.as_ref());
        value_limit::check(&self.server, request, &params)?;
        match Asker::of(&params, self.session.get().is_some())? {
            Some(asker) => stateless::reply(&self.server, asker, request, params, context),
            None => session::reply(&self.server, &self.session, request, params, context),
        }
    }
}

impl Handler for Front {
    fn request(
        &self,
        request: Request,
        context: RequestContext,
    ) -> impl Future<Output = Result<RawJson, ErrorObject>> {
        let reply = self.reply(&request, context).unwrap_or_else(|error| Reply::Done(Err(error)));
        // A large message must not wait in memory for the function that works on what was decoded from it.
        drop(request);
        async move {
            match reply {
                Reply::Done(answer) => answer,
                Reply::Running(context, running) => context.race(running).await,
                #[cfg(feature = "tasks")]
                Reply::Alone(running) => running.await,
            }
        }
    }

    fn notification(&self, notification: Notification, _peer: &Peer) {
        if &*notification.method == InitializedNotification::NAME
            && let Some(session) = self.session.get()
        {
            session.open();
        }
    }
}

/// The tasks of a session end with it, unless they belong to a caller who may begin another.
#[cfg(feature = "tasks")]
impl Drop for Front {
    fn drop(&mut self) {
        if let Some(session) = self.session.get() {
            session.end_tasks();
        }
    }
}

//! Dispatches the messages of an agent of version 1 to the methods of a client.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;

use agentwire_acp_schema::v1::{
    ClientCapabilities, CompleteElicitationNotification, CreateElicitationRequest, CreateElicitationResponse,
    CreateTerminalRequest, ElicitationAction, ElicitationMode, KillTerminalRequest, ReadTextFileRequest,
    ReleaseTerminalRequest, RequestPermissionRequest, RequestPermissionResponse, SessionId,
    SessionNotification, SessionUpdate, TerminalOutputRequest, WaitForTerminalExitRequest,
    WriteTextFileRequest,
};
use agentwire_jsonrpc::{
    Notification, NotificationMethod, RawJson, Request, RequestMethod, Response, Skipped,
};
use agentwire_peer::runtime::describe_unmatched;
use agentwire_peer::{Handler, Peer, RequestContext};
use futures_util::future::{Either, select};
use serde::de::DeserializeOwned;

use crate::decode::{decode, decode_or_give_back};
use crate::dispatcher::dispatcher;
use crate::session::ConnectionState;
use crate::{AgentHandle, Client, Context, Error, rules};

/// The number of bytes from which a text is encoded into a buffer of exactly its size.
const LONG: usize = 64 << 10;

dispatcher! { SessionNotification }

impl<C: Client> Dispatch<C> {
    async fn dispatch(&self, request: Request, context: Context) -> Result<RawJson, Error> {
        let client = &self.client;
        let Request { method, params, .. } = request;
        self.allowed(&method)?;
        match &*method {
            RequestPermissionRequest::NAME => {
                self.answer(params, context, |p, c| self.permission(p, c)).await
            }
            ReadTextFileRequest::NAME => {
                let request: ReadTextFileRequest = self.decode(&method, params)?;
                rules::absolute(Some(&*request.path)).map_err(Error::invalid_params)?;
                let peer = context.request.peer().clone();
                let response = client.read_text_file(request, context).await?;
                let bytes = response.content.len();
                let answer = if bytes < LONG {
                    peer.encode_result(&response)
                } else {
                    RawJson::encode_sized(&response, bytes + bytes / 16)
                };
                answer.map_err(Error::internal_error)
            }
            WriteTextFileRequest::NAME => {
                let request: WriteTextFileRequest = self.decode(&method, params)?;
                rules::absolute(Some(&*request.path)).map_err(Error::invalid_params)?;
                give(request, context, |p, c| client.write_text_file(p, c)).await
            }
            CreateTerminalRequest::NAME => {
                let request: CreateTerminalRequest = self.decode(&method, params)?;
                rules::absolute(request.cwd.as_deref()).map_err(Error::invalid_params)?;
                give(request, context, |p, c| client.create_terminal(p, c)).await
            }
            TerminalOutputRequest::NAME => {
                self.answer(params, context, |p, c| client.terminal_output(p, c)).await
            }
            WaitForTerminalExitRequest::NAME => {
                self.answer(params, context, |p, c| client.wait_for_terminal_exit(p, c)).await
            }
            KillTerminalRequest::NAME => {
                self.answer(params, context, |p, c| client.kill_terminal(p, c)).await
            }
            ReleaseTerminalRequest::NAME => {
                self.answer(params, context, |p, c| client.release_terminal(p, c)).await
            }
            CreateElicitationRequest::NAME => {
                self.answer(params, context, |p, c| self.elicitation(p, c)).await
            }
            method => client.extension_request(method, params, context).await,
        }
    }

    /// Decodes the params and answers with what `method` makes of them.
    async fn answer<P, F>(
        &self,
        params: Option<RawJson>,
        context: Context,
        method: impl FnOnce(P, Context) -> F,
    ) -> Result<RawJson, Error>
    where
        P: RequestMethod,
        F: Future<Output = Result<P::Response, Error>>,
    {
        give(self.decode(P::NAME, params)?, context, method).await
    }

    /// Fails for a capability that the client did not advertise, even where its code implements it.
    fn allowed(&self, method: &str) -> Result<(), Error> {
        let has = |has: fn(&ClientCapabilities) -> bool| {
            self.shared.initialized.client().is_some_and(|client| has(&client))
        };
        let allowed = match method {
            ReadTextFileRequest::NAME => has(|client| client.fs.read_text_file),
            WriteTextFileRequest::NAME => has(|client| client.fs.write_text_file),
            CreateElicitationRequest::NAME => has(|client| client.elicitation.is_some()),
            method if method.starts_with("terminal/") => has(|client| client.terminal),
            _ => true,
        };
        if allowed { Ok(()) } else { Err(Error::method_not_found(method)) }
    }

    async fn permission(
        &self,
        request: RequestPermissionRequest,
        context: Context,
    ) -> Result<RequestPermissionResponse, Error> {
        let offered: Vec<_> = request.options.iter().map(|option| option.option_id.clone()).collect();
        let pending = PendingPermission::new(&self.shared, &request.session_id, context.request.clone());
        let answer = self.ask_permission(request, context).await;
        drop(pending);
        let response = answer.unwrap_or_else(|| Ok(RequestPermissionResponse::cancelled()))?;
        rules::chosen(&response.outcome, &offered).map(|()| response)
    }

    /// Notes what an update changes in the state of its session.
    fn note(&self, notification: &SessionNotification) {
        if let SessionUpdate::ConfigOptionUpdate(update) = &notification.update {
            let options = rules::options(&update.config_options);
            self.shared.options.set_updated(&notification.session_id, options);
        }
    }

    fn late_answer(&self, response: &Response) {
        self.shared.answered_late(&response.id);
    }
}

/// A permission request that waits for the user, until this is dropped.
struct PendingPermission<'a> {
    shared: &'a ConnectionState,
    session: SessionId,
    request: RequestContext,
}

impl<'a> PendingPermission<'a> {
    fn new(shared: &'a ConnectionState, session: &SessionId, request: RequestContext) -> Self {
        shared.permission_asked(session, &request);
        Self { shared, session: session.clone(), request }
    }
}

impl Drop for PendingPermission<'_> {
    fn drop(&mut self) {
        self.shared.permission_answered(&self.session, &self.request);
    }
}

/// Calls `method` with the decoded params, and encodes its answer.
async fn give<P, F>(
    request: P,
    context: Context,
    method: impl FnOnce(P, Context) -> F,
) -> Result<RawJson, Error>
where
    P: RequestMethod,
    F: Future<Output = Result<P::Response, Error>>,
{
    let peer = context.request.peer().clone();
    let response = method(request, context).await?;
    peer.encode_result(&response).map_err(Error::internal_error)
}

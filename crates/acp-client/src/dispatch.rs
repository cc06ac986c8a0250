use std::future::Future;
use std::pin::pin;
use std::sync::Arc;

use agentwire_acp_schema::v1::{
    ClientCapabilities, CompleteElicitationNotification, CreateElicitationRequest, CreateTerminalRequest,
    ElicitationAction, ElicitationMode, KillTerminalRequest, ReadTextFileRequest, ReleaseTerminalRequest,
    RequestPermissionRequest, RequestPermissionResponse, SessionNotification, SessionUpdate,
    TerminalOutputRequest, WaitForTerminalExitRequest, WriteTextFileRequest,
};
use agentwire_jsonrpc::{
    Notification, NotificationMethod, RawJson, Request, RequestMethod, Response, Skipped,
};
use agentwire_peer::{Handler, Peer, RequestContext};
use futures::future::{Either, select};
use serde::de::DeserializeOwned;

use crate::decode::{decode, decode_or_give_back};
use crate::offers::options;
use crate::session::Shared;
use crate::{Agent, Client, Context, Error, rules};

/// From how many bytes on a text is encoded into memory of its own size.
const LONG: usize = 64 << 10;

/// Puts a [`Client`] behind a connection.
pub(crate) struct Dispatch<C> {
    client: C,
    shared: Arc<Shared>,
    /// How much memory a message may take once decoded.
    value_limit: usize,
}

impl<C: Client> Dispatch<C> {
    pub(crate) fn new(client: C, shared: Arc<Shared>, value_limit: usize) -> Self {
        Self { client, shared, value_limit }
    }

    fn agent(&self, peer: &Peer) -> Agent {
        Agent::new(peer.clone(), self.shared.clone())
    }

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
                    peer.encode_answer(&response)
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

    /// Decodes params, and tells the client what was left out of them.
    fn decode<P: DeserializeOwned>(&self, method: &str, params: Option<RawJson>) -> Result<P, Error> {
        decode(params, self.value_limit, |skipped| self.client.skipped(method, skipped))
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

    /// A capability that was not advertised is not there, whatever the client's code could do.
    fn allowed(&self, method: &str) -> Result<(), Error> {
        let has = |has: fn(&ClientCapabilities) -> bool| {
            self.shared.greeting.client().is_some_and(|client| has(&client))
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
        let session = request.session_id.clone();
        let offered: Vec<_> = request.options.iter().map(|option| option.option_id.clone()).collect();
        let asked = Asked::new(&self.shared, session, context.request.clone());
        if context.is_cancelled() {
            return Ok(RequestPermissionResponse::cancelled());
        }
        let cancelled = context.cancelled();
        let answer = pin!(self.client.request_permission(request, context));
        let answer = match select(cancelled, answer).await {
            Either::Left(_) => Ok(RequestPermissionResponse::cancelled()),
            Either::Right((answer, _)) => answer,
        };
        drop(asked);
        match answer {
            Ok(response) => rules::chosen(&response.outcome, &offered).map(|()| response),
            refused => refused,
        }
    }

    async fn elicitation(
        &self,
        request: CreateElicitationRequest,
        context: Context,
    ) -> Result<agentwire_acp_schema::v1::CreateElicitationResponse, Error> {
        let client = self.shared.greeting.client();
        let offered = client.as_ref().and_then(|client| client.elicitation.as_ref());
        let (mode, takes) = match &request.mode {
            ElicitationMode::Form(_) => ("form", offered.is_some_and(|offered| offered.form.is_some())),
            ElicitationMode::Url(_) => ("url", offered.is_some_and(|offered| offered.url.is_some())),
            _ => ("that", false),
        };
        if !takes {
            return Err(Error::invalid_params(format_args!("this client does not take {mode} mode")));
        }
        let visit = match &request.mode {
            ElicitationMode::Url(url) => Some(url.elicitation_id.clone()),
            _ => None,
        };
        if let Some(id) = &visit {
            self.shared.elicitations.begin(id);
        }
        let answer = self.client.create_elicitation(request, context).await;
        let agreed =
            answer.as_ref().is_ok_and(|answer| matches!(answer.action, ElicitationAction::Accept(_)));
        if let (Some(id), false) = (&visit, agreed) {
            self.shared.elicitations.end(id);
        }
        answer
    }

    /// Reads an update. Its text is gone before anybody hears of it, since both may be long.
    fn read_update(&self, params: Option<RawJson>) {
        let bytes = params.as_ref().map_or(0, RawJson::len);
        let tell = |skipped| self.client.skipped(SessionNotification::NAME, skipped);
        match decode_or_give_back(params, self.value_limit, tell) {
            Ok(update) => self.update(update, bytes),
            Err((params, why)) => self.client.unreadable_update(params, &why),
        }
    }

    /// Passes an update, which came in so many bytes, on to those who read the session, and then to the client.
    fn update(&self, notification: SessionNotification, bytes: usize) {
        let SessionNotification { session_id, update, .. } = &notification;
        if let SessionUpdate::ConfigOptionUpdate(update) = update {
            self.shared.offers.options_updated(session_id, options(&update.config_options));
        }
        self.shared.readers.hear(session_id, update, bytes);
        self.client.session_update(notification);
    }
}

/// A permission request that waits, until this is dropped.
struct Asked<'a> {
    shared: &'a Shared,
    session: agentwire_acp_schema::v1::SessionId,
    request: RequestContext,
}

impl<'a> Asked<'a> {
    fn new(
        shared: &'a Shared,
        session: agentwire_acp_schema::v1::SessionId,
        request: RequestContext,
    ) -> Self {
        shared.permission_asked(&session, &request);
        Self { shared, session, request }
    }
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        self.shared.permission_answered(&self.session, &self.request);
    }
}

impl<C: Client> Handler for Dispatch<C> {
    fn request(
        &self,
        request: Request,
        context: RequestContext,
    ) -> impl Future<Output = Result<RawJson, Error>> {
        let context = Context { agent: self.agent(context.peer()), request: context };
        // Boxed, since it is as large as the largest of all methods.
        Box::pin(self.dispatch(request, context))
    }

    fn notification(&self, notification: Notification, peer: &Peer) {
        let Notification { method, params, .. } = notification;
        match &*method {
            SessionNotification::NAME => self.read_update(params),
            CompleteElicitationNotification::NAME => {
                if let Ok::<CompleteElicitationNotification, _>(complete) = self.decode(&method, params)
                    && self.shared.elicitations.end(&complete.elicitation_id)
                {
                    self.client.complete_elicitation(complete);
                }
            }
            method if method.starts_with("$/") => {}
            method => self.client.extension_notification(method, params, &self.agent(peer)),
        }
    }

    fn unmatched_response(&self, response: Response) {
        self.shared.answered_late(&response.id);
    }

    fn skipped(&self, method: &str, skipped: Skipped) {
        self.client.skipped(method, skipped);
    }

    fn unreadable(&self, error: Error) {
        self.client.unreadable_message(&error);
    }
}

/// Answers with what `method` makes of the params.
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
    peer.encode_answer(&response).map_err(Error::internal_error)
}

//! The toolkit as a client of version 1.

use agentwire_acp_client::{Client, Context, Error};
use agentwire_acp_schema::v1::{
    CompleteElicitationNotification, CreateElicitationRequest, CreateElicitationResponse,
    CreateTerminalRequest, CreateTerminalResponse, ElicitationMode, KillTerminalRequest,
    KillTerminalResponse, ReadTextFileRequest, ReadTextFileResponse, ReleaseTerminalRequest,
    ReleaseTerminalResponse, RequestPermissionRequest, RequestPermissionResponse, SessionNotification,
    TerminalOutputRequest, TerminalOutputResponse, WaitForTerminalExitRequest, WaitForTerminalExitResponse,
    WriteTextFileRequest, WriteTextFileResponse,
};
use agentwire_jsonrpc::{RawJson, RequestMethod, Skipped};

use super::known_call::{complete_call, known_call};
use super::question_memory::Reservation;
use super::{Toolkit, UserInterface};
use crate::{Form, UrlConsent};

/// Answers each request from the session's workspace, if that part is on.
macro_rules! serve {
    ($($method:ident($request:ty) -> $response:ty, if $part:ident;)+) => {$(
        async fn $method(&self, request: $request, _: Context) -> Result<$response, Error> {
            if !self.services.$part {
                return Err(Error::method_not_found(<$request>::NAME));
            }
            self.workspaces.$method(request).await
        }
    )+};
}

impl<U: UserInterface> Client for Toolkit<U> {
    fn session_update(&self, notification: SessionNotification) {
        if self.sessions.replays.leaves_out(&notification.session_id, &notification.update) {
            return;
        }
        if let Some(notification) = self.user_interface.intercept_update(notification) {
            self.apply(&notification.session_id, notification.update);
        }
    }

    async fn request_permission(
        &self,
        request: RequestPermissionRequest,
        _: Context,
    ) -> Result<RequestPermissionResponse, Error> {
        let ui = &*self.user_interface;
        ui.permission_requested(&request);
        let question = self.question(request.clone())?;
        if self.conversation(&request.session_id, |_| ()).is_some() {
            self.apply(&request.session_id, request.tool_call.clone());
        }
        let ask = async |request: &RequestPermissionRequest| ui.choose_permission(request).await;
        let response = self.permissions.answer(&question.request, ask).await?;
        ui.permission_answered(request, &response)?;
        Ok(response)
    }

    async fn create_elicitation(
        &self,
        request: CreateElicitationRequest,
        _: Context,
    ) -> Result<CreateElicitationResponse, Error> {
        match request.mode {
            ElicitationMode::Form(mode) if self.services.forms => {
                let form = Form::new(mode.requested_schema)?;
                self.user_interface.fill_form(&request.message, form).await
            }
            ElicitationMode::Url(mode) if self.services.urls => {
                self.user_interface.open_url(&request.message, UrlConsent::new(&mode)?).await
            }
            _ => Err(Error::invalid_params("this client knows no such mode of elicitation")),
        }
    }

    fn complete_elicitation(&self, notification: CompleteElicitationNotification) {
        self.user_interface.url_completed(&notification.elicitation_id);
    }

    fn unreadable_update(&self, params: Option<RawJson>, why: &Error) {
        self.user_interface.unreadable_update(params, why);
    }

    fn unreadable_message(&self, why: &Error) {
        self.user_interface.unreadable_message(why);
    }

    fn skipped(&self, method: &str, skipped: Skipped) {
        self.user_interface.skipped(method, skipped);
    }

    serve! {
        read_text_file(ReadTextFileRequest) -> ReadTextFileResponse, if reads;
        write_text_file(WriteTextFileRequest) -> WriteTextFileResponse, if writes;
        create_terminal(CreateTerminalRequest) -> CreateTerminalResponse, if terminals;
        terminal_output(TerminalOutputRequest) -> TerminalOutputResponse, if terminals;
        wait_for_terminal_exit(WaitForTerminalExitRequest) -> WaitForTerminalExitResponse, if terminals;
        kill_terminal(KillTerminalRequest) -> KillTerminalResponse, if terminals;
        release_terminal(ReleaseTerminalRequest) -> ReleaseTerminalResponse, if terminals;
    }
}

/// A permission request, completed from the earlier data of its call.
pub(super) struct Question {
    pub(super) request: RequestPermissionRequest,
    _memory: Option<Reservation>,
}

impl<U: UserInterface> Toolkit<U> {
    /// Completes a permission request from the earlier data of its call. An agent need not repeat the data, and rules and the
    /// user decide on the whole call.
    ///
    /// If a part of the call was too large to be kept, the request gets a path that no rule can allow.
    ///
    /// # Errors
    ///
    /// If the pending requests take too much memory: a small request may name a large call.
    pub(super) fn question(&self, mut request: RequestPermissionRequest) -> Result<Question, Error> {
        let earlier = self.conversation(&request.session_id, |conversation| {
            let (_, entry) = conversation.tool_call(&request.tool_call.tool_call_id)?;
            let reserved = self.question_memory.reserve(&entry.call);
            Some(reserved.map(|memory| (known_call(entry), memory)))
        });
        let Some((known, memory)) = earlier.flatten().transpose()? else {
            return Ok(Question { request, _memory: None });
        };
        complete_call(&mut request.tool_call, &known);
        Ok(Question { request, _memory: Some(memory) })
    }
}

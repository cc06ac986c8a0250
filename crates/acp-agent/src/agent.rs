use std::future::Future;

use agentwire_acp_schema::v1::{
    AuthenticateRequest, AuthenticateResponse, CancelNotification, CloseSessionRequest, CloseSessionResponse,
    DeleteSessionRequest, DeleteSessionResponse, InitializeRequest, InitializeResponse, ListSessionsRequest,
    ListSessionsResponse, LoadSessionRequest, LoadSessionResponse, LogoutRequest, LogoutResponse,
    NewSessionRequest, NewSessionResponse, PromptRequest, PromptResponse, ResumeSessionRequest,
    ResumeSessionResponse, SetSessionConfigOptionRequest, SetSessionConfigOptionResponse,
    SetSessionModeRequest, SetSessionModeResponse,
};
use agentwire_jsonrpc::{RawJson, RequestMethod};

use crate::{Client, Context, Error};

/// An agent: what an editor asks of it.
///
/// Only what every agent must answer has no default; the rest answers "method not found" until it is
/// written and, where a capability is named, advertised. Methods may run at the same time, also for one session, and each may call the client and wait for
/// it. Nothing needs to be `Send` unless the future of [`serve`](crate::serve) is to be spawned.
///
/// What the crate does before and after each method is said in the [crate's docs](crate).
pub trait Agent {
    /// `initialize`: says what this agent can do.
    ///
    /// The version in the request is one that this crate speaks: the one asked for, or the nearest. The answer
    /// bears the same. Methods of type `terminal` are left out of it for a client without `auth.terminal`. Once
    /// this has succeeded it is not called again.
    fn initialize(
        &self,
        request: InitializeRequest,
        context: Context,
    ) -> impl Future<Output = Result<InitializeResponse, Error>>;

    /// `session/new`: begins a conversation.
    fn new_session(
        &self,
        request: NewSessionRequest,
        context: Context,
    ) -> impl Future<Output = Result<NewSessionResponse, Error>>;

    /// `session/prompt`: one turn. Updates said through the context's client arrive before the answer.
    ///
    /// After `session/cancel` [`Context::cancelled`] completes, and whatever this then gives, the client is
    /// told that the turn was cancelled.
    fn prompt(
        &self,
        request: PromptRequest,
        context: Context,
    ) -> impl Future<Output = Result<PromptResponse, Error>>;

    /// `session/cancel`: hears that a turn is to end. The turn itself has been told through its
    /// [`Context`], so most agents have nothing to do here.
    fn cancel(&self, notification: CancelNotification, client: &Client) {
        let _ = (notification, client);
    }

    /// `authenticate`: proves who the user is, by a method that `initialize` offered and that is not of type
    /// `terminal`.
    fn authenticate(
        &self,
        request: AuthenticateRequest,
        context: Context,
    ) -> impl Future<Output = Result<AuthenticateResponse, Error>> {
        not_found(&request, context)
    }

    /// `logout`: forgets who the user is. Advertised by `auth.logout`.
    fn logout(
        &self,
        request: LogoutRequest,
        context: Context,
    ) -> impl Future<Output = Result<LogoutResponse, Error>> {
        not_found(&request, context)
    }

    /// `session/load`: takes up a conversation and says all of it again, in updates, before it answers.
    /// Advertised by `loadSession`.
    fn load_session(
        &self,
        request: LoadSessionRequest,
        context: Context,
    ) -> impl Future<Output = Result<LoadSessionResponse, Error>> {
        not_found(&request, context)
    }

    /// `session/resume`: takes up a conversation without saying it again. Advertised by
    /// `sessionCapabilities.resume`.
    fn resume_session(
        &self,
        request: ResumeSessionRequest,
        context: Context,
    ) -> impl Future<Output = Result<ResumeSessionResponse, Error>> {
        not_found(&request, context)
    }

    /// `session/list`: the conversations there are. Advertised by `sessionCapabilities.list`.
    fn list_sessions(
        &self,
        request: ListSessionsRequest,
        context: Context,
    ) -> impl Future<Output = Result<ListSessionsResponse, Error>> {
        not_found(&request, context)
    }

    /// `session/close`: ends a session and whatever runs in it. Advertised by `sessionCapabilities.close`.
    /// Its running turns have been cancelled.
    fn close_session(
        &self,
        request: CloseSessionRequest,
        context: Context,
    ) -> impl Future<Output = Result<CloseSessionResponse, Error>> {
        not_found(&request, context)
    }

    /// `session/delete`: forgets a conversation; one that is not there is forgotten already. Advertised by
    /// `sessionCapabilities.delete`.
    fn delete_session(
        &self,
        request: DeleteSessionRequest,
        context: Context,
    ) -> impl Future<Output = Result<DeleteSessionResponse, Error>> {
        not_found(&request, context)
    }

    /// `session/set_mode`: changes the mode, to one of those that the session offered.
    fn set_session_mode(
        &self,
        request: SetSessionModeRequest,
        context: Context,
    ) -> impl Future<Output = Result<SetSessionModeResponse, Error>> {
        not_found(&request, context)
    }

    /// `session/set_config_option`: changes an option and answers with all of them.
    fn set_session_config_option(
        &self,
        request: SetSessionConfigOptionRequest,
        context: Context,
    ) -> impl Future<Output = Result<SetSessionConfigOptionResponse, Error>> {
        not_found(&request, context)
    }

    /// A request that the protocol does not know. Those of one's own begin with `_`.
    fn extension_request(
        &self,
        method: &str,
        params: Option<RawJson>,
        context: Context,
    ) -> impl Future<Output = Result<RawJson, Error>> {
        let _ = (params, context);
        std::future::ready(Err(Error::method_not_found(method)))
    }

    /// A notification that the protocol does not know. It is passed over unless this is written.
    fn extension_notification(&self, method: &str, params: Option<RawJson>, client: &Client) {
        let _ = (method, params, client);
    }
}

fn not_found<M: RequestMethod>(
    _: &M,
    _: Context,
) -> impl Future<Output = Result<M::Response, Error>> + use<M> {
    std::future::ready(Err(Error::method_not_found(M::NAME)))
}

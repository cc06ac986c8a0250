use std::future::Future;
use std::time::Duration;

use agentwire_acp_schema::v2::{
    CancelSessionNotification, CancelTerminalRequest, CancelTerminalResponse, CancelToolCallRequest,
    CancelToolCallResponse, CloseSessionRequest, CloseSessionResponse, DeleteSessionRequest,
    DeleteSessionResponse, IdleStopReason, InitializeRequest, InitializeResponse, ListSessionsRequest,
    ListSessionsResponse, LoginAuthRequest, LoginAuthResponse, LogoutAuthRequest, LogoutAuthResponse,
    NewSessionRequest, NewSessionResponse, PromptRequest, ResumeSessionRequest, ResumeSessionResponse,
    SetSessionConfigOptionRequest, SetSessionConfigOptionResponse,
};
use agentwire_jsonrpc::{RawJson, RequestMethod};

use super::{Client, Context, Turn, session_not_found};
use crate::Error;

/// An agent that speaks the draft of version 2: what an editor asks of it.
///
/// What has a default answers as an agent without that: no session is listed or found, no option is known. Methods may
/// run at the same time, also for one session, and each may call the client and wait for it. Nothing needs to be `Send`
/// unless the future of [`serve`](super::serve) is to be spawned.
///
/// What the crate does before and after each method is said in the [module's docs](super).
pub trait Agent {
    /// `initialize`: says who this agent is and what it can do.
    ///
    /// The version in the request is 2, and so is that of the answer. Without the capability `session` no method of a
    /// session is there. Methods of type `terminal` are left out for a client without `auth.terminal`. Once this has
    /// succeeded it is not called again.
    fn initialize(
        &self,
        request: InitializeRequest,
        context: Context,
    ) -> impl Future<Output = Result<InitializeResponse, Error>>;

    /// `session/new`: begins a conversation, which is idle. Updates may be sent before the answer.
    fn new_session(
        &self,
        request: NewSessionRequest,
        context: Context,
    ) -> impl Future<Output = Result<NewSessionResponse, Error>>;

    /// `session/prompt`: takes a message into the conversation with [`Turn::accept`], which answers the request, and does
    /// the work.
    ///
    /// What this gives is why the work ended; the client is told that the session is idle when no other prompt of the
    /// session is at work. An error is told so too, or is the answer to the request where the message was not accepted.
    /// After `session/cancel` [`Turn::cancelled`] completes, and whatever this then gives, the client is told that the
    /// work was cancelled.
    fn prompt(
        &self,
        request: PromptRequest,
        turn: Turn,
    ) -> impl Future<Output = Result<IdleStopReason, Error>>;

    /// `session/cancel`: hears that foreground work is to end. The prompts at work have been told through their
    /// [`Turn`], so only work that the agent has begun by itself is left.
    fn cancel(&self, notification: CancelSessionNotification, client: &Client) {
        let _ = (notification, client);
    }

    /// `session/resume`: takes up a conversation, and with a `replayFrom` says it again, in updates, before it answers.
    ///
    /// Unless this has sent the session's state, the client is told after it: `idle`, or what was told last.
    fn resume_session(
        &self,
        request: ResumeSessionRequest,
        context: Context,
    ) -> impl Future<Output = Result<ResumeSessionResponse, Error>> {
        let _ = context;
        std::future::ready(Err(session_not_found(&request.session_id)))
    }

    /// `session/list`: the conversations there are.
    fn list_sessions(
        &self,
        request: ListSessionsRequest,
        context: Context,
    ) -> impl Future<Output = Result<ListSessionsResponse, Error>> {
        let _ = (request, context);
        std::future::ready(Ok(ListSessionsResponse::new([])))
    }

    /// `session/close`: frees what a session holds, and ends its work in the background.
    ///
    /// Its prompts have been cancelled. The answer waits for them to end, for [`close_grace`](Self::close_grace) after
    /// this; then those that have not are dropped. After the answer nothing more can be said of the session, until it is
    /// resumed.
    fn close_session(
        &self,
        request: CloseSessionRequest,
        context: Context,
    ) -> impl Future<Output = Result<CloseSessionResponse, Error>> {
        let _ = (request, context);
        std::future::ready(Ok(CloseSessionResponse::new()))
    }

    /// How long `session/close` waits for the session's prompts to end once they are cancelled (default 10 s). A prompt
    /// that has not is dropped, and told as cancelled; so is what [`begin_work`](Client::begin_work) gave, which is not
    /// dropped but has nothing more to say.
    fn close_grace(&self) -> Duration {
        Duration::from_secs(10)
    }

    /// `session/delete`: forgets a conversation; one that is not there is forgotten already. Advertised by
    /// `session.delete`.
    fn delete_session(
        &self,
        request: DeleteSessionRequest,
        context: Context,
    ) -> impl Future<Output = Result<DeleteSessionResponse, Error>> {
        not_found(&request, context)
    }

    /// `session/set_config_option`: changes an option, to a value that it has, and answers with all of them.
    fn set_session_config_option(
        &self,
        request: SetSessionConfigOptionRequest,
        context: Context,
    ) -> impl Future<Output = Result<SetSessionConfigOptionResponse, Error>> {
        let _ = context;
        let why = format_args!("there is no option {:?}", request.config_id);
        std::future::ready(Err(Error::invalid_params(why)))
    }

    /// `tool_call/cancel`: begins to stop one call of a tool, which was last told with the capability `cancel`. That it
    /// has ended is told by an update.
    fn cancel_tool_call(
        &self,
        request: CancelToolCallRequest,
        context: Context,
    ) -> impl Future<Output = Result<CancelToolCallResponse, Error>> {
        let _ = context;
        let why = format_args!("the call {:?} cannot be cancelled", request.tool_call_id);
        std::future::ready(Err(Error::invalid_params(why)))
    }

    /// `terminal/cancel`: begins to stop the command of one terminal, which was last told with the capability `cancel`.
    /// That it has ended is told by an update.
    fn cancel_terminal(
        &self,
        request: CancelTerminalRequest,
        context: Context,
    ) -> impl Future<Output = Result<CancelTerminalResponse, Error>> {
        let _ = context;
        let why = format_args!("the terminal {:?} cannot be cancelled", request.terminal_id);
        std::future::ready(Err(Error::invalid_params(why)))
    }

    /// `auth/login`: proves who the user is, by a method that `initialize` offered and that is not of type `terminal`.
    /// An agent that offers one must have this and [`logout`](Self::logout).
    fn login(
        &self,
        request: LoginAuthRequest,
        context: Context,
    ) -> impl Future<Output = Result<LoginAuthResponse, Error>> {
        not_found(&request, context)
    }

    /// `auth/logout`: forgets who the user is.
    fn logout(
        &self,
        request: LogoutAuthRequest,
        context: Context,
    ) -> impl Future<Output = Result<LogoutAuthResponse, Error>> {
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

//! A client that records its messages and questions, and the function that plays scripts of version 1 to it.

use std::sync::Arc;

use agentwire_acp_client::{AgentHandle, BoxError, CallError, Client, Context, Error, connect};
use agentwire_acp_schema::v1::*;
use agentwire_jsonrpc::RawJson;
use agentwire_schema_tests::{Conversation, Side, checked};
use agentwire_sync::Mutex;
use agentwire_transport::{Transport, lines};
use futures::future::{Either, LocalBoxFuture};
use serde_json::json;
use tokio::io::DuplexStream;
use tokio::sync::Notify;
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

use crate::script::{folder, play, read};

/// Runs `main` against an agent that plays the script `acp-client/NAME.jsonl`.
#[macro_export]
macro_rules! check {
    ($name:literal, $client:expr, $main:expr) => {
        $crate::recorder::check($name, $client, $main).await
    };
}

pub(crate) async fn check<R>(
    name: &str,
    client: &Recorder,
    main: impl AsyncFnOnce(AgentHandle) -> Result<R, BoxError>,
) -> Result<R, BoxError> {
    converse(name, client, true, main).await
}

/// The same for what drafts add, which the schema of the version does not know.
#[cfg(feature = "unstable")]
pub(crate) async fn check_drafts<R>(
    name: &str,
    client: &Recorder,
    main: impl AsyncFnOnce(AgentHandle) -> Result<R, BoxError>,
) -> Result<R, BoxError> {
    converse(name, client, false, main).await
}

type Main<'a, R> = Box<dyn FnOnce(AgentHandle) -> LocalBoxFuture<'a, Result<R, BoxError>> + 'a>;

async fn converse<R>(
    name: &str,
    client: &Recorder,
    by_schema: bool,
    main: impl AsyncFnOnce(AgentHandle) -> Result<R, BoxError>,
) -> Result<R, BoxError> {
    let script = read(&folder("acp-client").join(name).with_extension("jsonl"));
    let (wire, far) = wire(by_schema);
    // Of one type for all tests, so that the whole client is compiled once and not for each.
    let main: Main<'_, R> = Box::new(|agent| Box::pin(async move { main(agent).await }));
    let connected = connect(client.clone(), wire, main);
    let (result, played) = futures::join!(connected, play(&script, far));
    if let Err(why) = played {
        panic!("{why}\n  main gave {:?}\n  heard {:#?}", result.err(), client.heard());
    }
    Ok(result?)
}

/// A transport, which panics if the client sends what the schema does not allow, and the agent's end of it.
pub(crate) fn wire(by_schema: bool) -> (impl Transport, DuplexStream) {
    let (near, far) = tokio::io::duplex(1 << 20);
    let (read, write) = tokio::io::split(near);
    let wire = lines(read.compat(), write.compat_write());
    let wire = match by_schema {
        true => Either::Left(checked(wire, Conversation::acp(), Side::Client)),
        false => Either::Right(wire),
    };
    (wire, far)
}

/// The error of a call that must fail.
pub(crate) async fn refused<R: std::fmt::Debug>(call: impl Future<Output = Result<R, CallError>>) -> String {
    call.await.unwrap_err().to_string()
}

/// A client of both versions. Clones are the same client.
#[derive(Clone, Default)]
pub(crate) struct Recorder {
    heard: Arc<Mutex<Vec<String>>>,
    news: Arc<Notify>,
}

impl Recorder {
    pub(crate) fn note(&self, what: impl Into<String>) {
        self.heard.lock().push(what.into());
        self.news.notify_one();
    }

    /// Everything up to now.
    pub(crate) fn heard(&self) -> Vec<String> {
        self.heard.lock().clone()
    }

    /// Waits until so many lines were written down.
    pub(crate) async fn until(&self, lines: usize) {
        while self.heard.lock().len() < lines {
            self.news.notified().await;
        }
    }
}

/// Writes down that a question to the user was taken back.
pub(crate) struct Question<'a>(pub(crate) &'a Recorder, pub(crate) String);

impl Drop for Question<'_> {
    fn drop(&mut self) {
        self.0.note(format!("dropped {}", self.1));
    }
}

impl Client for Recorder {
    fn session_update(&self, notification: SessionNotification) {
        let update = json!(notification.update);
        let kind = update["sessionUpdate"].as_str().unwrap().to_owned();
        let text = update["content"]["text"].as_str().map(|text| format!(" {text}")).unwrap_or_default();
        self.note(format!("{} {kind}{text}", notification.session_id));
    }

    /// Allows at once, unless the tool call's title is `wait` or `odd`. Asks before its future is polled.
    fn request_permission(
        &self,
        request: RequestPermissionRequest,
        _: Context,
    ) -> impl Future<Output = Result<RequestPermissionResponse, Error>> {
        let name = format!("{} {}", request.session_id, request.tool_call.tool_call_id);
        self.note(format!("asked {name}"));
        async move {
            if request.tool_call.title.as_deref() == Some("wait") {
                let _question = Question(self, name);
                std::future::pending::<()>().await;
            }
            match request.tool_call.title.as_deref() {
                Some("odd") => Ok(RequestPermissionResponse::selected("never-offered")),
                _ => Ok(request.allow()),
            }
        }
    }

    async fn read_text_file(
        &self,
        request: ReadTextFileRequest,
        _: Context,
    ) -> Result<ReadTextFileResponse, Error> {
        match request.line {
            Some(line) => Ok(ReadTextFileResponse::new(format!("{} from {line}", request.path.display()))),
            None => Err(Error::internal_error("there is no such file")),
        }
    }

    async fn write_text_file(
        &self,
        request: WriteTextFileRequest,
        _: Context,
    ) -> Result<WriteTextFileResponse, Error> {
        self.note(format!("write {} {}", request.path.display(), request.content));
        Ok(WriteTextFileResponse::new())
    }

    async fn create_terminal(
        &self,
        request: CreateTerminalRequest,
        _: Context,
    ) -> Result<CreateTerminalResponse, Error> {
        Ok(CreateTerminalResponse::new(format!("terminal of {}", request.command)))
    }

    async fn terminal_output(
        &self,
        _: TerminalOutputRequest,
        _: Context,
    ) -> Result<TerminalOutputResponse, Error> {
        Ok(TerminalOutputResponse::new("output"))
    }

    /// Waits until the agent no longer wants to know.
    async fn wait_for_terminal_exit(
        &self,
        _: WaitForTerminalExitRequest,
        cx: Context,
    ) -> Result<WaitForTerminalExitResponse, Error> {
        cx.cancelled().await;
        Err(Error::request_cancelled())
    }

    async fn kill_terminal(&self, _: KillTerminalRequest, _: Context) -> Result<KillTerminalResponse, Error> {
        Ok(KillTerminalResponse::new())
    }

    async fn release_terminal(
        &self,
        _: ReleaseTerminalRequest,
        _: Context,
    ) -> Result<ReleaseTerminalResponse, Error> {
        panic!("part of the test")
    }

    async fn create_elicitation(
        &self,
        request: CreateElicitationRequest,
        _: Context,
    ) -> Result<CreateElicitationResponse, Error> {
        Ok(match request.message.as_str() {
            "visit" => CreateElicitationResponse::accept(ElicitationAcceptAction::new()),
            _ => CreateElicitationResponse::decline(),
        })
    }

    fn complete_elicitation(&self, notification: CompleteElicitationNotification) {
        self.note(format!("completed {}", notification.elicitation_id));
    }

    async fn extension_request(
        &self,
        method: &str,
        params: Option<RawJson>,
        cx: Context,
    ) -> Result<RawJson, Error> {
        match method {
            // Asks back before it answers.
            "_echo" => Ok(cx.agent().extension_request("_back", &params).await?),
            _ => Err(Error::method_not_found(method)),
        }
    }

    fn extension_notification(&self, method: &str, params: Option<RawJson>, _: &AgentHandle) {
        self.note(format!("{method} {}", params.unwrap_or(RawJson::NULL)));
    }

    fn unreadable_update(&self, params: Option<RawJson>, why: &Error) {
        assert!(why.message.starts_with("invalid params: "), "{why}");
        self.note(format!("unreadable {}", params.unwrap_or(RawJson::NULL)));
    }

    fn unreadable_message(&self, why: &Error) {
        self.note(format!("lost {}", why.message));
    }
}

pub(crate) fn greeting() -> InitializeRequest {
    InitializeRequest::new(ProtocolVersion::V1)
}

/// Initializes without capabilities and begins `session-1`.
pub(crate) async fn begin(agent: &AgentHandle) -> Result<SessionId, CallError> {
    agent.initialize(greeting()).await?;
    Ok(agent.new_session(NewSessionRequest::new("/repo")).await?.session_id)
}

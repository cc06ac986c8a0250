//! The recording client in version 2.

use agentwire_acp_client::v2::{AgentHandle, Client, Context, connect};
use agentwire_acp_client::{BoxError, CallError, Error};
use agentwire_acp_schema::v2::*;
use agentwire_jsonrpc::RawJson;
use futures::future::LocalBoxFuture;
use serde_json::json;

pub(crate) use crate::recorder::Recorder;
use crate::recorder::{Question, wire};
use crate::script::{folder, play, read};

/// Runs `main` against an agent that plays the script `acp-client-v2/NAME.jsonl`.
#[macro_export]
macro_rules! check_v2 {
    ($name:literal, $client:expr, $main:expr) => {
        $crate::v2::recorder::check($name, $client, $main).await
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
    let script = read(&folder("acp-client-v2").join(name).with_extension("jsonl"));
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

impl Client for Recorder {
    fn session_update(&self, notification: UpdateSessionNotification) {
        let update = json!(notification.update);
        let kind = update["sessionUpdate"].as_str().unwrap();
        let more = update["content"]["text"].as_str().or(update["state"].as_str());
        let more = more.map(|more| format!(" {more}")).unwrap_or_default();
        self.note(format!("{} {kind}{more}", notification.session_id));
    }

    /// Allows at once, unless the title is `wait` or `odd`.
    async fn request_permission(
        &self,
        request: RequestPermissionRequest,
        _: Context,
    ) -> Result<RequestPermissionResponse, Error> {
        self.note(format!("asked {} {}", request.session_id, request.title));
        match request.title.as_str() {
            "wait" => {
                let _question = Question(self, request.title.clone());
                std::future::pending().await
            }
            "odd" => Ok(RequestPermissionResponse::selected("never-offered")),
            "unknown" => Ok(serde_json::from_value(json!({ "outcome": { "outcome": "_perhaps" } })).unwrap()),
            _ => Ok(request.allow()),
        }
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

    fn unreadable_update(&self, params: Option<RawJson>, _: &Error) {
        self.note(format!("unreadable {}", params.unwrap_or(RawJson::NULL)));
    }

    fn unreadable_message(&self, why: &Error) {
        self.note(format!("lost {}", why.message));
    }
}

pub(crate) fn greeting() -> InitializeRequest {
    InitializeRequest::new(ProtocolVersion::V2, Implementation::new("editor", "1"))
}

/// Initializes without capabilities and begins `session-1`.
pub(crate) async fn begin(agent: &AgentHandle) -> Result<SessionId, CallError> {
    agent.initialize(greeting()).await?;
    Ok(agent.new_session(NewSessionRequest::new("/repo")).await?.session_id)
}

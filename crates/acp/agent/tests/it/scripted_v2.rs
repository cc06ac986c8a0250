//! An agent of version 2 that follows a script: instructions come in `_meta` of requests and in the text of each prompt.

use std::sync::atomic::{AtomicU32, Ordering};

use agentwire_acp_agent::v2::{Agent, Context, RemoteClient, Turn, session_not_found};
use agentwire_acp_agent::{CallError, Error};
use agentwire_acp_schema::v2::*;
use agentwire_jsonrpc::RawJson;
use futures_util::FutureExt;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The members of `_meta` of `initialize`: `offer` (capabilities), `authMethods`, `version`, `fail`; of others: `answer`,
/// and of `session/resume` also `updates`, which are sent before it.
#[derive(Default)]
pub(crate) struct ScriptedV2 {
    sessions: AtomicU32,
    messages: AtomicU32,
}

fn meta_member<T: DeserializeOwned>(meta: Option<&Meta>, name: &str) -> Option<T> {
    meta?.decode_member(name).unwrap()
}

impl Agent for ScriptedV2 {
    async fn initialize(&self, request: InitializeRequest, cx: Context) -> Result<InitializeResponse, Error> {
        assert!(cx.client().capabilities().is_none());
        let meta = request.meta.as_ref();
        if let Some(why) = meta_member::<String>(meta, "fail") {
            return Err(Error::internal_error(why));
        }
        let version = meta_member(meta, "version").map_or(request.protocol_version, ProtocolVersion::new);
        let offer = meta_member(meta, "offer");
        let offer = offer.unwrap_or_else(|| AgentCapabilities::new().session(SessionCapabilities::new()));
        Ok(InitializeResponse::new(version, Implementation::new("scripted", request.info.name))
            .capabilities(offer)
            .auth_methods(meta_member::<Vec<AuthMethod>>(meta, "authMethods").unwrap_or_default()))
    }

    async fn new_session(&self, request: NewSessionRequest, _: Context) -> Result<NewSessionResponse, Error> {
        let number = self.sessions.fetch_add(1, Ordering::Relaxed) + 1;
        Ok(meta_member(request.meta.as_ref(), "answer")
            .unwrap_or_else(|| NewSessionResponse::new(format!("session-{number}"))))
    }

    async fn resume_session(
        &self,
        request: ResumeSessionRequest,
        cx: Context,
    ) -> Result<ResumeSessionResponse, Error> {
        let meta = request.meta.as_ref();
        for update in meta_member::<Vec<SessionUpdate>>(meta, "updates").unwrap_or_default() {
            let update = UpdateSessionNotification::new(&request.session_id, update);
            cx.client().session_update(update).await?;
        }
        match &*request.session_id {
            "lost" => Err(session_not_found(&request.session_id)),
            _ => Ok(meta_member(meta, "answer").unwrap_or_default()),
        }
    }

    async fn list_sessions(
        &self,
        request: ListSessionsRequest,
        _: Context,
    ) -> Result<ListSessionsResponse, Error> {
        Ok(meta_member(request.meta.as_ref(), "answer").unwrap_or_else(|| ListSessionsResponse::new([])))
    }

    async fn delete_session(
        &self,
        _: DeleteSessionRequest,
        _: Context,
    ) -> Result<DeleteSessionResponse, Error> {
        Ok(DeleteSessionResponse::new())
    }

    async fn set_session_config_option(
        &self,
        request: SetSessionConfigOptionRequest,
        _: Context,
    ) -> Result<SetSessionConfigOptionResponse, Error> {
        Ok(meta_member(request.meta.as_ref(), "answer").expect("the test says what to answer"))
    }

    async fn cancel_tool_call(
        &self,
        _: CancelToolCallRequest,
        _: Context,
    ) -> Result<CancelToolCallResponse, Error> {
        Ok(CancelToolCallResponse::new())
    }

    async fn cancel_terminal(
        &self,
        _: CancelTerminalRequest,
        _: Context,
    ) -> Result<CancelTerminalResponse, Error> {
        Ok(CancelTerminalResponse::new())
    }

    async fn login(&self, _: LoginAuthRequest, _: Context) -> Result<LoginAuthResponse, Error> {
        Ok(LoginAuthResponse::new())
    }

    async fn logout(&self, _: LogoutAuthRequest, _: Context) -> Result<LogoutAuthResponse, Error> {
        Ok(LogoutAuthResponse::new())
    }

    async fn prompt(&self, request: PromptRequest, turn: Turn) -> Result<IdleStopReason, Error> {
        let mut stop = IdleStopReason::EndTurn;
        let mut accepted = false;
        let text: String = request.prompt.iter().filter_map(ContentBlock::as_text).collect();
        for line in text.lines() {
            let (command, rest) = line.split_once(' ').unwrap_or((line, ""));
            // These instructions run before the message is accepted.
            match command {
                "refuse" => return Err(Error::internal_error(rest)),
                "ignore" => return Ok(stop),
                "stall" => std::future::pending().await,
                "hold" => {
                    turn.cancelled().await;
                    continue;
                }
                _ => {}
            }
            if !std::mem::replace(&mut accepted, true) {
                let number = self.messages.fetch_add(1, Ordering::Relaxed) + 1;
                turn.accept(format!("user-{number}"), &request.prompt).await?;
            }
            match command {
                "stop" => {
                    stop = serde_json::from_value::<IdleStateUpdate>(json!({ "stopReason": rest }))
                        .unwrap()
                        .stop_reason
                        .unwrap()
                }
                "fail" => return Err(Error::internal_error(rest)),
                "panic" => panic!("{rest}"),
                "wait" => turn.cancelled().await,
                "hang" => std::future::pending().await,
                _ => run_command(&turn, command, rest).await?,
            }
        }
        Ok(stop)
    }

    fn cancel(&self, notification: CancelSessionNotification, client: &RemoteClient) {
        if notification.meta.is_some_and(|meta| meta.contains_key("tell")) {
            let params = json!({ "sessionId": notification.session_id });
            client.extension_notification("_cancelled", &params).now_or_never();
        }
    }

    async fn extension_request(
        &self,
        method: &str,
        params: Option<RawJson>,
        cx: Context,
    ) -> Result<RawJson, Error> {
        match method {
            "_echo" => Ok(params.unwrap_or(RawJson::NULL)),
            "_wait" => {
                cx.cancelled().await;
                Err(Error::request_cancelled())
            }
            // Foreground work without a prompt, which runs until it is cancelled.
            "_work" => {
                let params_value: Value = params.unwrap().decode().unwrap();
                let work = cx.client().begin_work(params_value["sessionId"].as_str().unwrap());
                let work = work.map_err(Error::internal_error)?;
                if params_value["hang"] == json!(true) {
                    cx.cancelled().await;
                }
                work.cancelled().await;
                if params_value["end"] == json!(true) {
                    work.end(IdleStopReason::EndTurn);
                }
                Ok(RawJson::NULL)
            }
            // An update outside of every prompt.
            "_update" => {
                let update: UpdateSessionNotification = params.unwrap().decode().unwrap();
                match cx.client().session_update(update).await {
                    Ok(()) => Ok(RawJson::NULL),
                    Err(why) => Err(Error::internal_error(why)),
                }
            }
            _ => Err(Error::method_not_found(method)),
        }
    }

    fn extension_notification(&self, method: &str, params: Option<RawJson>, client: &RemoteClient) {
        // Notifications whose names begin with `$/` must not arrive here.
        if method == "_ping" || method.starts_with('$') {
            client.extension_notification("_pong", &params).now_or_never();
        }
    }
}

async fn run_command(turn: &Turn, command: &str, rest: &str) -> Result<(), Error> {
    let (client, session) = (turn.client(), turn.session_id());
    let may = |title: &str| {
        let yes = PermissionOption::new("yes", "Yes", PermissionOptionKind::AllowOnce);
        let request = RequestPermissionRequest::new(session, title, [yes]);
        client.request_permission(request).map(|answer| answer.map(|answer| decided(&answer.outcome)))
    };
    let outcome: Result<String, CallError> = match command {
        "say" => Ok(rest.into()),
        "accept" => turn.accept("again", &[]).await.map(|()| "accepted".into()),
        "update" => {
            let update: SessionUpdate = serde_json::from_str(rest).unwrap();
            match client.session_update(UpdateSessionNotification::new(session, update)).await {
                Ok(()) => return Ok(()),
                Err(why) => Err(why),
            }
        }
        "permission" => may("Do it").await,
        "permissions" => {
            let (one, two) = futures_util::future::join(may("One"), may("Two")).await;
            one.and_then(|one| Ok(format!("{one}, {}", two?)))
        }
        "detached" => {
            let yes = PermissionOption::new("yes", "Yes", PermissionOptionKind::AllowOnce);
            let request = RequestPermissionRequest::new(session, "Detached", [yes]);
            client.detached().request_permission(request).await.map(|answer| decided(&answer.outcome))
        }
        "question" => {
            let request: RequestPermissionRequest = serde_json::from_str(rest).unwrap();
            client.request_permission(request).await.map(|answer| decided(&answer.outcome))
        }
        "ask" => {
            let mode: ElicitationMode = serde_json::from_str(rest).unwrap();
            let answer = client.create_elicitation(CreateElicitationRequest::new("Well?", mode)).await;
            answer.map(|answer| json!(answer)["action"].to_string())
        }
        "asked" => {
            let done = client.complete_elicitation(CompleteElicitationNotification::new(rest)).await;
            done.map(|()| "told".into())
        }
        "call" => {
            let answer = client.extension_request::<_, Value>(rest, &json!({ "a": 1 })).await;
            answer.map(|answer| answer.to_string())
        }
        other => panic!("no command {other:?}"),
    };
    let text = outcome.unwrap_or_else(|error| format!("error: {error}"));
    let update = UpdateSessionNotification::message(session, "agent", text);
    Ok(client.session_update(update).await?)
}

fn decided(outcome: &RequestPermissionOutcome) -> String {
    match outcome {
        RequestPermissionOutcome::Selected(option) => format!("chosen: {}", option.option_id),
        RequestPermissionOutcome::Cancelled(_) => "cancelled".into(),
        _ => "unknown".into(),
    }
}

//! An agent that follows a script: instructions come in `_meta` of `initialize` and in the text of each prompt.

use std::sync::atomic::{AtomicU32, Ordering};

use agentwire_acp_agent::{Agent, Context, Error, RemoteClient};
use agentwire_acp_schema::v1::*;
use agentwire_jsonrpc::RawJson;
use futures_util::FutureExt;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Returns the answer to give to a request: the member `answer` of its `_meta`.
fn meta_answer<T: DeserializeOwned>(meta: Option<&Meta>) -> Option<T> {
    meta?.decode_member("answer").unwrap()
}

/// The members of `_meta` of `initialize`: `offer` (agent capabilities), `authMethods`, `version`, `fail`.
#[derive(Default)]
pub(crate) struct Scripted {
    sessions: AtomicU32,
}

impl Agent for Scripted {
    async fn initialize(&self, request: InitializeRequest, cx: Context) -> Result<InitializeResponse, Error> {
        assert!(cx.client().capabilities().is_none());
        let script = request.meta.unwrap_or_default();
        if let Some(why) = script.get("fail") {
            return Err(Error::internal_error(why));
        }
        let offer = script.decode_member("offer").unwrap().unwrap_or_default();
        let methods: Vec<AuthMethod> = script.decode_member("authMethods").unwrap().unwrap_or_default();
        let version: Option<u16> = script.decode_member("version").unwrap();
        Ok(InitializeResponse::new(version.map_or(request.protocol_version, ProtocolVersion::new))
            .agent_capabilities(offer)
            .auth_methods(methods)
            .agent_info(Implementation::new("scripted", "1.0.0")))
    }

    async fn new_session(&self, request: NewSessionRequest, _: Context) -> Result<NewSessionResponse, Error> {
        if let Some(answer) = meta_answer(request.meta.as_ref()) {
            return Ok(answer);
        }
        let number = self.sessions.fetch_add(1, Ordering::Relaxed) + 1;
        let mut response = NewSessionResponse::new(format!("session-{number}"));
        if let Some(mut meta) = request.meta {
            meta.insert("cwd", json!(request.cwd));
            meta.insert("servers", json!(request.mcp_servers));
            response = response.meta(meta);
        }
        Ok(response)
    }

    async fn load_session(
        &self,
        request: LoadSessionRequest,
        cx: Context,
    ) -> Result<LoadSessionResponse, Error> {
        if let Some(answer) = meta_answer(request.meta.as_ref()) {
            return Ok(answer);
        }
        let replay = [
            SessionNotification::user_message(&request.session_id, "say hello"),
            SessionNotification::message(&request.session_id, "hello"),
        ];
        for update in replay {
            cx.client().session_update(update).await?;
        }
        Ok(LoadSessionResponse::new())
    }

    async fn resume_session(
        &self,
        request: ResumeSessionRequest,
        _: Context,
    ) -> Result<ResumeSessionResponse, Error> {
        Ok(meta_answer(request.meta.as_ref()).unwrap_or_default())
    }

    async fn list_sessions(
        &self,
        request: ListSessionsRequest,
        _: Context,
    ) -> Result<ListSessionsResponse, Error> {
        Ok(meta_answer(request.meta.as_ref()).unwrap_or_else(|| ListSessionsResponse::new([])))
    }

    async fn close_session(&self, _: CloseSessionRequest, _: Context) -> Result<CloseSessionResponse, Error> {
        Ok(CloseSessionResponse::new())
    }

    async fn delete_session(
        &self,
        _: DeleteSessionRequest,
        _: Context,
    ) -> Result<DeleteSessionResponse, Error> {
        Ok(DeleteSessionResponse::new())
    }

    async fn authenticate(
        &self,
        request: AuthenticateRequest,
        _: Context,
    ) -> Result<AuthenticateResponse, Error> {
        match request.meta {
            Some(meta) => Ok(AuthenticateResponse::new().meta(meta)),
            None => Ok(AuthenticateResponse::new()),
        }
    }

    async fn logout(&self, _: LogoutRequest, _: Context) -> Result<LogoutResponse, Error> {
        Ok(LogoutResponse::new())
    }

    async fn set_session_mode(
        &self,
        _: SetSessionModeRequest,
        _: Context,
    ) -> Result<SetSessionModeResponse, Error> {
        Ok(SetSessionModeResponse::new())
    }

    async fn set_session_config_option(
        &self,
        request: SetSessionConfigOptionRequest,
        _: Context,
    ) -> Result<SetSessionConfigOptionResponse, Error> {
        if let Some(answer) = meta_answer(request.meta.as_ref()) {
            return Ok(answer);
        }
        match request.value {
            SessionConfigOptionValue::Boolean(on) => {
                let option = SessionConfigOption::boolean(request.config_id, "Option", on);
                Ok(SetSessionConfigOptionResponse::new([option]))
            }
            value => Err(Error::invalid_params(format_args!("no such value: {value:?}"))),
        }
    }

    async fn prompt(&self, request: PromptRequest, cx: Context) -> Result<PromptResponse, Error> {
        let mut turn = Turn { session: request.session_id, cx, stop: StopReason::EndTurn };
        for block in request.prompt {
            match block {
                ContentBlock::Text(text) => {
                    for command in text.text.lines() {
                        turn.run_command(command).await?;
                    }
                }
                other => turn.say(format!("a {}", json!(other)["type"].as_str().unwrap())).await?,
            }
        }
        let response = PromptResponse::new(turn.stop);
        Ok(match request.meta {
            Some(meta) => response.meta(meta),
            None => response,
        })
    }

    /// Notifies the client if an instruction requires it.
    fn cancel(&self, notification: CancelNotification, client: &RemoteClient) {
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

/// A turn that executes the lines of its prompt, and sends the outcome of each.
struct Turn {
    session: SessionId,
    cx: Context,
    stop: StopReason,
}

impl Turn {
    async fn say(&self, text: impl Into<String>) -> Result<(), Error> {
        let update = SessionNotification::message(&self.session, text.into());
        Ok(self.cx.client().session_update(update).await?)
    }

    async fn run_command(&mut self, line: &str) -> Result<(), Error> {
        let client = self.cx.client();
        let session = &self.session;
        let (command, rest) = line.split_once(' ').unwrap_or((line, ""));
        let outcome: Result<String, agentwire_acp_agent::CallError> = match command {
            "say" => Ok(rest.into()),
            "stop" => {
                self.stop = rest.into();
                return Ok(());
            }
            "fail" => return Err(Error::internal_error(rest)),
            "panic" => panic!("{rest}"),
            "wait" => {
                self.cx.cancelled().await;
                return Ok(());
            }
            "update" => {
                let update: SessionUpdate = serde_json::from_str(rest).unwrap();
                match client.session_update(SessionNotification::new(session, update)).await {
                    Ok(()) => return Ok(()),
                    Err(why) => Err(why),
                }
            }
            "permission" => {
                let call = ToolCallUpdate::new("call-1").title("Do it");
                let yes = PermissionOption::new("yes", "Yes", PermissionOptionKind::AllowOnce);
                let request = RequestPermissionRequest::new(session, call, [yes]);
                client.request_permission(request).await.map(|answer| match answer.outcome {
                    RequestPermissionOutcome::Selected(option) => format!("chosen: {}", option.option_id),
                    _ => "cancelled".into(),
                })
            }
            "choose" => {
                let options: Vec<PermissionOption> = serde_json::from_str(rest).unwrap();
                let request = RequestPermissionRequest::new(session, ToolCallUpdate::new("call-1"), options);
                client.request_permission(request).await.map(|_| "chosen".into())
            }
            "free" => {
                let cost = Cost::new(f64::NAN, "EUR");
                let update = SessionUpdate::from(UsageUpdate::new(1, 2).cost(cost));
                client.session_update(SessionNotification::new(session, update)).await.map(|()| "told".into())
            }
            "read-from" => {
                let request = ReadTextFileRequest::new(session, "/a").line(rest.parse::<u32>().unwrap());
                client.read_text_file(request).await.map(|answer| answer.content)
            }
            "tell" => client.extension_notification(rest, &json!({})).await.map(|()| "told".into()),
            "read" => {
                let request = ReadTextFileRequest::new(session, rest).line(1).limit(2);
                client.read_text_file(request).await.map(|answer| answer.content)
            }
            "write" => {
                let request = WriteTextFileRequest::new(session, rest, "text");
                client.write_text_file(request).await.map(|_| "written".into())
            }
            "run" => self.run(rest).await,
            "ask" => {
                let mode: ElicitationMode = serde_json::from_str(rest).unwrap();
                let answer = client.create_elicitation(CreateElicitationRequest::new("Well?", mode)).await;
                answer.map(|answer| format!("{}", json!(answer)["action"]))
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
        match outcome {
            Ok(text) => self.say(text).await,
            Err(error) => self.say(format!("error: {error}")).await,
        }
    }

    /// Creates a terminal, uses it and releases it.
    async fn run(&self, cwd: &str) -> Result<String, agentwire_acp_agent::CallError> {
        let (client, session) = (self.cx.client(), &self.session);
        let request = CreateTerminalRequest::new(session, "ls").args(["-l"]).cwd(cwd);
        let terminal = client.create_terminal(request).await?.terminal_id;
        client.terminal_output(TerminalOutputRequest::new(session, &terminal)).await?;
        client.kill_terminal(KillTerminalRequest::new(session, &terminal)).await?;
        let exit = client.wait_for_terminal_exit(WaitForTerminalExitRequest::new(session, &terminal)).await?;
        client.release_terminal(ReleaseTerminalRequest::new(session, &terminal)).await?;
        Ok(format!("exit {}", exit.exit_code.unwrap_or_default()))
    }
}

//! The same client in version 2 of the protocol, where files and terminals are on the agent's machine.

use std::collections::BTreeMap;

use agentwire_acp_client::v2::{AgentHandle, Client, Context, TurnEnd};
use agentwire_acp_client::{Call, CallError, Error};
use agentwire_acp_schema::v1::{self, SessionId, StopReason};
use agentwire_acp_schema::v2::{
    ClientCapabilities, CompleteElicitationNotification, CreateElicitationRequest, CreateElicitationResponse,
    ElicitationAcceptAction, ElicitationContentValue, ElicitationMode, ElicitationSchema, NewSessionRequest,
    NewSessionResponse, Patch, PromptRequest, RequestPermissionOutcome, RequestPermissionRequest,
    RequestPermissionResponse, RequestPermissionSubject, ResumeSessionRequest, ResumeSessionResponse,
    UpdateSessionNotification,
};
use agentwire_jsonrpc::{RawJson, Skipped};

use super::known_call::{content_texts, diff_paths};
use super::{OpenConversation, Sessions, Toolkit, UserInterface};
use crate::conversation::v2::{commands, config_options, content_block};
use crate::{Form, UrlConsent};

impl<U: UserInterface> Toolkit<U> {
    /// Returns the capabilities for `initialize` of version 2.
    pub fn capabilities_v2(&self) -> ClientCapabilities {
        let mut capabilities = ClientCapabilities::new();
        capabilities.elicitation = self.elicitation_capabilities();
        capabilities
    }

    /// `session/new` of version 2. The conversation is open when the answer arrives.
    pub fn new_session_v2(
        &self,
        agent: &AgentHandle,
        request: NewSessionRequest,
    ) -> Call<NewSessionResponse> {
        let sessions = self.sessions.clone();
        let early = self.sessions.early.begin_opening();
        agent.new_session(request).on_result(move |opened| {
            sessions.open(&opened.session_id);
            drop(early);
            sessions.set_v2(&opened.session_id, &opened.config_options, &opened.available_commands);
        })
    }

    /// `session/resume` of version 2. The conversation is opened before the call is sent, because a replay comes before
    /// the answer.
    pub fn resume_session_v2(
        &self,
        agent: &AgentHandle,
        request: ResumeSessionRequest,
    ) -> Call<ResumeSessionResponse> {
        let (sessions, session) = (self.sessions.clone(), request.session_id.clone());
        sessions.open(&session);
        agent.resume_session(request).on_result(move |resumed| {
            sessions.set_v2(&session, &resumed.config_options, &resumed.available_commands);
        })
    }

    /// Runs a turn of version 2, and shows the prompt in the conversation. Dropping the future cancels the turn. The
    /// agent reports the tool calls that end with it.
    ///
    /// # Errors
    ///
    /// Those of the turn.
    pub async fn prompt_v2(&self, agent: &AgentHandle, request: PromptRequest) -> Result<TurnEnd, CallError> {
        let prompt = || request.prompt.iter().cloned().map(content_block).collect();
        let mut turn = self.begin_turn(&request.session_id, prompt);
        turn.stop_reason = StopReason::EndTurn;
        agent.prompt(request).await
    }
}

impl Sessions {
    fn set_v2(
        &self,
        session: &SessionId,
        options: &[agentwire_acp_schema::v2::SessionConfigOption],
        available: &[agentwire_acp_schema::v2::AvailableCommand],
    ) {
        // Lists may be left out. Earlier updates may have brought them.
        let options = (!options.is_empty()).then(|| config_options(options.to_vec()));
        self.set(session, None, options);
        if available.is_empty() {
            return;
        }
        if let Some(OpenConversation { conversation, .. }) = self.conversations.lock().get_mut(session) {
            let commands = v1::AvailableCommandsUpdate::new(commands(available.to_vec()));
            let _drawn_when_it_is_open = conversation.apply(commands);
        }
    }
}

impl<U: UserInterface> Client for Toolkit<U> {
    fn session_update(&self, notification: UpdateSessionNotification) {
        self.apply(&notification.session_id, notification.update);
    }

    async fn request_permission(
        &self,
        request: RequestPermissionRequest,
        _: Context,
    ) -> Result<RequestPermissionResponse, Error> {
        let ask = async |request: &v1::RequestPermissionRequest| {
            self.user_interface.choose_permission(request).await
        };
        let question = self.question(permission_question(request))?;
        let answer = self.permissions.answer(&question.request, ask).await?;
        Ok(RequestPermissionResponse::new(match answer.outcome {
            v1::RequestPermissionOutcome::Selected(selected) => RequestPermissionOutcome::from(selected),
            _ => RequestPermissionResponse::cancelled().outcome,
        }))
    }

    async fn create_elicitation(
        &self,
        request: CreateElicitationRequest,
        _: Context,
    ) -> Result<CreateElicitationResponse, Error> {
        let response = match request.mode {
            ElicitationMode::Form(mode) if self.services.forms => {
                let form = Form::new(schema(mode.requested_schema))?;
                self.user_interface.fill_form(&request.message, form).await?
            }
            ElicitationMode::Url(mode) if self.services.urls => {
                self.user_interface.open_url(&request.message, UrlConsent::new(&mode)?).await?
            }
            _ => return Err(Error::invalid_params("this client knows no such mode of elicitation")),
        };
        Ok(elicitation_response(response))
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
}

/// Converts a permission request of version 2 into one of version 1, for [`Permissions`](crate::Permissions) and
/// [`Choices`](crate::Choices).
///
/// The description, the title of the call, texts and patches become text content of the call. Paths, also those of diffs, become
/// locations, and a command becomes the input. Texts are not cut, because remembered decisions compare them. They are moved and
/// not copied, because a request may be pending for long.
pub fn permission_question(request: RequestPermissionRequest) -> v1::RequestPermissionRequest {
    let mut call = v1::ToolCallUpdate::new("");
    let (mut texts, mut paths): (Vec<_>, _) = (request.description.into_iter().collect(), Vec::new());
    match request.subject {
        Some(RequestPermissionSubject::ToolCall(subject)) => {
            let about = subject.tool_call;
            call = v1::ToolCallUpdate::new(about.tool_call_id);
            // The title of the request is a question about the call.
            texts.extend(about.title.value().filter(|title| **title != request.title).cloned());
            about.name.apply(&mut call.name);
            about.kind.apply(&mut call.kind);
            about.raw_input.apply(&mut call.raw_input);
            if let Patch::Set(content) = about.content {
                paths.extend(content.iter().flat_map(diff_paths));
                texts.extend(content.into_iter().flat_map(content_texts));
            }
            if let Patch::Set(locations) = about.locations {
                paths.extend(locations.into_iter().map(|location| location.path.to_string()));
            }
        }
        Some(RequestPermissionSubject::Command(subject)) => {
            let input = BTreeMap::from([("command", subject.command), ("cwd", subject.cwd.to_string())]);
            call.raw_input = RawJson::encode(&input).ok();
            call.kind = Some(v1::ToolKind::Execute);
        }
        _ => {}
    }
    call = call.title(request.title);
    let content: Vec<_> =
        texts.into_iter().map(v1::ContentBlock::from).map(v1::ToolCallContent::from).collect();
    if !content.is_empty() {
        call = call.content(content);
    }
    if !paths.is_empty() {
        call = call.locations(paths.into_iter().map(v1::ToolCallLocation::new));
    }
    v1::RequestPermissionRequest::new(request.session_id, call, request.options)
}

fn schema(schema: ElicitationSchema) -> v1::ElicitationSchema {
    let mut same = v1::ElicitationSchema::new();
    (same.title, same.description) = (schema.title, schema.description);
    (same.properties, same.required, same.meta) = (schema.properties, schema.required, schema.meta);
    same
}

fn elicitation_response(response: v1::CreateElicitationResponse) -> CreateElicitationResponse {
    let mut same = match response.action {
        v1::ElicitationAction::Accept(accepted) => {
            let mut same = ElicitationAcceptAction::new();
            same.content = accepted.content.map(|content| {
                content.into_iter().map(|(name, value)| (name, content_value(value))).collect()
            });
            CreateElicitationResponse::accept(same)
        }
        v1::ElicitationAction::Decline => CreateElicitationResponse::decline(),
        _ => CreateElicitationResponse::cancel(),
    };
    same.meta = response.meta;
    same
}

fn content_value(value: v1::ElicitationContentValue) -> ElicitationContentValue {
    match value {
        v1::ElicitationContentValue::String(text) => text.into(),
        v1::ElicitationContentValue::Integer(number) => number.into(),
        v1::ElicitationContentValue::Number(number) => number.into(),
        v1::ElicitationContentValue::Boolean(value) => value.into(),
        v1::ElicitationContentValue::StringArray(values) => values.into(),
        _ => String::new().into(),
    }
}

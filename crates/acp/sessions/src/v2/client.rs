//! The client of version 2.

use agentwire_acp_agent::{CallError, v2::RemoteClient};
use agentwire_acp_schema::v1::{
    AuthCapabilities, BooleanConfigOptionCapabilities, ClientCapabilities, ClientSessionCapabilities,
    CompactionCapabilities, CreateElicitationRequest, CreateElicitationResponse, FileSystemCapabilities,
    MessageId, NoticeCapabilities, PermissionOption, RequestPermissionOutcome,
    SessionConfigOptionsCapabilities, SessionId, SessionUpdate, ToolCallUpdate,
};
use agentwire_acp_schema::v2::{
    self, RequestPermissionRequest, ToolCallPermissionSubject, UpdateSessionNotification,
};
use agentwire_jsonrpc::{NotificationMethod, RawJson, RequestMethod};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::update;
use crate::update::message::MessageIds;

/// The title of a question about a tool call without a title.
const UNTITLED: &str = "May this tool call go on?";

/// A client of version 2.
#[derive(Clone, Debug)]
pub(crate) struct V2Client {
    client: RemoteClient,
    /// The features that a turn can use, as capabilities of version 1. None before `initialize` is answered.
    capabilities: Option<ClientCapabilities>,
}

impl V2Client {
    pub(crate) fn new(client: RemoteClient) -> Self {
        let capabilities = client.capabilities().map(capabilities);
        Self { client, capabilities }
    }

    pub(crate) fn client(&self) -> &RemoteClient {
        &self.client
    }

    pub(crate) fn capabilities(&self) -> Option<&ClientCapabilities> {
        self.capabilities.as_ref()
    }

    /// A chunk may lack the id of its message, because it gets one only after this check.
    ///
    /// # Errors
    ///
    /// [`CallError::NotAllowed`] for an update that has no form in version 2, or breaks a rule.
    pub(crate) fn check_update(&self, update: &SessionUpdate) -> Result<(), CallError> {
        let mut update = update.clone();
        MessageIds::default().assign(&mut update, || MessageId::from("unassigned"));
        match to_v2(update)? {
            Some(update) => self.client.check_update(&update),
            None => Ok(()),
        }
    }

    /// # Errors
    ///
    /// As [`check_update`](Self::check_update), and when the connection or the session is closed.
    pub(crate) async fn send_update(
        &self,
        session: &SessionId,
        update: SessionUpdate,
    ) -> Result<(), CallError> {
        match to_v2(update)? {
            Some(update) => self.client.session_update(UpdateSessionNotification::new(session, update)).await,
            None => Ok(()),
        }
    }

    /// Asks the user about a tool call. The title of the question is that of the call.
    ///
    /// # Errors
    ///
    /// When the call has no form in version 2, or the request fails.
    pub(crate) async fn request_permission(
        &self,
        session: &SessionId,
        call: ToolCallUpdate,
        options: Vec<PermissionOption>,
    ) -> Result<RequestPermissionOutcome, CallError> {
        let title = call.title.clone().unwrap_or_else(|| UNTITLED.to_owned());
        let call = update::tool_call_update(call)
            .map_err(|why| CallError::not_allowed(RequestPermissionRequest::NAME, why.to_string()))?;
        let request = RequestPermissionRequest::new(session, title, options)
            .subject(ToolCallPermissionSubject::new(call));
        match self.client.request_permission(request).await?.outcome {
            v2::RequestPermissionOutcome::Selected(selected) => {
                Ok(RequestPermissionOutcome::Selected(selected))
            }
            // An outcome that is not known here is not consent.
            _ => Ok(RequestPermissionOutcome::Cancelled),
        }
    }

    /// Asks the user for input.
    ///
    /// # Errors
    ///
    /// When the question or its answer has no form in the other version, or the request fails.
    pub(crate) async fn create_elicitation(
        &self,
        request: &CreateElicitationRequest,
    ) -> Result<CreateElicitationResponse, CallError> {
        convert(&self.client.create_elicitation(convert(request)?).await?)
    }
}

/// Converts between the questions of both versions, whose JSON is the same.
fn convert<T: DeserializeOwned>(value: &impl Serialize) -> Result<T, CallError> {
    RawJson::encode(value)
        .and_then(|value| value.decode())
        .map_err(|why| CallError::not_allowed(CreateElicitationRequest::NAME, why.to_string()))
}

/// Returns an update of version 2, or `None` if version 2 has no such update.
fn to_v2(update: SessionUpdate) -> Result<Option<v2::SessionUpdate>, CallError> {
    update::to_v2(update)
        .map_err(|why| CallError::not_allowed(UpdateSessionNotification::NAME, why.to_string()))
}

/// Returns the features that a turn can use. Files and terminals are the agent's own, and every client of version 2 supports
/// boolean options, notices and compactions.
fn capabilities(client: &v2::ClientCapabilities) -> ClientCapabilities {
    let options = SessionConfigOptionsCapabilities::new().boolean(BooleanConfigOptionCapabilities::new());
    let session = ClientSessionCapabilities::new()
        .config_options(options)
        .notices(NoticeCapabilities::new())
        .compaction(CompactionCapabilities::new());
    let terminal = client.auth.as_ref().is_some_and(|auth| auth.terminal.is_some());
    let mut capabilities = ClientCapabilities::new()
        .fs(FileSystemCapabilities::new().read_text_file(true).write_text_file(true))
        .terminal(true)
        .session(session)
        .auth(AuthCapabilities::new().terminal(terminal));
    capabilities.elicitation.clone_from(&client.elicitation);
    capabilities
}

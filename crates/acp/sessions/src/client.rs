//! The client of a connection, in either version of the protocol.

#[cfg(feature = "v2")]
use std::sync::Arc;

use agentwire_acp_agent::CallError;
use agentwire_acp_schema::v1::{
    ClientCapabilities, CreateElicitationRequest, CreateElicitationResponse, Implementation,
    PermissionOption, ProtocolVersion, RequestPermissionOutcome, RequestPermissionRequest, SessionId,
    SessionNotification, SessionUpdate, ToolCallUpdate,
};
use agentwire_peer::{Call, Notify};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::v1;
#[cfg(feature = "v2")]
use crate::v2::client::V2Client;

/// The client of a connection. The first `initialize` has selected the version of the protocol.
///
/// [`Turn`](crate::Turn) has what an agent needs in both versions. For a request that only one version has, use the handle
/// of that version. Cloning is cheap.
///
/// ```
/// # use agentwire_acp_sessions::Turn;
/// # async fn save(turn: &Turn) -> Result<(), agentwire_acp_sessions::TurnError> {
/// // Whether the editor writes files, or the agent has to show the change in its answer.
/// if turn.client().capabilities().is_some_and(|client| client.fs.write_text_file) {
///     turn.write_text_file("notes.txt", "remember the milk").await?;
/// } else {
///     turn.say("Put this into notes.txt: remember the milk").await?;
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct RemoteClient(Version);

#[derive(Clone, Debug)]
enum Version {
    V1(agentwire_acp_agent::RemoteClient),
    #[cfg(feature = "v2")]
    V2(Arc<V2Client>),
}

impl From<&agentwire_acp_agent::RemoteClient> for RemoteClient {
    fn from(client: &agentwire_acp_agent::RemoteClient) -> Self {
        Self(Version::V1(client.clone()))
    }
}

#[cfg(feature = "v2")]
impl From<&agentwire_acp_agent::v2::RemoteClient> for RemoteClient {
    fn from(client: &agentwire_acp_agent::v2::RemoteClient) -> Self {
        Self(Version::V2(Arc::new(V2Client::new(client.clone()))))
    }
}

impl RemoteClient {
    /// Returns the version of the protocol that the connection speaks.
    pub fn protocol_version(&self) -> ProtocolVersion {
        match &self.0 {
            Version::V1(_) => ProtocolVersion::V1,
            #[cfg(feature = "v2")]
            Version::V2(_) => ProtocolVersion::V2,
        }
    }

    /// Returns the features that a turn can use, in the types of version 1, or `None` before `initialize` is answered.
    ///
    /// Under version 2 they always include files and terminals, because these are the agent's own, and boolean options,
    /// notices and compactions, because every client of that version supports them.
    pub fn capabilities(&self) -> Option<&ClientCapabilities> {
        match &self.0 {
            Version::V1(client) => client.capabilities(),
            #[cfg(feature = "v2")]
            Version::V2(client) => client.capabilities(),
        }
    }

    /// Returns the name and version of the client, if it sent them.
    pub fn info(&self) -> Option<&Implementation> {
        match &self.0 {
            Version::V1(client) => client.info(),
            #[cfg(feature = "v2")]
            Version::V2(client) => client.client().info(),
        }
    }

    /// Returns the handle of version 1, if the connection speaks version 1.
    pub fn v1(&self) -> Option<&agentwire_acp_agent::RemoteClient> {
        match &self.0 {
            Version::V1(client) => Some(client),
            #[cfg(feature = "v2")]
            Version::V2(_) => None,
        }
    }

    /// Returns the handle of version 2, if the connection speaks version 2.
    #[cfg(feature = "v2")]
    pub fn v2(&self) -> Option<&agentwire_acp_agent::v2::RemoteClient> {
        match &self.0 {
            Version::V1(_) => None,
            Version::V2(client) => Some(client.client()),
        }
    }

    /// Sends an extension request. Its name begins with `_`; any other is refused without being sent.
    pub fn extension_request<P, R>(&self, method: &str, params: &P) -> Call<R>
    where
        P: Serialize + ?Sized,
        R: DeserializeOwned + Send + 'static,
    {
        match &self.0 {
            Version::V1(client) => client.extension_request(method, params),
            #[cfg(feature = "v2")]
            Version::V2(client) => client.client().extension_request(method, params),
        }
    }

    /// Sends an extension notification. Its name begins with `_`; any other is refused without being sent.
    pub fn extension_notification<P: Serialize + ?Sized>(&self, method: &str, params: &P) -> Notify<'_> {
        match &self.0 {
            Version::V1(client) => client.extension_notification(method, params),
            #[cfg(feature = "v2")]
            Version::V2(client) => client.client().extension_notification(method, params),
        }
    }

    /// Returns whether the connection is closed.
    pub fn is_closed(&self) -> bool {
        match &self.0 {
            Version::V1(client) => client.is_closed(),
            #[cfg(feature = "v2")]
            Version::V2(client) => client.client().is_closed(),
        }
    }

    /// Checks an update as [`send_update`](Self::send_update) does, without sending it.
    ///
    /// # Errors
    ///
    /// [`CallError::NotAllowed`] if the client did not advertise support for it, or it breaks a rule of the protocol.
    pub(crate) fn check_update(&self, update: &SessionUpdate) -> Result<(), CallError> {
        match &self.0 {
            Version::V1(client) => client.check_update(update),
            #[cfg(feature = "v2")]
            Version::V2(client) => client.check_update(update),
        }
    }

    /// Sends an update in the client's version. Sends nothing if that version has no such update.
    ///
    /// # Errors
    ///
    /// When the connection is closed, or [`check_update`](Self::check_update) fails.
    pub(crate) async fn send_update(
        &self,
        session: &SessionId,
        update: SessionUpdate,
    ) -> Result<(), CallError> {
        match &self.0 {
            Version::V1(client) => match v1::update::to_v1(update) {
                Some(update) => client.session_update(SessionNotification::new(session, update)).await,
                None => Ok(()),
            },
            #[cfg(feature = "v2")]
            Version::V2(client) => client.send_update(session, update).await,
        }
    }

    /// Asks the user about a tool call.
    ///
    /// # Errors
    ///
    /// When the request fails.
    pub(crate) async fn request_permission(
        &self,
        session: &SessionId,
        call: ToolCallUpdate,
        options: Vec<PermissionOption>,
    ) -> Result<RequestPermissionOutcome, CallError> {
        match &self.0 {
            Version::V1(client) => {
                let request = RequestPermissionRequest::new(session, call, options);
                Ok(client.request_permission(request).await?.outcome)
            }
            #[cfg(feature = "v2")]
            Version::V2(client) => client.request_permission(session, call, options).await,
        }
    }

    /// Asks the user for input.
    ///
    /// # Errors
    ///
    /// When the client did not advertise the mode, or the request fails.
    pub(crate) async fn create_elicitation(
        &self,
        request: CreateElicitationRequest,
    ) -> Result<CreateElicitationResponse, CallError> {
        match &self.0 {
            Version::V1(client) => client.create_elicitation(request).await,
            #[cfg(feature = "v2")]
            Version::V2(client) => client.create_elicitation(&request).await,
        }
    }
}

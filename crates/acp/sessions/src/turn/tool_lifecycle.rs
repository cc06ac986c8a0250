//! A tool call as the client sees it, from its announcement to its end: of a tool of an MCP server, or of the agent's own.

use agentwire_jsonrpc::WithCauses;
use std::fmt;
use std::sync::Arc;

use agentwire_acp_schema::v1::{
    Content, ToolCall, ToolCallId, ToolCallLocation, ToolCallStatus, ToolCallUpdate,
};

use super::announced::description;
use super::permission::PermissionSubject;
use super::tool_content::ToolContent;
use super::{Turn, TurnError};
use crate::update::call_status::CANCELLED;

/// A handle of a running tool call, which shows its progress to the client. Cloning is cheap. See [`ToolRun::run`](crate::ToolRun::run).
#[derive(Clone)]
pub struct RunningToolCall {
    turn: Turn,
    id: ToolCallId,
    /// The description of the call for its permission request. It is not looked up by the id, which another call may have.
    announced: Arc<ToolCallUpdate>,
}

impl RunningToolCall {
    /// Announces a call. A call with an empty id gets a new id.
    pub(super) async fn announce(turn: &Turn, mut call: ToolCall) -> Result<Self, TurnError> {
        if call.tool_call_id.is_empty() {
            call.tool_call_id = turn.new_tool_call_id();
        }
        let (id, announced) = (call.tool_call_id.clone(), Arc::new(description(&call)));
        turn.update(call).await?;
        Ok(Self { turn: turn.clone(), id, announced })
    }

    /// If `subject` is set, asks the user for permission. Then shows that the call runs. `tool` is its name in the error.
    pub(super) async fn begin(
        &self,
        subject: Option<PermissionSubject<'_>>,
        tool: &str,
    ) -> Result<(), TurnError> {
        if let Some(subject) = subject
            && !self.turn.permits_tool(&subject, (*self.announced).clone()).await?
        {
            return Err(TurnError::not_permitted(tool));
        }
        self.turn.update(self.change().status(ToolCallStatus::InProgress)).await
    }

    /// Shows the outcome of the call. `show` adds the result to the update.
    pub(super) async fn end<T>(
        self,
        outcome: Result<T, TurnError>,
        show: impl FnOnce(&T, ToolCallUpdate) -> ToolCallUpdate,
    ) -> Result<T, TurnError> {
        let unsuccessful = |status, why: &str| self.change().status(status).content([Content::from(why)]);
        let ended = match &outcome {
            Ok(result) => show(result, self.change()),
            // No update can be written after such an error.
            Err(TurnError::Ended | TurnError::Store(_)) => return outcome,
            Err(TurnError::Cancelled) => unsuccessful(ToolCallStatus::Other(CANCELLED.into()), CANCELLED),
            Err(TurnError::Failed(error)) => unsuccessful(ToolCallStatus::Failed, &error.to_string()),
            Err(error) => unsuccessful(ToolCallStatus::Failed, &WithCauses::new(error).to_string()),
        };
        // Shortened rather than refused, because the client must see that the call has ended.
        self.turn.update_shortened(ended).await?;
        outcome
    }

    /// Returns the id of the call.
    pub fn id(&self) -> &ToolCallId {
        &self.id
    }

    /// Shows progress or a part of the result. It replaces the content so far, and is shortened where it is over
    /// [the limit](crate::SessionAgent::update_limit).
    ///
    /// # Errors
    ///
    /// As [`Turn::update_shortened`].
    pub async fn show(&self, content: impl ToolContent) -> Result<(), TurnError> {
        let mut update = self.change();
        update.content = content.content();
        self.turn.update_shortened(update).await
    }

    /// Sets the title.
    ///
    /// # Errors
    ///
    /// As [`Turn::update`].
    pub async fn title(&self, title: impl Into<String>) -> Result<(), TurnError> {
        self.turn.update(self.change().title(title)).await
    }

    /// Sets the files that the call reads or changes, so that an editor can follow.
    ///
    /// # Errors
    ///
    /// As [`Turn::update`].
    pub async fn locations(
        &self,
        locations: impl IntoIterator<Item = ToolCallLocation>,
    ) -> Result<(), TurnError> {
        let mut update = self.change();
        update.locations = Some(locations.into_iter().collect());
        self.turn.update(update).await
    }

    fn change(&self) -> ToolCallUpdate {
        ToolCallUpdate::new(self.id.clone())
    }
}

impl fmt::Debug for RunningToolCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunningToolCall").field("id", &self.id).finish_non_exhaustive()
    }
}

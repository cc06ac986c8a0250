//! The updates of a turn.

use agentwire_acp_schema::v1::{
    ContentBlock, ContentChunk, MessageId, Patch, Plan, PlanEntry, SessionConfigOptionValue,
    SessionInfoUpdate, SessionModeId, SessionUpdate, UsageUpdate,
};

use super::announced::CallChange;
use super::{Turn, TurnError};
use crate::log::{Change, ChosenBy, Update};

impl Turn {
    /// Sends a chunk of the answer. Consecutive chunks are one message; a thought or a tool call in between begins another.
    ///
    /// Completes when the chunk is written to the store and queued for the client. Waits while 64 updates wait for the store.
    ///
    /// # Errors
    ///
    /// [`TurnError::Ended`]; [`TurnError::Store`] or [`TurnError::Call`] when it could not be written or sent;
    /// [`TurnError::TooLong`] when it is over [the limit](crate::SessionAgent::update_limit).
    pub async fn say(&self, content: impl Into<ContentBlock>) -> Result<(), TurnError> {
        self.update(SessionUpdate::AgentMessageChunk(ContentChunk::new(content))).await
    }

    /// Sends a chunk of the model's thoughts.
    ///
    /// # Errors
    ///
    /// As [`say`](Self::say).
    pub async fn think(&self, content: impl Into<ContentBlock>) -> Result<(), TurnError> {
        self.update(SessionUpdate::AgentThoughtChunk(ContentChunk::new(content))).await
    }

    /// Sends the plan. It replaces the previous plan as a whole.
    ///
    /// # Errors
    ///
    /// As [`say`](Self::say).
    ///
    /// # Examples
    ///
    /// ```
    /// # use agentwire_acp_sessions::{Turn, TurnError};
    /// use agentwire_acp_sessions::schema::{PlanEntry, PlanEntryPriority, PlanEntryStatus};
    ///
    /// # async fn plan(turn: &Turn) -> Result<(), TurnError> {
    /// let task = |content: &str, status| PlanEntry::new(content, PlanEntryPriority::Medium, status);
    /// turn.plan([
    ///     task("Find the cause", PlanEntryStatus::InProgress),
    ///     task("Fix it", PlanEntryStatus::Pending),
    /// ])
    /// .await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn plan(&self, entries: impl IntoIterator<Item = PlanEntry>) -> Result<(), TurnError> {
        self.update(Plan::new(entries.into_iter().collect::<Vec<_>>())).await
    }

    /// Sets the title of the session, or removes it with `None`. `session/list` shows it.
    ///
    /// # Errors
    ///
    /// As [`say`](Self::say).
    pub async fn title(&self, title: impl Into<Option<String>>) -> Result<(), TurnError> {
        let mut info = SessionInfoUpdate::new();
        info.title = title.into().map_or(Patch::Clear, Patch::Set);
        self.update(info).await
    }

    /// Sends how much of the context is used, and what the session has cost so far.
    ///
    /// # Errors
    ///
    /// As [`say`](Self::say).
    pub async fn usage(&self, usage: UsageUpdate) -> Result<(), TurnError> {
        self.update(usage).await
    }

    /// Changes the mode of the session.
    ///
    /// # Errors
    ///
    /// As [`say`](Self::say); [`TurnError::Call`] where there is no such mode.
    pub async fn set_mode(&self, mode: impl Into<SessionModeId>) -> Result<(), TurnError> {
        self.write(Change::Mode { mode: mode.into(), by: ChosenBy::Agent }).await
    }

    /// Sets the value of an option.
    ///
    /// # Errors
    ///
    /// As [`say`](Self::say); [`TurnError::Call`] where there is no such option or value.
    pub async fn set_option(
        &self,
        id: &str,
        value: impl Into<SessionConfigOptionValue>,
    ) -> Result<(), TurnError> {
        self.write(Change::Option { id: id.into(), value: value.into(), by: ChosenBy::Agent }).await
    }

    /// Sends any other update. A message chunk without an id gets one. The mode and the option that shows it change
    /// together.
    ///
    /// # Errors
    ///
    /// As [`say`](Self::say); [`TurnError::Call`] where the client did not advertise support for such an update, where the
    /// update breaks a rule, such as with a path that is not absolute, and where there is no such mode.
    pub async fn update(&self, update: impl Into<SessionUpdate>) -> Result<(), TurnError> {
        self.write_update(Update::broadcast(self.prepare(update.into())?)).await
    }

    /// Sends an update as [`update`](Self::update) does. One over [the limit](crate::SessionAgent::update_limit) is
    /// shortened: the output of a tool call, or the text of a message, to its beginning and a line with its original
    /// length.
    ///
    /// # Errors
    ///
    /// As [`update`](Self::update); [`TurnError::TooLong`] for an update that has no shorter form.
    pub async fn update_shortened(&self, update: impl Into<SessionUpdate>) -> Result<(), TurnError> {
        self.write_update(Update::broadcast(self.prepare(update.into())?).shortened()).await
    }

    /// Writes the prompt to the store and returns the id of its message. Does not send it, because the client has it.
    pub(super) async fn write_prompt(&self) -> Result<MessageId, TurnError> {
        let id = self.next_message_id();
        let chunk = |block: &ContentBlock| {
            let mut update =
                SessionUpdate::UserMessageChunk(ContentChunk::new(block.clone()).message_id(id.clone()));
            self.set_message_id(&mut update);
            Update::record(update)
        };
        self.write(Change::Prompt(self.prompt().iter().map(chunk).collect())).await?;
        Ok(id)
    }

    async fn write_update(&self, update: Update) -> Result<(), TurnError> {
        let change = CallChange::of(update.session_update());
        self.write(Change::Update(update)).await?;
        if let Some(change) = change {
            self.0.calls.lock().apply(change);
        }
        Ok(())
    }

    async fn write(&self, change: Change) -> Result<(), TurnError> {
        Ok(self.0.session.log.write(self.0.number, change).await?)
    }

    /// Checks that the client supports an update, and sets the id of its message.
    fn prepare(&self, mut update: SessionUpdate) -> Result<SessionUpdate, TurnError> {
        self.client().check_update(&update)?;
        self.set_message_id(&mut update);
        Ok(update)
    }

    /// Sets the id of a chunk to that of its message.
    fn set_message_id(&self, update: &mut SessionUpdate) {
        self.0.messages.lock().assign(update, || self.next_message_id());
    }

    fn next_message_id(&self) -> MessageId {
        MessageId::from(self.0.session.next_id("message"))
    }
}

//! What a turn says.

use agentwire_acp_agent::CallError;
use agentwire_acp_schema::v1::{
    ContentBlock, ContentChunk, MessageId, Patch, Plan, PlanEntry, SessionConfigOptionValue,
    SessionInfoUpdate, SessionModeId, SessionUpdate, UsageUpdate,
};

use super::{Turn, TurnError};
use crate::facts::{Facts, Said};

/// Whose message a piece belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaker {
    User,
    Agent,
    Thought,
}

impl Turn {
    /// Says a piece of the answer. Pieces that follow one another are one message; a thought or a tool call in between
    /// begins another.
    ///
    /// Awaiting it waits until the piece is kept, and while the client has much still to read.
    ///
    /// # Errors
    ///
    /// [`TurnError::Over`]; [`TurnError::Store`], [`TurnError::Call`] when it could not be kept or sent;
    /// [`TurnError::TooLong`] when it is over [the limit](crate::SessionAgent::update_limit).
    pub async fn say(&self, content: impl Into<ContentBlock>) -> Result<(), TurnError> {
        self.update(SessionUpdate::AgentMessageChunk(ContentChunk::new(content))).await
    }

    /// Says a piece of what the model thinks.
    ///
    /// # Errors
    ///
    /// As [`say`](Self::say).
    pub async fn think(&self, content: impl Into<ContentBlock>) -> Result<(), TurnError> {
        self.update(SessionUpdate::AgentThoughtChunk(ContentChunk::new(content))).await
    }

    /// Tells the plan, all of it: it replaces the one before.
    ///
    /// # Errors
    ///
    /// As [`say`](Self::say).
    pub async fn plan(&self, entries: impl IntoIterator<Item = PlanEntry>) -> Result<(), TurnError> {
        self.update(Plan::new(entries.into_iter().collect::<Vec<_>>())).await
    }

    /// Calls the session something, or with `None` nothing any more. Lists show it.
    ///
    /// # Errors
    ///
    /// As [`say`](Self::say).
    pub async fn title(&self, title: impl Into<Option<String>>) -> Result<(), TurnError> {
        let mut info = SessionInfoUpdate::new();
        info.title = title.into().map_or(Patch::Clear, Patch::Set);
        self.update(info).await
    }

    /// Tells how full the context is, and what the session has cost so far.
    ///
    /// # Errors
    ///
    /// As [`say`](Self::say).
    pub async fn usage(&self, usage: UsageUpdate) -> Result<(), TurnError> {
        self.update(usage).await
    }

    /// Changes the session's mode, and tells the client.
    ///
    /// # Errors
    ///
    /// As [`say`](Self::say); [`TurnError::Call`] where there is no such mode.
    pub async fn set_mode(&self, mode: impl Into<SessionModeId>) -> Result<(), TurnError> {
        let mode = mode.into();
        self.tell(|facts| {
            let (mode, shows) = facts.choose_mode(&mode).map_err(|why| not_allowed(why.message))?;
            Ok([mode].into_iter().chain(shows).map(Said::aloud).collect())
        })
        .await
    }

    /// Gives an option another value, and tells the client.
    ///
    /// # Errors
    ///
    /// As [`say`](Self::say); [`TurnError::Call`] where there is no such option or value.
    pub async fn set_option(
        &self,
        id: &str,
        value: impl Into<SessionConfigOptionValue>,
    ) -> Result<(), TurnError> {
        let value = value.into();
        self.tell(|facts| {
            let chosen = facts.choose_option(&id.into(), &value);
            let (options, mode) = chosen.map_err(|why| not_allowed(why.message))?;
            Ok([options].into_iter().chain(mode).map(Said::aloud).collect())
        })
        .await
    }

    /// Says anything else that happens: any update there is. A message without an id is given one; the mode and the
    /// option that shows it change together.
    ///
    /// # Errors
    ///
    /// As [`say`](Self::say); [`TurnError::Call`] where the client did not say that it takes such an update, where the
    /// update breaks a rule, such as with a path that is not absolute, and where there is no such mode.
    pub async fn update(&self, update: impl Into<SessionUpdate>) -> Result<(), TurnError> {
        self.say_update(update.into(), false).await
    }

    async fn say_update(&self, mut update: SessionUpdate, shorten: bool) -> Result<(), TurnError> {
        self.client().check_update(&update)?;
        self.name_message(&mut update);
        self.tell(|facts| {
            let follows = facts.follows(&update).map_err(|why| not_allowed(why.message))?;
            let said = Said { update, aloud: true, shorten };
            Ok([said].into_iter().chain(follows.map(Said::aloud)).collect())
        })
        .await
    }

    /// As [`update`](Self::update), but an update over [the limit](crate::SessionAgent::update_limit) is shortened: what a
    /// tool call has produced, or the text of a message, to its beginning and a line that tells how long it was.
    ///
    /// # Errors
    ///
    /// As [`update`](Self::update); [`TurnError::TooLong`] for an update that has no shorter form.
    pub async fn update_shortened(&self, update: impl Into<SessionUpdate>) -> Result<(), TurnError> {
        self.say_update(update.into(), true).await
    }

    /// Keeps the prompt. The client knows it, so it is not told.
    pub(super) async fn keep_prompt(&self) -> Result<(), TurnError> {
        let chunk = |block: &ContentBlock| {
            let mut update = SessionUpdate::UserMessageChunk(ContentChunk::new(block.clone()));
            self.name_message(&mut update);
            Said::silently(update)
        };
        let said = self.prompt().iter().map(chunk).collect();
        self.tell(|_| Ok(said)).await
    }

    async fn tell(
        &self,
        change: impl FnOnce(&Facts) -> Result<Vec<Said>, TurnError>,
    ) -> Result<(), TurnError> {
        self.0.session.outbox.say(Some(self.0.number), self.client(), change).await
    }

    /// Gives a piece the id of the message that it belongs to.
    fn name_message(&self, update: &mut SessionUpdate) {
        let mut speaking = self.0.speaking.lock();
        let (speaker, chunk) = match update {
            SessionUpdate::UserMessageChunk(chunk) => (Speaker::User, chunk),
            SessionUpdate::AgentMessageChunk(chunk) => (Speaker::Agent, chunk),
            SessionUpdate::AgentThoughtChunk(chunk) => (Speaker::Thought, chunk),
            SessionUpdate::ToolCall(_) => return *speaking = None,
            _ => return,
        };
        let id = match (&chunk.message_id, &*speaking) {
            (Some(id), _) => id.clone(),
            (None, Some((before, id))) if *before == speaker => id.clone(),
            _ => MessageId::from(self.0.session.next_id("message")),
        };
        chunk.message_id = Some(id.clone());
        *speaking = Some((speaker, id));
    }
}

fn not_allowed(why: impl Into<std::borrow::Cow<'static, str>>) -> TurnError {
    CallError::not_allowed("session/update", why).into()
}

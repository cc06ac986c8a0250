//! A turn of a host's session: sends the prompt, and reads the updates and the stop reason.

use std::fmt;
use std::time::Duration;

use agentwire_acp_client::{Turn, TurnEvent};
use agentwire_acp_schema::v1::{PromptRequest, SessionId, SessionUpdate, StopReason};
use agentwire_wire_derive::Build;

use super::agent::HostAgent;
use super::error::HostError;
use crate::toolkit::ConversationTurn;
use crate::{Unattended, UserInterface};

/// The default limit of the unread updates of a turn, and of the text of its answer: 64 MiB.
const BYTES: usize = 64 << 20;

/// A turn of a session: its updates, then the stop reason.
///
/// Read it in one of three ways: [`next_text`](Self::next_text) or [`next`](Self::next) in a loop,
/// [`on_update`](Self::on_update), or [`text`](Self::text) for the whole answer. Dropping it cancels the turn.
///
/// ```no_run
/// # use agentwire_acp_client::BoxError;
/// # use agentwire_acp_schema::v1::SessionUpdate;
/// # use agentwire_acp_toolkit::HostSession;
/// # async fn run(session: HostSession) -> Result<(), BoxError> {
/// let minute = std::time::Duration::from_secs(60);
/// let show = |update| if let SessionUpdate::ToolCall(call) = update { println!("{:?}", call.title) };
/// let stop_reason = session.prompt("Fix the bug").timeout(minute).on_update(show).await?;
/// println!("{stop_reason}");
/// # Ok(())
/// # }
/// ```
#[must_use = "a prompt is not sent until its turn is read"]
#[derive(Build)]
pub struct HostTurn<U: UserInterface = Unattended> {
    agent: HostAgent<U>,
    state: TurnState<U>,
    /// Sets the time limit of the turn, from the sending of the prompt (default: none). Then the turn is cancelled and fails.
    timeout: Option<Duration>,
    /// Sets the limit of unread updates (default 65,536). Over the limit the turn is cancelled and fails.
    #[build(name = limit)]
    updates_limit: Option<usize>,
    /// Sets the limit of unread updates in bytes, and of the answer of [`text`](Self::text) (default 64 MiB each). Over the
    /// limit the turn is cancelled and fails.
    byte_limit: usize,
}

enum TurnState<U: UserInterface> {
    Unsent(PromptRequest),
    // The turn at the agent is dropped, and so cancelled, before the turn of the conversation ends.
    Running(Box<(Turn, ConversationTurn<U>)>),
    Ended(Option<StopReason>),
}

impl<U: UserInterface + 'static> HostTurn<U> {
    pub(super) fn new(agent: HostAgent<U>, request: PromptRequest) -> Self {
        let state = TurnState::Unsent(request);
        Self { agent, state, timeout: None, updates_limit: None, byte_limit: BYTES }
    }

    /// Returns the next update, or `None` after the end. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Result<SessionUpdate, HostError>> {
        loop {
            let running = match &mut self.state {
                TurnState::Ended(_) => return None,
                TurnState::Running(running) => running,
                TurnState::Unsent(request) => {
                    let session = request.session_id.clone();
                    if let Err(error) = self.send(&session).await {
                        self.state = TurnState::Ended(None);
                        return Some(Err(error));
                    }
                    continue;
                }
            };
            match running.0.next().await {
                Some(Ok(TurnEvent::Update(update))) => return Some(Ok(update)),
                Some(Ok(TurnEvent::Stopped(answer))) => {
                    running.1.stop_reason = answer.stop_reason.clone();
                    self.state = TurnState::Ended(Some(answer.stop_reason));
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => {
                    self.state = TurnState::Ended(None);
                    return Some(Err(error.into()));
                }
                None => self.state = TurnState::Ended(None),
            }
        }
    }

    /// Waits for the connection and sends the prompt.
    async fn send(&mut self, session: &SessionId) -> Result<(), HostError> {
        let agent = self.agent.link.connected_to(session).await?;
        let TurnState::Unsent(request) = std::mem::replace(&mut self.state, TurnState::Ended(None)) else {
            return Ok(());
        };
        let shown = self.agent.toolkit.begin_turn(session, || request.prompt.clone());
        let mut call = agent.prompt(request);
        if let Some(timeout) = self.timeout {
            call = call.timeout(timeout);
        }
        let mut turn = call.updates().byte_limit(self.byte_limit);
        if let Some(updates) = self.updates_limit {
            turn = turn.limit(updates);
        }
        self.state = TurnState::Running(Box::new((turn, shown)));
        Ok(())
    }

    /// Returns the next text of the agent's message, or `None` after the end. Skips all other updates.
    ///
    /// # Errors
    ///
    /// Those of the turn. No text follows.
    pub async fn next_text(&mut self) -> Result<Option<String>, HostError> {
        while let Some(update) = self.next().await {
            if let SessionUpdate::AgentMessageChunk(chunk) = update?
                && let Some(text) = chunk.content.as_text()
            {
                return Ok(Some(text.to_owned()));
            }
        }
        Ok(None)
    }

    /// Reads the turn to its end. Returns the text of the agent's message.
    ///
    /// # Errors
    ///
    /// Those of the turn, and [`HostError::TextTooLong`].
    pub async fn text(mut self) -> Result<String, HostError> {
        let mut whole = String::new();
        while let Some(text) = self.next_text().await? {
            if text.len() > self.byte_limit - whole.len() {
                return Err(HostError::TextTooLong(self.byte_limit));
            }
            whole.push_str(&text);
        }
        Ok(whole)
    }

    /// Reads the turn to its end, and calls `function` with each update. Returns the stop reason.
    ///
    /// # Errors
    ///
    /// Those of the turn.
    pub async fn on_update(
        mut self,
        mut function: impl FnMut(SessionUpdate),
    ) -> Result<StopReason, HostError> {
        while let Some(update) = self.next().await {
            function(update?);
        }
        // A stream that ends without an error ends with a stop reason.
        Ok(self.stop_reason().unwrap_or(StopReason::EndTurn))
    }

    /// Returns the stop reason. `None` before the end of the turn, and if it failed.
    pub fn stop_reason(&self) -> Option<StopReason> {
        match &self.state {
            TurnState::Ended(stop_reason) => stop_reason.clone(),
            _ => None,
        }
    }
}

impl<U: UserInterface> fmt::Debug for HostTurn<U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match &self.state {
            TurnState::Unsent(_) => "unsent",
            TurnState::Running(_) => "running",
            TurnState::Ended(_) => "ended",
        };
        f.debug_struct("HostTurn").field("state", &state).finish_non_exhaustive()
    }
}

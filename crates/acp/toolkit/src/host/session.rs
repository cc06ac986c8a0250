//! An open session of a host, which survives restarts of the agent.

use std::fmt;

use agentwire_acp_schema::v1::{
    CancelNotification, CloseSessionRequest, ContentBlock, PromptRequest, SessionId,
};

use super::agent::HostAgent;
use super::error::HostError;
use super::turn::HostTurn;
use crate::{Conversation, Unattended, UserInterface};

/// An open session of a [`Host`](crate::Host).
///
/// It outlives its agent: after a restart it is opened again, and waiting prompts are sent. Dropping it does not close the
/// session; [`close`](Self::close) does.
pub struct HostSession<U = Unattended> {
    agent: HostAgent<U>,
    id: SessionId,
}

impl<U: UserInterface + 'static> HostSession<U> {
    pub(super) fn new(agent: HostAgent<U>, id: SessionId) -> Self {
        Self { agent, id }
    }

    /// Returns its id, by which it can be loaded later.
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// Begins a turn. The prompt is sent when the turn is first polled. Dropping the turn cancels it.
    ///
    /// [`prompt_blocks`](Self::prompt_blocks) takes other content than text:
    ///
    /// ```no_run
    /// # use agentwire_acp_client::BoxError;
    /// # use agentwire_acp_schema::v1::{ContentBlock, ResourceLink};
    /// # use agentwire_acp_toolkit::HostSession;
    /// # async fn run(session: HostSession) -> Result<(), BoxError> {
    /// let log = ResourceLink::new("build.log", "file:///repo/build.log");
    /// let blocks = [ContentBlock::from("Why does the build fail?"), ContentBlock::from(log)];
    /// let answer = session.prompt_blocks(blocks).text().await?;
    /// # let _ = answer;
    /// # Ok(())
    /// # }
    /// ```
    pub fn prompt(&self, text: impl Into<String>) -> HostTurn<U> {
        self.prompt_blocks([ContentBlock::from(text.into())])
    }

    /// Begins a turn with content blocks.
    pub fn prompt_blocks(&self, blocks: impl IntoIterator<Item = ContentBlock>) -> HostTurn<U> {
        let blocks: Vec<_> = blocks.into_iter().collect();
        HostTurn::new(self.agent.clone(), PromptRequest::new(&self.id, blocks))
    }

    /// `session/cancel`: cancels the turn. Read the turn to its end; its stop reason is `cancelled`.
    ///
    /// While the agent restarts, this waits. A prompt that waits for the restart too is still sent; drop its turn to prevent
    /// that.
    ///
    /// # Errors
    ///
    /// Those of the connection.
    pub async fn cancel(&self) -> Result<(), HostError> {
        let agent = self.agent.link.connected_to(&self.id).await?;
        Ok(agent.cancel(CancelNotification::new(&self.id)).await?)
    }

    /// Calls `look` with the conversation. `None` if the session is closed. `look` must not call the toolkit.
    pub fn conversation<R>(&self, look: impl FnOnce(&mut Conversation) -> R) -> Option<R> {
        self.agent.toolkit.conversation(&self.id, look)
    }

    /// Closes the session with its terminals and its conversation, and sends `session/close` if the agent has it. The session
    /// is not opened again after a restart.
    ///
    /// # Errors
    ///
    /// Those of the connection and of `session/close`. The session is closed in this program anyway.
    pub async fn close(self) -> Result<(), HostError> {
        let Self { agent: host, id } = self;
        let agent = host.link.connected_to(&id).await;
        host.link.closed(&id);
        host.toolkit.close(&id).await;
        let agent = agent?;
        let can = agent.capabilities().is_some_and(|agent| agent.session_capabilities.close.is_some());
        if can {
            agent.close_session(CloseSessionRequest::new(&id)).timeout(host.settings.timeout).await?;
        }
        Ok(())
    }
}

impl<U> fmt::Debug for HostSession<U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostSession").field("id", &self.id).finish_non_exhaustive()
    }
}

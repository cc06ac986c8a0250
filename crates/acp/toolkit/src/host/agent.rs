//! The agent of a host, as the main function sees it.

use std::fmt;
use std::sync::Arc;

use agentwire_acp_client::AgentHandle;

use super::error::HostError;
use super::link::Link;
use super::settings::Settings;
use crate::{Toolkit, Unattended, UserInterface};

/// The agent of a [`Host`](crate::Host), which opens sessions, also after a restart. Clones are handles on the same agent.
///
/// ```no_run
/// # use agentwire_acp_client::BoxError;
/// # use agentwire_acp_schema::v1::ListSessionsRequest;
/// # use agentwire_acp_toolkit::HostAgent;
/// # async fn run(agent: HostAgent) -> Result<(), BoxError> {
/// let session = agent.session("/repo").await?;
/// println!("{}", session.prompt("What is this repository about?").text().await?);
/// // The handle has a call for each method of the protocol.
/// let mut stored = agent.handle().await?.sessions(ListSessionsRequest::new());
/// # let _ = stored.try_next().await?;
/// # Ok(())
/// # }
/// ```
pub struct HostAgent<U = Unattended> {
    pub(super) toolkit: Toolkit<U>,
    pub(super) settings: Arc<Settings>,
    pub(super) link: Arc<Link>,
}

impl<U: UserInterface + 'static> HostAgent<U> {
    /// Returns the handle of the connection, for calls that a session does not have. Waits while the agent is started again.
    ///
    /// The handle belongs to one connection: ask for it again after a restart.
    ///
    /// # Errors
    ///
    /// [`HostError::Ended`], if the agent has ended and is not started again.
    pub async fn handle(&self) -> Result<AgentHandle, HostError> {
        self.link.connected().await
    }

    /// Returns how many times the agent was started again.
    pub fn restarts(&self) -> u32 {
        self.link.connections().saturating_sub(1)
    }

    /// Returns the toolkit, which has the conversations, the workspaces and the permissions.
    pub fn toolkit(&self) -> &Toolkit<U> {
        &self.toolkit
    }
}

impl<U> Clone for HostAgent<U> {
    fn clone(&self) -> Self {
        let Self { toolkit, settings, link } = self;
        Self { toolkit: toolkit.clone(), settings: settings.clone(), link: link.clone() }
    }
}

impl<U> fmt::Debug for HostAgent<U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostAgent").field("settings", &self.settings).finish_non_exhaustive()
    }
}

//! The agent's sessions: which there are, and which is taken up.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agentwire_acp_client::{Agent, BoxError};
use agentwire_acp_schema::v1::{
    DeleteSessionRequest, ListSessionsRequest, LoadSessionRequest, LoadSessionResponse, McpServer,
    NewSessionRequest, NewSessionResponse, ResumeSessionRequest, ResumeSessionResponse, SessionId,
    SessionInfo,
};

use super::client::Hands;
use super::explain;
use crate::chat::view::View;
use crate::chat::{Which, check_id, is_same_place};

/// An agent, and how long it may take for an answer.
pub(super) struct Sessions<'a> {
    pub(super) agent: &'a Agent,
    pub(super) view: &'a View,
    pub(super) limit: Duration,
}

impl Sessions<'_> {
    /// Shows the sessions, those of a directory if one is given, as they come: there may be more than fit in memory.
    pub(super) async fn list(&self, cwd: Option<&Path>) -> Result<(), BoxError> {
        let mut any = false;
        self.each(cwd, |session| {
            any = true;
            let session = Arc::new(session);
            self.view.large_fact("sessionInfo", &session)?;
            let SessionInfo { session_id, cwd, title, updated_at, .. } = &*session;
            let (title, updated) = (title.as_deref().unwrap_or("-"), updated_at.as_deref().unwrap_or("-"));
            self.view.session(session_id, updated, &cwd.display(), title)
        })
        .await?;
        if any { Ok(()) } else { Ok(self.view.remark("There are no sessions.")?) }
    }

    /// Makes the agent forget a session.
    pub(super) async fn delete(&self, session: &str) -> Result<(), BoxError> {
        let request = DeleteSessionRequest::new(session);
        let deleted = self.agent.delete_session(request).timeout(self.limit).await;
        deleted.map_err(|error| explain(error, self.agent))?;
        self.view.fact("deleted", &session)?;
        Ok(self.view.remark(&format!("deleted {session}"))?)
    }

    /// Begins a session, or takes one up.
    pub(super) async fn open(
        &self,
        hands: &Hands,
        which: &Which,
        cwd: &Path,
        servers: Vec<McpServer>,
    ) -> Result<SessionId, BoxError> {
        let session_id = match which {
            Which::New => {
                let request = NewSessionRequest::new(cwd).mcp_servers(servers);
                let call = hands.begins(self.agent.new_session(request.clone()), request);
                let opened = call.timeout(self.limit).await.map_err(|error| explain(error, self.agent))?;
                check_id(&opened.session_id)?;
                opened.session_id
            }
            Which::Newest => self.take_up(hands, self.newest(cwd).await?, cwd, servers).await?,
            Which::Session(id) => self.take_up(hands, id.as_str().into(), cwd, servers).await?,
        };
        hands.set_up()?;
        Ok(session_id)
    }

    /// Takes up a session: all of it comes again where the agent can do that.
    async fn take_up(
        &self,
        hands: &Hands,
        id: SessionId,
        cwd: &Path,
        servers: Vec<McpServer>,
    ) -> Result<SessionId, BoxError> {
        let (agent, capabilities) = (self.agent, self.agent.capabilities());
        let can_load = capabilities.is_some_and(|agent| agent.load_session);
        let can_resume = capabilities.is_some_and(|agent| agent.session_capabilities.resume.is_some());
        let mut opened = NewSessionResponse::new(&id);
        if can_load {
            let request = LoadSessionRequest::new(&id, cwd).mcp_servers(servers);
            hands.open(&id, &request);
            let call = hands.takes_up(agent.load_session(request), |loaded| {
                (opened.modes, opened.config_options) = (loaded.modes, loaded.config_options);
                (opened, LoadSessionResponse::new())
            });
            call.timeout(self.limit).await.map_err(|error| explain(error, agent))?;
        } else if can_resume {
            let request = ResumeSessionRequest::new(&id, cwd).mcp_servers(servers);
            hands.open(&id, &request);
            let call = hands.takes_up(agent.resume_session(request), |resumed| {
                (opened.modes, opened.config_options) = (resumed.modes, resumed.config_options);
                (opened, ResumeSessionResponse::new())
            });
            call.timeout(self.limit).await.map_err(|error| explain(error, agent))?;
        } else {
            return Err("the agent can neither load nor resume sessions".into());
        }
        Ok(id)
    }

    /// The session of this directory in which something happened last.
    async fn newest(&self, cwd: &Path) -> Result<SessionId, BoxError> {
        let capabilities = self.agent.capabilities();
        if capabilities.is_none_or(|agent| agent.session_capabilities.list.is_none()) {
            return Err("the agent cannot list its sessions; say which one with --session".into());
        }
        let mut newest: Option<SessionInfo> = None;
        self.each(Some(cwd), |session| {
            // Times of one agent are written alike, so that the later is the greater. Without them the first counts.
            let is_newer = newest.as_ref().is_none_or(|newest| session.updated_at > newest.updated_at);
            if is_newer && is_same_place(&session.cwd, cwd) {
                newest = Some(session);
            }
            Ok(())
        })
        .await?;
        let none = || format!("there is no session of {} to go on with", cwd.display());
        Ok(newest.ok_or_else(none)?.session_id)
    }

    /// Does this with each session, in the time that the agent has for all of them.
    async fn each(
        &self,
        cwd: Option<&Path>,
        mut take: impl FnMut(SessionInfo) -> io::Result<()>,
    ) -> Result<(), BoxError> {
        let mut request = ListSessionsRequest::new();
        request.cwd = cwd.map(Path::to_owned);
        let mut sessions = self.agent.sessions(request);
        let mut left = self.limit;
        loop {
            let since = Instant::now();
            let next = tokio::time::timeout(left, sessions.try_next()).await;
            let next =
                next.map_err(|_| format!("session/list: the sessions did not come within {:?}", self.limit))?;
            let Some(session) = next.map_err(|error| explain(error, self.agent))? else { return Ok(()) };
            left = left.saturating_sub(since.elapsed());
            take(session)?;
            // Whoever reads them slowly holds up nobody but us.
            self.view.outlet().room().await;
        }
    }
}

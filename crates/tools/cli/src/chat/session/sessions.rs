//! The agent's sessions: listing, deleting and opening them.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agentwire_acp_client::{BoxError, CallError};
use agentwire_acp_schema::v1::{McpServer, SessionId};
use futures_util::TryStreamExt as _;

use crate::chat::adapter::{AgentAdapter, ListedSession as _, SessionRow};
use crate::chat::plan::SessionChoice;
use crate::failure::Usage;
use crate::terminal::View;

/// An agent's sessions. `limit` is the time limit of each operation.
pub(in crate::chat) struct Sessions<'a, A> {
    pub(in crate::chat) agent: &'a A,
    pub(in crate::chat) view: &'a View,
    pub(in crate::chat) limit: Duration,
    /// The open session, which a list marks.
    pub(in crate::chat) present: Option<&'a SessionId>,
}

impl<A: AgentAdapter> Sessions<'_, A> {
    /// Shows the sessions, or those of a directory, as they arrive: there may be more than fit in memory.
    pub(in crate::chat) async fn list(&self, cwd: Option<&Path>) -> Result<(), BoxError> {
        let mut any = false;
        self.each(cwd, |session| {
            any = true;
            let session = Arc::new(session);
            self.view.large_json("sessionInfo", &session)?;
            let SessionRow { id, cwd, title, updated_at } = session.row();
            let mark = match self.present {
                Some(present) if present == id => "* ",
                Some(_) => "  ",
                None => "",
            };
            self.view.session(mark, id, updated_at, &cwd.display(), title)
        })
        .await?;
        if any { Ok(()) } else { Ok(self.view.tell("There are no sessions.")?) }
    }

    /// Deletes a session.
    pub(in crate::chat) async fn delete(&self, session: &str) -> Result<(), BoxError> {
        if self.present.is_some_and(|present| present.as_str() == session) {
            return Err(Usage("this session is open; `:new` first".into()).into());
        }
        let deleted = self.agent.delete(session, self.limit).await;
        deleted.map_err(|error| self.agent.explain(error))?;
        self.view.json("deleted", &session)?;
        Ok(self.view.line(&format!("deleted {session}"))?)
    }

    /// Opens a new or an existing session.
    pub(in crate::chat) async fn open(
        &self,
        choice: &SessionChoice,
        cwd: &Path,
        servers: Vec<McpServer>,
    ) -> Result<SessionId, BoxError> {
        let id = match choice {
            SessionChoice::New => return self.agent.new_session(cwd, servers, self.limit).await,
            SessionChoice::Newest => self.newest(cwd).await?,
            SessionChoice::Id(id) => id.as_str().into(),
        };
        self.agent.reopen_session(id, cwd, servers, self.limit).await
    }

    /// The session of this directory that was last active.
    async fn newest(&self, cwd: &Path) -> Result<SessionId, BoxError> {
        if !self.agent.can_list() {
            return Err("the agent cannot list its sessions; say which one with --session".into());
        }
        let mut newest: Option<A::SessionInfo> = None;
        self.each(Some(cwd), |session| {
            let row = session.row();
            // An agent writes its times in one format, so the later one is the greater text. Without times, the first session counts as
            // the newest.
            let is_newer = newest.as_ref().is_none_or(|newest| row.updated_at > newest.row().updated_at);
            if is_newer && is_same_directory(row.cwd, cwd) {
                newest = Some(session);
            }
            Ok(())
        })
        .await?;
        let none = || format!("there is no session of {} to go on with", cwd.display());
        Ok(newest.as_ref().ok_or_else(none)?.row().id.clone())
    }

    /// Calls `take` with each session. The limit is for all answers together, without the time of `take`.
    async fn each(
        &self,
        cwd: Option<&Path>,
        mut take: impl FnMut(A::SessionInfo) -> io::Result<()>,
    ) -> Result<(), BoxError> {
        let mut sessions = self.agent.sessions(cwd);
        let mut left = self.limit;
        loop {
            let since = Instant::now();
            let next = tokio::time::timeout(left, sessions.try_next()).await;
            let next = next.map_err(|_| CallError::timed_out("session/list", self.limit))?;
            let Some(session) = next.map_err(|error| self.agent.explain(error))? else { return Ok(()) };
            left = left.saturating_sub(since.elapsed());
            take(session)?;
            // A full output queue pauses the listing here, outside of the time limit.
            self.view.output().room().await;
        }
    }
}

/// Whether two paths lead to the same directory. An agent may have followed the links in one.
fn is_same_directory(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    one == other || real(one).is_some_and(|one| Some(one) == real(other))
}

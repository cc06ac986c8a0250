//! The loop that supervises an agent: connects, initializes, and restores the sessions after a restart.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use agentwire_acp_client::{AgentHandle, BoxError, CallError, connect_with};
use agentwire_acp_schema::v1::{LoadSessionRequest, NewSessionRequest, SessionId};
use agentwire_jsonrpc::RequestMethod;
use agentwire_transport::Transport;
use tokio::time::{Instant, sleep};

use super::agent::HostAgent;
use super::event::{HostEvent, Restored, RestoredSession};
use super::open_session::{load, resume};
use crate::UserInterface;

/// Starts the agent, and again each time it ends, until the main function has completed or the back-off gives up.
pub(super) async fn supervise<U, T, E>(host: HostAgent<U>, mut start: impl FnMut() -> Result<T, E>)
where
    U: UserInterface + 'static,
    T: Transport,
    E: Into<BoxError>,
{
    let HostAgent { link, settings, .. } = &host;
    let mut failures = 0;
    loop {
        let mut connected_at = None;
        let outcome = match start() {
            Ok(transport) => connection(&host, transport, &mut connected_at).await,
            Err(error) => Err(error.into()),
        };
        if link.is_closing() {
            return;
        }
        let reason: Arc<dyn Error + Send + Sync> = match outcome {
            Ok(()) => return,
            Err(error) => error.into_boxed().into(),
        };
        // An agent that never answered is probably the wrong program, so it is not started again.
        let lived = connected_at.map_or(Duration::ZERO, |since: Instant| since.elapsed());
        let was_ever_connected = link.connections() > 0;
        let pause =
            was_ever_connected.then(|| settings.backoff.after_failure(&mut failures, lived)).flatten();
        match pause {
            Some(_) => link.set_connecting(),
            None => link.set_ended(reason.clone()),
        }
        host.end_turns_and_terminals();
        settings.report(HostEvent::Ended { reason, restart_after: pause });
        let Some(pause) = pause else { return };
        tokio::select! {
            () = link.closing() => return,
            () = sleep(pause) => {}
        }
    }
}

impl<U: UserInterface + 'static> HostAgent<U> {
    /// Ends the turns and the terminals of the open sessions, because the agent has ended.
    pub(super) fn end_turns_and_terminals(&self) {
        for (session, setup) in self.link.sessions() {
            self.toolkit.cut_off_turn(&session);
            self.toolkit.workspaces().open(session, &setup);
        }
    }
}

/// Runs one connection until it ends or the main function has completed.
async fn connection<U: UserInterface + 'static>(
    host: &HostAgent<U>,
    transport: impl Transport,
    connected_at: &mut Option<Instant>,
) -> Result<(), BoxError> {
    let HostAgent { link, settings, toolkit } = host;
    let connected = connect_with(toolkit.clone(), transport, settings.config.clone(), async |agent| {
        let set_up = async {
            settings.initialize(&agent, toolkit.capabilities()).await?;
            restore_sessions(host, &agent).await
        };
        let sessions = tokio::select! {
            biased;
            () = link.closing() => return Ok(()),
            sessions = set_up => sessions?,
        };
        *connected_at = Some(Instant::now());
        let restarts = link.set_connected(agent.clone());
        if restarts > 0 {
            settings.report(HostEvent::Restarted { restarts, sessions });
        }
        tokio::select! {
            biased;
            () = link.closing() => Ok(()),
            closed = agent.closed() => Err(closed.into()),
        }
    });
    Ok(connected.await?)
}

/// Opens the sessions again that were open before the restart. Fails only if the agent ends.
async fn restore_sessions<U: UserInterface + 'static>(
    host: &HostAgent<U>,
    agent: &AgentHandle,
) -> Result<Vec<RestoredSession>, CallError> {
    let mut restored = Vec::new();
    for (session_id, setup) in host.link.sessions() {
        let call = || restore(host, agent, &session_id, &setup);
        let outcome = match host.settings.authenticated(agent, call).await {
            Err(error @ CallError::Closed(_)) => return Err(error),
            outcome => outcome.map_err(Arc::new),
        };
        if let Err(why) = &outcome {
            host.link.lost(&session_id, why.clone(), host.toolkit.begin_replay(&session_id));
            host.toolkit.workspaces().close(&session_id).await;
        }
        restored.push(RestoredSession { session_id, outcome });
    }
    Ok(restored)
}

/// Opens a session again: by `session/resume` if the agent has it and accepts, or else by `session/load`.
async fn restore<U: UserInterface + 'static>(
    host: &HostAgent<U>,
    agent: &AgentHandle,
    session: &SessionId,
    setup: &NewSessionRequest,
) -> Result<Restored, CallError> {
    let HostAgent { toolkit, settings, .. } = host;
    let capabilities = agent.capabilities();
    let resumes = capabilities.is_some_and(|agent| agent.session_capabilities.resume.is_some());
    let loads = capabilities.is_some_and(|agent| agent.load_session);
    if resumes {
        let call = toolkit.resume_session(agent, resume(session, setup)).timeout(settings.timeout);
        match call.await {
            Err(CallError::Refused { .. }) if loads => {}
            outcome => return outcome.map(|_| Restored::Resumed),
        }
    }
    if !loads {
        let why = "the agent can neither resume nor load a session";
        return Err(CallError::not_allowed(LoadSessionRequest::NAME, why));
    }
    let call = toolkit.reload_session(agent, load(session, setup)).timeout(settings.timeout);
    call.await.map(|_| Restored::Loaded)
}

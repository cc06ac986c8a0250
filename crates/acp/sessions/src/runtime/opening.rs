//! Opens sessions: new ones, and those in the store.

use std::pin::pin;
use std::sync::Arc;

use agentwire_acp_agent::Error;
use agentwire_acp_schema::v1::{
    AvailableCommandsUpdate, ProtocolVersion, SessionId, SessionUpdate, ToolCallId, ToolCallStatus,
    error_code,
};
use agentwire_jsonrpc::RawJson;
use agentwire_mcp_hub::Hub;
use agentwire_peer::Cancelled;
use futures_util::TryStreamExt;
use futures_util::future::{Either, select};

use super::Runtime;
use crate::client::RemoteClient;
use crate::error::{unreadable, unwritable};
use crate::log::{UpdateLog, ended_call};
use crate::questions::responder::Responder;
use crate::questions::with_handlers;
use crate::random::random;
use crate::registry::SlotGuard;
use crate::replay::Replay;
use crate::session::Session;
use crate::settings::Settings;
use crate::setup::Setup;
use crate::state::SessionState;
use crate::store::SessionHeader;
use crate::update::shorten::shorten;
use crate::warning::Warning;

impl Runtime {
    /// Begins a session and stores it.
    ///
    /// # Errors
    ///
    /// When the store fails, or too many sessions are open.
    pub(crate) async fn create(&self, setup: Setup, client: &RemoteClient) -> Result<Arc<Session>, Error> {
        let id = SessionId::from(random::<16>()?);
        let slot = self.sessions.acquire(&id)?;
        let header = SessionHeader::new(&id, &setup.roots[0]).additional_directories(&setup.roots[1..]);
        self.claim(&slot).await?;
        let created = self.settings.store.create(&header).await;
        self.settings.warn_of_store();
        created.map_err(unwritable)?;
        let session = self.open(header, self.initial_state(client), setup, client)?;
        slot.put(session.clone());
        Ok(session)
    }

    /// Returns the state in which a session begins. Version 2 has no modes, so its clients get an option for the mode.
    fn initial_state(&self, client: &RemoteClient) -> SessionState {
        let mut state = self.settings.state.clone();
        if client.protocol_version() != ProtocolVersion::V1 {
            state.add_mode_option();
        }
        state
    }

    /// Opens a session that is in the store. Connects to its MCP servers in the background; only calls of their tools wait for
    /// that.
    fn open(
        &self,
        header: SessionHeader,
        state: SessionState,
        setup: Setup,
        client: &RemoteClient,
    ) -> Result<Arc<Session>, Error> {
        let id = header.session_id.clone();
        let responder = Responder::default();
        let samples = self.on_sampling.is_some();
        let config = with_handlers(self.settings.hub.clone(), &responder, client, &setup.roots, samples);
        let (hub, hub_driver) = Hub::with_config(config, setup.servers);
        let (store, limit) = (self.settings.store.clone(), self.settings.update_limit);
        let (log, log_driver) = UpdateLog::new(store, client.clone(), header, state, limit);
        let session = Arc::new(Session::new(id.clone(), setup.roots, hub.clone(), log, responder)?);
        self.background.run(hub_driver);
        self.background.run(log_driver);
        if self.settings.on_warning.is_some() {
            self.background.run(watch(hub, id, self.settings.clone()));
        }
        Ok(session)
    }

    /// Sends the slash commands after the answer that opens the session, because some clients wait for ever when an update
    /// arrives before the answer that has the id of its session.
    pub(crate) fn announce_commands(&self, session: &Session) {
        let commands = session.log.state(|state| state.commands.clone());
        if commands.is_empty() {
            return;
        }
        let log = session.log.clone();
        self.background.run(async move { log.announce(AvailableCommandsUpdate::new(commands).into()) });
    }

    /// Opens a stored session, unless the request is cancelled or another one aborts it. With `replay`, sends all its updates
    /// again.
    pub(crate) async fn reopen(
        &self,
        id: SessionId,
        setup: Setup,
        replay: bool,
        client: &RemoteClient,
        cancelled: Cancelled,
    ) -> Result<Arc<Session>, Error> {
        let slot = self.sessions.acquire(&id)?;
        let aborted = select(cancelled, slot.abort.wait());
        let opening = pin!(self.read(&slot, id, setup, replay, client));
        match select(aborted, opening).await {
            Either::Left(_) => Err(Error::request_cancelled()),
            Either::Right((session, _)) => {
                let session = session?;
                slot.put(session.clone());
                if let Some(previous) = slot.previous.clone() {
                    let claim = slot.claim();
                    self.background.run(async move {
                        previous.close().await;
                        drop(claim);
                    });
                }
                Ok(session)
            }
        }
    }

    async fn read(
        &self,
        slot: &SlotGuard<'_>,
        id: SessionId,
        setup: Setup,
        replay: bool,
        client: &RemoteClient,
    ) -> Result<Arc<Session>, Error> {
        self.claim(slot).await?;
        if let Some(previous) = &slot.previous {
            // A mode or an option that the client has set may still be queued.
            previous.log.flush().await;
        }
        let store = &self.settings.store;
        let read = store.read(&id).await;
        self.settings.warn_of_store();
        let Some(stored) = read.map_err(unreadable)? else {
            let why = format!("there is no session {id}");
            return Err(Error::new(error_code::RESOURCE_NOT_FOUND, why));
        };
        let (mut header, mut records) = (stored.header, stored.records);
        if header.cwd != setup.roots[0] {
            let why = format!("the session works in {:?}, so that must be its cwd", header.cwd);
            return Err(Error::invalid_params(why));
        }
        let mut state = self.initial_state(client);
        state.title.clone_from(&header.title);
        let before = header.clone();
        let mut sent = replay.then(|| Replay::new(client));
        let mut number = 0;
        while let Some(record) = records.try_next().await.map_err(unreadable)? {
            number += 1;
            let update: SessionUpdate = match record.decode() {
                Ok(update) => update,
                // The store has checked the record, so the others are sound.
                Err(why) => {
                    let (session_id, reason) = (id.clone(), why.to_string());
                    self.settings.warn(Warning::Record { session_id, number, reason });
                    continue;
                }
            };
            state.restore(&update);
            header.note_first_words(&update);
            let adapted = sent.as_mut().and_then(|sent| sent.adapt(update, &self.settings.state, number));
            let fitting = adapted.and_then(|update| self.fit(update, record.len(), &id, number));
            if let Some(update) = fitting {
                client.send_update(&id, update).await?;
            }
        }
        self.fail_open_calls(&id, &mut state, replay.then_some(client)).await?;
        // The journal is written before the header, so its title is the newer one.
        header.title.clone_from(&state.title);
        header.additional_directories = setup.roots[1..].to_vec();
        if header != before {
            store.update_header(&header).await.map_err(unwritable)?;
        }
        self.open(header, state, setup, client)
    }

    /// Returns a recorded update. One over the limit is shortened or left out, and reported.
    fn fit(&self, update: SessionUpdate, bytes: usize, id: &SessionId, number: u64) -> Option<SessionUpdate> {
        let limit = self.settings.update_limit;
        if bytes <= limit {
            return Some(update);
        }
        let short = shorten(&update, bytes, limit);
        let (session_id, shortened) = (id.clone(), short.is_some());
        self.settings.warn(Warning::LongRecord { session_id, number, bytes, limit, shortened });
        short
    }

    /// Sets the status `failed` of the tool calls that were open when an earlier process ended, because a client would wait for
    /// their end for ever.
    async fn fail_open_calls(
        &self,
        id: &SessionId,
        state: &mut SessionState,
        replay_to: Option<&RemoteClient>,
    ) -> Result<(), Error> {
        let why = "the agent ended before it was done";
        let failed = |call: &ToolCallId| ended_call(call.clone(), ToolCallStatus::Failed, why);
        let failed: Vec<SessionUpdate> = state.open_calls().iter().map(failed).collect();
        if failed.is_empty() {
            return Ok(());
        }
        failed.iter().for_each(|update| state.apply(update));
        let records: Result<Vec<_>, _> = failed.iter().map(RawJson::encode).collect();
        let records = records.map_err(Error::internal_error)?;
        self.settings.store.append(id, &records).await.map_err(unwritable)?;
        let Some(client) = replay_to else { return Ok(()) };
        for update in failed {
            client.send_update(id, update).await?;
        }
        Ok(())
    }
}

/// Warns of each server that cannot be used, once, until the hub is closed. A server that is removed and added again is
/// reported again.
async fn watch(hub: Hub, session_id: SessionId, settings: Arc<Settings>) {
    let mut reported = Vec::new();
    let mut changes = hub.changes();
    while !hub.is_closed() {
        let servers = hub.status();
        reported.retain(|name| servers.iter().any(|server| server.name == *name));
        for server in &servers {
            if server.state.reason().is_some() && !reported.contains(&server.name) {
                reported.push(server.name.clone());
                let (server, state) = (server.name.clone(), server.state.clone());
                settings.warn(Warning::McpServer { session_id: session_id.clone(), server, state });
            }
        }
        let _closed = changes.next().await;
    }
}

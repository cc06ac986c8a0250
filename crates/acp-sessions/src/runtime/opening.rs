//! How a session comes to be open.

use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;

use agentwire_acp_agent::{Client, Context, Error};
use agentwire_acp_schema::v1::{
    AvailableCommandsUpdate, McpServer, SessionId, SessionNotification, SessionUpdate, error_code,
};
use agentwire_jsonrpc::RawJson;
use agentwire_mcp_hub::{Hub, ServerConfig, ServerState, ServerStatus};
use futures::TryStreamExt;
use futures::future::{Either, select};

use super::{Runtime, unreadable, unwritable};
use crate::builder::Settings;
use crate::facts::{Facts, told};
use crate::outbox::Outbox;
use crate::registry::Occupied;
use crate::session::Session;
use crate::shorten::shortened;
use crate::store::SessionHeader;
use crate::warning::Warning;
use crate::{setup, turn};

/// Where a session works and what with, as a request that opens one says it.
pub(super) struct Setup {
    pub(super) roots: Vec<PathBuf>,
    servers: Vec<ServerConfig>,
}

impl<F> Runtime<F> {
    /// Where the session works and its servers, checked before anything is changed.
    pub(super) fn setup(
        &self,
        cwd: PathBuf,
        directories: Vec<PathBuf>,
        servers: &[McpServer],
    ) -> Result<Setup, Error> {
        let limits = (self.settings.path_limit, self.settings.setup_limit);
        setup::check(&cwd, &directories, servers, limits)?;
        let mut all = self.settings.servers.clone();
        all.extend(setup::servers(servers, &cwd)?);
        let roots = std::iter::once(cwd).chain(directories).collect();
        Ok(Setup { roots, servers: all })
    }

    /// Opens a session that is in the store. Its servers are connected to meanwhile: who calls a tool waits for them,
    /// nobody else.
    pub(super) fn open(
        &self,
        header: SessionHeader,
        facts: Facts,
        setup: Setup,
    ) -> Result<Arc<Session>, Error> {
        let id = header.session_id.clone();
        let (hub, driver) = Hub::with_config(self.settings.hub.clone(), setup.servers);
        let outbox =
            Arc::new(Outbox::new(self.settings.store.clone(), header, facts, self.settings.update_limit));
        let session = Arc::new(Session::new(id.clone(), setup.roots, hub.clone(), outbox.clone())?);
        self.background.run(driver);
        self.background.run(outbox.drive());
        if self.settings.on_warning.is_some() {
            self.background.run(watch(hub, id, self.settings.clone()));
        }
        Ok(session)
    }

    /// Says which commands there are, once the client knows the session that they are for: there are clients that
    /// wait for ever when an update comes before the answer that names its session.
    pub(super) fn announce_commands(&self, session: &Session, client: &Client) {
        let commands = session.outbox.facts(|facts| facts.commands.clone());
        if commands.is_empty() {
            return;
        }
        let update = SessionUpdate::from(AvailableCommandsUpdate::new(commands));
        let (outbox, client) = (session.outbox.clone(), client.clone());
        self.background.run(async move { outbox.announce(&client, update).await });
    }

    /// Opens a session of the store, with or without saying all of it again.
    pub(super) async fn reopen(
        &self,
        id: SessionId,
        setup: Setup,
        replay: bool,
        context: &Context,
    ) -> Result<Arc<Session>, Error> {
        let occupied = self.sessions.occupy(&id)?;
        let given_up = select(context.cancelled(), occupied.abort.wait());
        let work = pin!(self.read(&occupied, id, setup, replay, context.client()));
        match select(given_up, work).await {
            Either::Left(_) => Err(Error::request_cancelled()),
            Either::Right((session, _)) => {
                let session = session?;
                occupied.put(session.clone());
                if let Some(before) = occupied.before.clone() {
                    let claim = occupied.claim();
                    self.background.run(async move {
                        before.close().await;
                        drop(claim);
                    });
                }
                Ok(session)
            }
        }
    }

    async fn read(
        &self,
        occupied: &Occupied<'_>,
        id: SessionId,
        setup: Setup,
        replay: bool,
        client: &Client,
    ) -> Result<Arc<Session>, Error> {
        self.claim(occupied).await?;
        if let Some(before) = &occupied.before {
            // What was said by the session itself may still be on its way into the journal.
            before.outbox.flush().await;
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
        let mut facts = self.settings.facts.clone();
        let before = header.clone();
        let mut number = 0;
        while let Some(record) = records.try_next().await.map_err(unreadable)? {
            number += 1;
            let update: SessionUpdate = match record.decode() {
                Ok(update) => update,
                // The store has kept it well, so the others can be relied on.
                Err(why) => {
                    let (session_id, reason) = (id.clone(), why.to_string());
                    self.settings.warn(Warning::Record { session_id, number, reason });
                    continue;
                }
            };
            facts.recall(&update);
            if let SessionUpdate::SessionInfoUpdate(info) = &update {
                // The journal is written first, so it knows better than the header.
                info.title.clone().apply(&mut header.title);
            }
            // What this client cannot take it is not told.
            if replay && client.check_update(&update).is_ok() {
                let update = told(client, update);
                if let Some(update) = self.fitting(update, record.len(), &id, number) {
                    client.session_update(SessionNotification::new(&id, update)).await?;
                }
            }
        }
        self.end_left_calls(&id, &mut facts, replay.then_some(client)).await?;
        header.additional_directories = setup.roots[1..].to_vec();
        if header != before {
            store.update_header(&header).await.map_err(unwritable)?;
        }
        self.open(header, facts, setup)
    }

    /// A recorded update as it can be sent: one that is longer than a client takes is shortened, or left out, and reported.
    fn fitting(
        &self,
        update: SessionUpdate,
        bytes: usize,
        id: &SessionId,
        number: u64,
    ) -> Option<SessionUpdate> {
        let limit = self.settings.update_limit;
        if bytes <= limit {
            return Some(update);
        }
        let short = shortened(&update, bytes, limit);
        let (session_id, shortened) = (id.clone(), short.is_some());
        self.settings.warn(Warning::LongRecord { session_id, number, bytes, limit, shortened });
        short
    }

    /// Tool calls that were under way when an earlier life of the session ended have failed. Nobody has said so yet, and
    /// a client would wait for their end for ever.
    async fn end_left_calls(
        &self,
        id: &SessionId,
        facts: &mut Facts,
        told: Option<&Client>,
    ) -> Result<(), Error> {
        let failed = |call| turn::failed(call, "the agent ended before it was done");
        let failed: Vec<SessionUpdate> = facts.take_open_calls().into_iter().map(failed).collect();
        if failed.is_empty() {
            return Ok(());
        }
        let records: Result<Vec<_>, _> = failed.iter().map(RawJson::encode).collect();
        let records = records.map_err(Error::internal_error)?;
        self.settings.store.append(id, &records).await.map_err(unwritable)?;
        let Some(client) = told else { return Ok(()) };
        for update in failed {
            client.session_update(SessionNotification::new(id, update)).await?;
        }
        Ok(())
    }
}

/// Tells of servers that cannot be used, until the hub is closed.
async fn watch(hub: Hub, session_id: SessionId, settings: Arc<Settings>) {
    let mut told = Vec::new();
    let mut seen = 0;
    loop {
        let servers = hub.status();
        for server in &servers {
            if server.state.reason().is_some() && !told.contains(&server.name) {
                told.push(server.name.clone());
                let (server, state) = (server.name.clone(), server.state.clone());
                settings.warn(Warning::McpServer { session_id: session_id.clone(), server, state });
            }
        }
        let is_over = |server: &ServerStatus| {
            !server.state.is_connected()
                && !matches!(server.state, ServerState::Connecting | ServerState::Restarting(_))
        };
        if servers.iter().all(is_over) {
            return;
        }
        hub.changed(&mut seen).await;
    }
}

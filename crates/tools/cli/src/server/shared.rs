//! `server --redis`, `--store` and `--keys`: the state that the server keeps outside of its process and shares with other nodes.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use agentwire_mcp_server::Server;
use agentwire_seal::SealingKeys;
use agentwire_store::{FileStore, FileStoreConfig, Node, Stores};
use agentwire_transport_http::server::{EndpointConfig, SealedSessions};
use anyhow::{Context as _, Result};

use super::arguments::Sharing;
use super::nodes::Engine;
use crate::arguments::files::read_secret_text;
use crate::failure::Usage;
use crate::output::text::Notes;

/// The timeout for the engine to release the node's lease: 1 s. After that, the lease expires by itself.
const RELEASE_LIMIT: Duration = Duration::from_secs(1);

/// The most bytes of a file of keys: 64 KiB. Two keys and some comments are far shorter.
const KEYS_LIMIT: u64 = 64 << 10;

/// The parts of a server that are kept outside of its process: none, unless the command line names a store or keys.
pub(super) struct Shared {
    /// `None` if the state is not in a store.
    node: Option<Node>,
    engine: Option<Engine>,
    keys: Option<SealingKeys>,
}

impl Shared {
    /// Opens the store that the command line names.
    pub(super) async fn open(sharing: &Sharing, notes: &Notes) -> Result<Self> {
        let keys = sharing.keys.as_deref().map(read_keys).transpose()?;
        if let Some(folder) = &sharing.store {
            let stores = file_stores(folder, notes)?;
            let node = Node::join(stores).await.context("--store")?;
            return Ok(Self { node: Some(node), engine: None, keys });
        }
        let (node, engine) = Engine::join(&sharing.nodes, keys.is_some()).await?.unzip();
        Ok(Self { node, engine, keys })
    }

    /// Adds the node, or the keys for sealed sessions, to the configuration of an endpoint.
    pub(super) fn of_endpoint(&self, config: EndpointConfig) -> EndpointConfig {
        match (&self.node, &self.keys) {
            (Some(node), _) => config.node(node.clone()),
            (None, Some(keys)) => config.sealed_sessions(SealedSessions::new(keys.clone())),
            (None, None) => config,
        }
    }

    /// Whether other nodes can read the tasks of this one.
    pub(super) fn has_tasks(&self) -> bool {
        self.engine.is_some()
    }

    /// The server as one of several nodes.
    pub(super) fn of_server(&self, server: Server) -> Server {
        let server = match &self.engine {
            Some(engine) => engine.share_tasks(server),
            None => server,
        };
        let server = match &self.keys {
            Some(keys) => server.input(|input| input.keys(keys.clone())),
            None => server,
        };
        match &self.node {
            Some(node) => server.node(node.clone()),
            None => server,
        }
    }

    /// Notifies the other nodes that this one has ended.
    pub(super) async fn release(&self) {
        if let Some(node) = &self.node {
            // If the engine cannot be reached, the lease expires by itself.
            let _released = tokio::time::timeout(RELEASE_LIMIT, node.release()).await;
        }
    }
}

/// The store in a folder, for one process at a time.
fn file_stores(folder: &Path, notes: &Notes) -> Result<Stores> {
    let name = || format!("--store {}", folder.display());
    let store = FileStore::open(folder, &FileStoreConfig::new()).with_context(name)?;
    if let Some(place) = store.damage() {
        notes.add(&format!(
            "warning: {}: the journal is damaged at byte {place}; what comes after it is lost, and kept as journal.damaged",
            name()
        ));
    }
    Ok(Arc::new(store).stores())
}

fn read_keys(path: &Path) -> Result<SealingKeys> {
    let refused = |why: &dyn std::fmt::Display| Usage(format!("--keys {}: {why}", path.display()));
    let text = read_secret_text(path, KEYS_LIMIT).map_err(|why| refused(&why))?;
    Ok(SealingKeys::parse(&text).map_err(|why| refused(&why))?)
}

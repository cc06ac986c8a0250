//! The settings of a server, and the counts that its clones share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use agentwire_mcp_schema::{Implementation, LoggingLevel, ResultMeta, ServerCapabilities};
use agentwire_store::Node;
use agentwire_transport::MessageSource;
use serde_json::value::{RawValue, to_raw_value};

use crate::Config;
use crate::SubscriptionLimits;
use crate::caching::Caching;
use crate::capability::Capability;
use crate::define::state_slots::States;
use crate::input::InputConfig;
use crate::listeners::{Change, Listeners};
use crate::quota::{Holder, Quota};
use crate::tasks::Tasks;
use crate::warning::{ServerWarning, Warnings};

/// The entries of a page of a list, by default.
const PAGE_SIZE: usize = 100;

#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) info: Implementation,
    /// The `_meta` that names the server.
    pub(crate) server_meta: Box<RawValue>,
    pub(crate) instructions: Option<String>,
    pub(crate) advertised: ServerCapabilities,
    pub(crate) logging: Option<LoggingLevel>,
    pub(crate) page_size: usize,
    pub(crate) caching: Caching,
    pub(crate) resource_updates: bool,
    pub(crate) subscription_limits: SubscriptionLimits,
    pub(crate) value_limit: usize,
    pub(crate) meta_limit: usize,
    /// Whether values are checked against the schemas of their tools; never without the feature `validate`.
    pub(crate) validate: bool,
    pub(crate) input: InputConfig,
    pub(crate) tasks: Option<Tasks>,
    pub(crate) connection: Config,
    pub(crate) warnings: Warnings,
    pub(crate) states: States,
    pub(crate) listeners: Listeners,
    /// The state that other nodes share.
    pub(crate) node: Option<Node>,
    /// Bytes of the URIs that clients watch.
    pub(crate) watched: Quota,
    /// Bytes of the arguments that clients' calls hold, as trees of values.
    pub(crate) values: Quota,
    /// How many sessions there have been.
    sessions: Arc<AtomicU64>,
}

impl Settings {
    pub(crate) const VALUE_LIMIT: usize = 32 * 1024 * 1024;
    pub(crate) const META_LIMIT: usize = 64 * 1024;

    pub(crate) fn new(info: Implementation) -> Self {
        Self {
            server_meta: encode_server_meta(&info),
            info,
            instructions: None,
            advertised: ServerCapabilities::default(),
            logging: None,
            page_size: PAGE_SIZE,
            caching: Caching::default(),
            resource_updates: false,
            subscription_limits: SubscriptionLimits::default(),
            value_limit: Self::VALUE_LIMIT,
            meta_limit: Self::META_LIMIT,
            validate: false,
            input: InputConfig::new(),
            tasks: None,
            connection: Config::new(),
            warnings: Warnings::default(),
            states: States::default(),
            listeners: Listeners::default(),
            node: None,
            watched: Quota::default(),
            values: Quota::default(),
            sessions: Arc::default(),
        }
    }

    pub(crate) fn set_title(&mut self, title: String) {
        self.info.title = Some(title);
        self.server_meta = encode_server_meta(&self.info);
    }

    pub(crate) fn set_node(&mut self, node: Node) {
        self.listeners.share(&node);
        self.listeners.receive(&node);
        if let Some(tasks) = &self.tasks {
            tasks.share(&node);
        }
        self.node = Some(node);
    }

    pub(crate) fn set_tasks(&mut self, tasks: Tasks) {
        if let Some(node) = &self.node {
            tasks.share(node);
        }
        self.tasks = Some(tasks);
    }

    /// Returns a number that no other session of this server has.
    pub(crate) fn number_session(&self) -> u64 {
        self.sessions.fetch_add(1, Ordering::Relaxed)
    }

    /// Whether the server logs, or advertises that it does.
    pub(crate) fn logs(&self) -> bool {
        self.logging.is_some() || self.advertised.has(Capability::Logging.path())
    }

    /// Announces a change of a resource to its subscribers.
    pub(crate) fn announce_update(&self, uri: &str) {
        if !self.resource_updates && !self.advertised.has(Capability::Updates.path()) {
            self.warnings.give(ServerWarning::NoResourceUpdates);
        }
        self.listeners.announce(Change::Resource(uri));
    }

    /// The sender of a request, as far as the server or the transport knows.
    pub(crate) fn sender(&self, source: Option<&dyn MessageSource>) -> Option<Holder> {
        let principal = self.input.principal_of(source).map(Holder::Principal);
        principal.or_else(|| Some(Holder::Sender(source?.sender()?.into_owned())))
    }
}

/// The `_meta` of results that names the server.
fn encode_server_meta(info: &Implementation) -> Box<RawValue> {
    to_raw_value(&ResultMeta::new(info.clone())).expect("the members of an implementation have a JSON form")
}

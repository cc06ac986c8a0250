//! A session: what the handshake of a connection agreed on. Up to revision 2025-11-25.

use std::sync::{Arc, OnceLock, Weak};

use agentwire_jsonrpc::{ErrorObject, NotificationMethod, RequestMethod};
use agentwire_mcp_schema::{
    Downgrade, Implementation, LoggingLevel, MethodInfo, PromptListChangedNotification,
    ResourceListChangedNotification, ResourceUpdatedNotification, Revision, ServerCapabilities,
    ToolListChangedNotification,
};
use agentwire_peer::runtime::{CallExt, PeerExt};
use agentwire_peer::{Call, CallError, Peer};
use agentwire_store::SessionId;
use agentwire_sync::{Mutex, MutexGuard};
use agentwire_transport::MessageSource;

use crate::capability::{Capability, CapabilitySet};
use crate::input::{AskError, Question, Questioner};
use crate::lazy_capabilities::LazyCapabilities;
use crate::listeners::{Change, Listener, ListenerGuard};
use crate::quota::{Holder, Share};
use crate::request::watch_list::WatchList;
use crate::settings::Settings;
use crate::tasks::new_name;
use crate::value_limit::decode_answer;

/// The state of a connection once `initialize` was answered.
pub(crate) struct Session {
    settings: Arc<Settings>,
    peer: Peer,
    negotiated: Negotiated,
    /// Set by `notifications/initialized`.
    listening: OnceLock<ListenerGuard>,
    /// The least level of log messages that are sent; `None` if the server does not log.
    level: Mutex<Option<LoggingLevel>>,
    /// The URIs that the client subscribed to. Each named a resource when it was added.
    watched: Mutex<WatchList>,
    /// A number that no other session of the server has.
    number: u64,
    /// The memory of the client's `initialize`.
    _client: Option<Share>,
    /// Its name as the owner of tasks, once it has any.
    name: OnceLock<SessionName>,
}

struct SessionName {
    text: Box<str>,
    /// Whether it is the id of the session, by which other nodes may have it too.
    is_shared: bool,
}

/// The result of the handshake.
pub(crate) struct Negotiated {
    pub(crate) revision: Revision,
    pub(crate) client_info: Implementation,
    pub(crate) client_capabilities: LazyCapabilities,
    /// The capabilities that were advertised, which decide what is answered. Only their bits, because there may be
    /// thousands of sessions.
    pub(crate) offered: CapabilitySet,
}

impl Session {
    pub(crate) fn new(
        settings: &Arc<Settings>,
        peer: &Peer,
        negotiated: Negotiated,
        number: u64,
        client: Option<Share>,
    ) -> Self {
        Self {
            settings: settings.clone(),
            peer: peer.unrelated(),
            negotiated,
            listening: OnceLock::new(),
            level: Mutex::new(settings.logging.clone()),
            watched: Mutex::default(),
            number,
            _client: client,
            name: OnceLock::new(),
        }
    }

    pub(crate) fn negotiated(&self) -> &Negotiated {
        &self.negotiated
    }

    pub(crate) fn is_offered(&self, capability: Capability) -> bool {
        self.negotiated.offered.has(capability)
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Whether a log message at that level is sent.
    pub(crate) fn wants_log(&self, level: &LoggingLevel) -> bool {
        let least = self.level.lock();
        least.as_ref().is_some_and(|least| level >= least)
    }

    /// Starts to send notifications of changes.
    pub(crate) fn open(self: &Arc<Self>) {
        let this: Weak<Self> = Arc::downgrade(self);
        self.listening.get_or_init(|| self.settings.listeners.add(this));
    }

    /// Sends a request, unless the client cannot answer it.
    pub(crate) fn call<M: RequestMethod + Downgrade>(
        &self,
        peer: &Peer,
        mut request: M,
    ) -> Call<M::Response> {
        let Negotiated { revision, client_capabilities, .. } = &self.negotiated;
        let client_capabilities = client_capabilities.get();
        // The server's own capabilities do not matter to a request of the server's.
        let is_allowed = MethodInfo::find_in(M::NAME, *revision).is_some_and(|method| {
            method.is_allowed(*revision, client_capabilities, &ServerCapabilities::default())
        });
        if !is_allowed {
            let why = "the client did not say that it can answer this";
            return Call::failed(CallError::not_allowed(M::NAME, why));
        }
        // A capability counts only in a revision that has it.
        let mut can = client_capabilities.clone();
        can.downgrade(*revision);
        let lacking = request.lacks(&|capability| can.has(capability));
        request.downgrade(*revision);
        if let Err(unsupported) = request.fits(*revision) {
            return Call::failed(CallError::not_allowed(M::NAME, unsupported.to_string()));
        }
        if let Some(capability) = lacking {
            let why = format!("the client did not say that it has the capability `{capability}`");
            return Call::failed(CallError::not_allowed(M::NAME, why));
        }
        peer.call(&request).decode_by(decode_answer)
    }

    /// Asks the client through that peer; without one, the question belongs to no request.
    pub(crate) fn questioner<'a>(&'a self, peer: Option<&'a Peer>) -> SessionQuestioner<'a> {
        SessionQuestioner { session: self, peer: peer.unwrap_or(&self.peer) }
    }

    /// Its name as the owner of tasks: the id by which all nodes know the session, where the transport has one. Otherwise it is
    /// random, because records outlive programs.
    pub(crate) fn name(&self, source: Option<&dyn MessageSource>) -> Result<&str, ErrorObject> {
        if let Some(name) = self.name.get() {
            return Ok(&name.text);
        }
        let name = match source.and_then(|source| source.extension::<SessionId>()) {
            Some(id) => SessionName { text: String::from(*id).into(), is_shared: true },
            None => SessionName { text: new_name()?.into(), is_shared: false },
        };
        Ok(&self.name.get_or_init(|| name).text)
    }

    /// The connection has ended. So has the session with its tasks, unless other nodes have it too: then those are
    /// [notified](agentwire_store::BusMessage::SessionEnded) when it ends.
    pub(crate) fn end_tasks(&self) {
        if let (Some(name), Some(tasks)) = (self.name.get(), &self.settings.tasks)
            && !(name.is_shared && tasks.registry().node().is_some())
        {
            tasks.registry().end_session(&name.text);
        }
    }

    /// Sets the least level of log messages that the client gets.
    pub(crate) fn set_level(&self, level: LoggingLevel) {
        *self.level.lock() = Some(level);
    }

    /// Notifies the client from now on when the resource changes.
    pub(crate) fn watch(&self, uri: &str, source: Option<&dyn MessageSource>) -> Result<(), ErrorObject> {
        let Settings { subscription_limits, watched, .. } = &*self.settings;
        let holder = || self.settings.sender(source).unwrap_or(Holder::Session(self.number));
        self.watched().add(uri, subscription_limits, watched, holder)
    }

    pub(crate) fn unwatch(&self, uri: &str) {
        self.watched().remove(uri);
    }

    fn watched(&self) -> MutexGuard<'_, WatchList> {
        self.watched.lock()
    }

    fn notify<N: NotificationMethod>(&self, capability: Capability, notification: &N) {
        if self.is_offered(capability) {
            // A closed connection takes no notification.
            let _closed = self.peer.notify_coalesced(notification);
        }
    }
}

/// A question in a session is a request. It is withdrawn when the call that asks is cancelled.
pub(crate) struct SessionQuestioner<'a> {
    session: &'a Session,
    peer: &'a Peer,
}

impl SessionQuestioner<'_> {
    /// Asks the client, with the timeout of questions.
    pub(crate) fn call<Q: Question>(&self, question: Q) -> Call<Q::Response> {
        let call = self.session.call(self.peer, question);
        match self.session.settings.input.timeout {
            Some(timeout) => call.timeout(timeout),
            None => call,
        }
    }
}

impl Questioner for SessionQuestioner<'_> {
    async fn ask<Q: Question>(&self, _key: &str, question: Q) -> Result<Q::Response, AskError> {
        Ok(self.call(question).await?)
    }
}

impl Listener for Session {
    fn on_change(&self, change: Change<'_>) {
        match change {
            Change::Tools => self.notify(Capability::ToolChanges, &ToolListChangedNotification::default()),
            Change::Prompts => {
                self.notify(Capability::PromptChanges, &PromptListChangedNotification::default())
            }
            Change::Resources => {
                self.notify(Capability::ResourceChanges, &ResourceListChangedNotification::default())
            }
            Change::Resource(uri) if self.watched().find(uri).is_some() => {
                self.notify(Capability::Updates, &ResourceUpdatedNotification::new(uri));
            }
            Change::Resource(_) => {}
            Change::Task(_) => {}
            Change::Anything => {
                let uris: Vec<_> = self.watched().iter().cloned().collect();
                [Change::Tools, Change::Prompts, Change::Resources]
                    .into_iter()
                    .chain(uris.iter().map(|uri| Change::Resource(uri)))
                    .for_each(|change| self.on_change(change));
            }
        }
    }
}

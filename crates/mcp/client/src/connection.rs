//! One connection to a server: the peer, the results of the handshake, and the parts that all calls share.

pub(crate) mod cleanup;
pub(crate) mod connecting;

use std::sync::Arc;

use agentwire_jsonrpc::{RawJson, RequestMethod, Skipped, collect_skipped};
use agentwire_mcp_schema::{
    CallToolRequest, ClientCapabilities, Implementation, ListToolsRequest, Revision, ServerCapabilities,
    SubscriptionFilter, Tool,
};
use agentwire_peer::{CallError, Peer};
use bytestring::ByteString;
use serde::de::DeserializeOwned;

use crate::cache::ConnectionCache;
use crate::changes::subscription::Subscriptions;
use crate::changes::{ChangeQueue, QueueRegistration, SessionQueues};
use crate::connection::cleanup::Cleanup;
use crate::handler::answers::{Agreed, AnswerFuture, Answers};
use crate::handler::hooks::{Hook, ProgressHooks, call_hook};
#[cfg(feature = "validate")]
use crate::output::Outputs;
use crate::raw::Waits;
use crate::request::stamp::Stamp;
use crate::tools::Tools;
use crate::{Tasks, Warning, result};

/// One connection to a server: the peer, the results of the handshake, and the parts that all calls share.
pub(crate) struct Connection {
    pub(crate) peer: Peer,
    pub(crate) server: HandshakeResult,
    pub(crate) on_warning: Hook<Warning>,
    /// The open `subscriptions/listen` requests, at a modern server.
    pub(crate) subscriptions: Subscriptions,
    /// Serve [`RemoteServer::changes`](crate::RemoteServer::changes) in a session.
    pub(crate) session_queues: SessionQueues,
    pub(crate) answers: Answers,
    pub(crate) agreed: Agreed,
    /// Only for a modern server.
    pub(crate) cache: Option<Arc<ConnectionCache>>,
    /// How tasks are followed; `None` if they are not.
    pub(crate) tasks: Option<Tasks>,
    /// `None` if no setting of the client needs them.
    pub(crate) tools: Option<Arc<Tools>>,
    pub(crate) progress_hooks: ProgressHooks,
    pub(crate) cleanup: Cleanup,
    #[cfg(feature = "validate")]
    pub(crate) outputs: Option<Outputs>,
}

/// The results of the handshake with a server, and the time-outs of calls. MCP's `serverInfo` is the field `info`.
pub(crate) struct HandshakeResult {
    pub(crate) info: Implementation,
    pub(crate) capabilities: ServerCapabilities,
    pub(crate) instructions: Option<String>,
    pub(crate) revision: Revision,
    pub(crate) client_capabilities: ClientCapabilities,
    pub(crate) waits: Waits,
    /// The revisions that the client speaks.
    pub(crate) revisions: Vec<Revision>,
    /// The description of the client in every request. `None` in a session, which remembers it.
    pub(crate) stamp: Option<Stamp>,
}

impl Connection {
    pub(crate) fn is_modern(&self) -> bool {
        self.server.stamp.is_some()
    }

    /// The memory in bytes that one decoded message may take.
    pub(crate) fn value_limit(&self) -> usize {
        self.answers.value_limit
    }

    /// Answers a question of the server; `None` if the client has no function for that method.
    pub(crate) fn answer(&self, method: &str, params: Option<&RawJson>) -> Option<AnswerFuture> {
        self.answers.answer(method, params, &self.agreed)
    }

    /// Forgets cached results of a method.
    pub(crate) fn forget(&self, method: &str) {
        if let Some(cache) = &self.cache {
            cache.forget(&[method]);
        }
    }

    /// Forgets cached lists of tools.
    pub(crate) fn forget_tools(&self) {
        self.forget(ListToolsRequest::NAME);
    }

    /// Decodes a result, and warns of the parts that it leaves out.
    pub(crate) fn decode<R: DeserializeOwned>(
        &self,
        method: ByteString,
        text: &RawJson,
    ) -> Result<R, CallError> {
        let (decoded, skipped) = collect_skipped(|| result::decode(text, self.value_limit()));
        match decoded {
            Ok(decoded) => {
                self.warn_skipped(&method, skipped);
                if method == CallToolRequest::NAME && !has_content(text) {
                    self.warn_skipped(&method, Skipped::part("content", "Vec", &"missing field `content`"));
                }
                Ok(decoded)
            }
            Err(why) => {
                // The next call must not get this result from the cache.
                self.forget(&method);
                Err(result::malformed(method, &why))
            }
        }
    }

    /// Warns of the parts that are left out of an answer to the method.
    pub(crate) fn warn_skipped(&self, method: &str, skipped: Skipped) {
        if !skipped.is_empty() {
            self.warn(Warning::PartsLeftOut { method: method.to_owned(), skipped });
        }
    }

    pub(crate) fn warn(&self, warning: Warning) {
        call_hook(&self.on_warning, Some(warning));
    }

    /// Subscribes a queue to the changes of a session.
    pub(crate) fn subscribe(
        &self,
        filter: SubscriptionFilter,
        queue: &Arc<ChangeQueue>,
    ) -> QueueRegistration {
        let registration = self.session_queues.open(filter, queue);
        call_hook(&self.on_warning, self.session_queues.take_warning());
        registration
    }

    /// Keeps a list's facts about a tool. Returns false for a tool that is left out of lists.
    pub(crate) fn keeps_tool(&self, tool: &Tool) -> bool {
        #[cfg(feature = "validate")]
        if let Some(outputs) = &self.outputs {
            outputs.learn(tool);
        }
        if let Some(tools) = &self.tools {
            tools.learn(tool);
        }
        if self.is_modern()
            && let Err(wrong) = tool.header_marks()
        {
            self.warn(Warning::ToolLeftOut { tool: tool.name.clone(), why: wrong.to_string() });
            return false;
        }
        true
    }
}

/// Whether the result of a call has one of the members that hold its outcome.
fn has_content(result: &RawJson) -> bool {
    let has = |name| result.member(name).is_some_and(|value| !value.is_null());
    ["content", "structuredContent", "task"].into_iter().any(has)
}

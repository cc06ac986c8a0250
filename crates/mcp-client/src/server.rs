use std::fmt;
use std::sync::Arc;

use agentwire_jsonrpc::{Method, Notification, RawJson};
use agentwire_mcp_schema::core_tasks::ListTasksRequest;
use agentwire_mcp_schema::{
    CallToolRequest, ClientCapabilities, CompleteRequest, GetPromptRequest, HasMeta, Implementation,
    ListPromptsRequest, ListResourceTemplatesRequest, ListResourcesRequest, ListToolsRequest, LoggingLevel,
    MethodInfo, Narrow, PingRequest, ReadResourceRequest, Revision, ServerCapabilities, SetLevelRequest,
    SubscribeRequest, SubscriptionFilter, SubscriptionsListenRequest, Tool, UnsubscribeRequest,
};
use agentwire_peer::{CallError, Closed, Peer};
use futures::future::BoxFuture;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::answers::{Agreed, Answering, Answers};
use crate::cache::Connected;
use crate::call::{Check, Options, Waits};
use crate::era::stateless::Stateless;
use crate::front::{Front, Hook, set, tell};
#[cfg(feature = "validate")]
use crate::output::Outputs;
use crate::subscription::Subscriptions;
use crate::tasks::{Leave, ProgressHooks, Supports, handle};
use crate::{Call, Pages, Subscription, Task, Tasks, Warning};

/// A handle on the server, after the handshake. Cloning is cheap.
///
/// Every method that asks something gives a [`Call`] to be awaited.
#[derive(Clone)]
pub struct Server {
    pub(crate) peer: Peer,
    shared: Arc<Shared>,
}

struct Shared {
    terms: Terms,
    on_warning: Hook<Warning>,
    subscriptions: Subscriptions,
    answers: Answers,
    agreed: Agreed,
    cache: Option<Arc<Connected>>,
    tasks: Option<Tasks>,
    supports: Arc<Supports>,
    progress_hooks: ProgressHooks,
    leave: Leave,
    #[cfg(feature = "validate")]
    outputs: Option<Outputs>,
}

/// What the handshake found out, and how long to wait.
pub(crate) struct Terms {
    pub(crate) info: Implementation,
    pub(crate) capabilities: ServerCapabilities,
    pub(crate) instructions: Option<String>,
    pub(crate) revision: Revision,
    pub(crate) client_capabilities: ClientCapabilities,
    pub(crate) waits: Waits,
    /// The revisions that the client speaks.
    pub(crate) revisions: Vec<Revision>,
    /// What requests say of themselves, where no session remembers it.
    pub(crate) stateless: Option<Stateless>,
}

impl Server {
    pub(crate) fn new(peer: Peer, terms: Terms, front: &Front) -> Self {
        let shared = Shared {
            terms,
            on_warning: front.on_warning.clone(),
            subscriptions: front.subscriptions.clone(),
            answers: front.answers.clone(),
            agreed: front.agreed.clone(),
            cache: front.connected.clone(),
            tasks: front.tasks.clone(),
            supports: front.supports.clone(),
            progress_hooks: front.progress_hooks.clone(),
            leave: front.leave.clone(),
            #[cfg(feature = "validate")]
            outputs: front.checks_output.then(Outputs::default),
        };
        Self { peer, shared: Arc::new(shared) }
    }

    /// Who the server says it is. A stateless server need not say it; its name is empty then.
    pub fn info(&self) -> &Implementation {
        &self.shared.terms.info
    }

    /// What the server offers.
    pub fn capabilities(&self) -> &ServerCapabilities {
        &self.shared.terms.capabilities
    }

    /// How to use the server, in words for the model.
    pub fn instructions(&self) -> Option<&str> {
        self.shared.terms.instructions.as_deref()
    }

    /// The revision of the protocol that was agreed on, which tells the era too.
    pub fn revision(&self) -> Revision {
        self.shared.terms.revision
    }

    /// The server's tools.
    ///
    /// Since 2026-07-28, those whose schema asks for HTTP headers in a way that it must not are left out, on any
    /// transport; [`Client::on_warning`](crate::Client::on_warning) hears which and why.
    pub fn tools(&self) -> Pages<ListToolsRequest> {
        Pages::new(self.clone()).keeping(Self::keeps_tool)
    }

    /// The server's resources.
    pub fn resources(&self) -> Pages<ListResourcesRequest> {
        Pages::new(self.clone())
    }

    /// The patterns of the resources that the server does not list one by one.
    pub fn resource_templates(&self) -> Pages<ListResourceTemplatesRequest> {
        Pages::new(self.clone())
    }

    /// The server's prompts.
    pub fn prompts(&self) -> Pages<ListPromptsRequest> {
        Pages::new(self.clone())
    }

    /// Calls a tool. The arguments are anything whose JSON is an object, or `()` for none.
    ///
    /// A tool that failed gives a result with `is_error`, which is for the model to read, not an error. Where the server
    /// makes a task of it, and the client [follows tasks](crate::Client::tasks), this is its result all the same.
    pub fn call_tool<A: Serialize>(&self, name: impl Into<String>, arguments: A) -> Call<CallToolRequest> {
        let request = CallToolRequest::new(name);
        let encoded = match RawJson::encode(&arguments) {
            Ok(none) if none.is_null() => Ok(request),
            Ok(object) if object.as_str().starts_with('{') => Ok(request.arguments(object)),
            Ok(_) => Err("the arguments are no object".into()),
            Err(error) => Err(format!("the arguments cannot be sent: {error}")),
        };
        match encoded {
            Ok(request) => self.call(request),
            Err(why) => self.refuse(CallError::not_allowed(CallToolRequest::NAME, why)),
        }
    }

    /// A handle on a task that was started before, perhaps on another connection, by the [id](Task::id) that it had.
    /// Nothing is sent; whether there is such a task turns out when it is asked after.
    ///
    /// # Errors
    ///
    /// [`CallError::NotAllowed`] where the client was not given [`Tasks`], or the server did not say that it has tasks.
    pub fn task(&self, id: impl Into<String>) -> Result<Task, CallError> {
        handle::may_ask(self)?;
        Ok(Task::known(self.clone(), id.into()))
    }

    /// The tasks that the server has of ours. Only 2025-11-25, where the server says that it lists them.
    pub fn tasks(&self) -> Pages<ListTasksRequest> {
        Pages::new(self.clone())
    }

    /// Reads a resource.
    pub fn read_resource(&self, uri: impl Into<String>) -> Call<ReadResourceRequest> {
        self.call(ReadResourceRequest::new(uri))
    }

    /// Asks to hear of changes to a resource; see [`Client::on_resource_updated`](crate::Client::on_resource_updated).
    /// Until 2025-11-25; since then, [`listen`](Self::listen).
    pub fn subscribe(&self, uri: impl Into<String>) -> Call<SubscribeRequest> {
        self.call(SubscribeRequest::new(uri))
    }

    /// Asks not to hear of changes to a resource any more.
    pub fn unsubscribe(&self, uri: impl Into<String>) -> Call<UnsubscribeRequest> {
        self.call(UnsubscribeRequest::new(uri))
    }

    /// Gets a prompt with its arguments filled in.
    pub fn get_prompt(&self, request: GetPromptRequest) -> Call<GetPromptRequest> {
        self.call(request)
    }

    /// Asks how an argument might go on.
    pub fn complete(&self, request: CompleteRequest) -> Call<CompleteRequest> {
        self.call(request)
    }

    /// Asks for log messages from that level upwards; see [`Client::on_log`](crate::Client::on_log). Until
    /// 2025-11-25; [`Client::log_level`](crate::Client::log_level) is for every revision.
    pub fn set_logging_level(&self, level: LoggingLevel) -> Call<SetLevelRequest> {
        self.call(SetLevelRequest::new(level))
    }

    /// Asks whether the server is still there. Until 2025-11-25.
    pub fn ping(&self) -> Call<PingRequest> {
        self.call(PingRequest::default())
    }

    /// Asks to hear of changes for as long as the subscription that this gives is kept. Since 2026-07-28.
    ///
    /// What the server tells goes to what the client was given for it, such as
    /// [`Client::on_resource_updated`](crate::Client::on_resource_updated). A client that has something for
    /// changes of lists listens for these by itself.
    ///
    /// # Errors
    ///
    /// When the server refuses it, or does not say within the client's [time](crate::Client::timeout) for calls
    /// what it agrees to.
    pub async fn listen(&self, filter: SubscriptionFilter) -> Result<Subscription, CallError> {
        self.subscribe_to(filter, None).await
    }

    /// The same, and `hook` hears what the server tells on this subscription, in order, before the client does.
    ///
    /// # Errors
    ///
    /// As [`listen`](Self::listen) says.
    pub async fn listen_with(
        &self,
        filter: SubscriptionFilter,
        hook: impl FnMut(Notification) + Send + 'static,
    ) -> Result<Subscription, CallError> {
        self.subscribe_to(filter, set(hook)).await
    }

    async fn subscribe_to(
        &self,
        filter: SubscriptionFilter,
        hook: Hook<Notification>,
    ) -> Result<Subscription, CallError> {
        let mut request = self.prepare(SubscriptionsListenRequest::new(filter))?;
        self.stamp(&mut request);
        self.shared.subscriptions.open(&self.peer, &request, self.shared.terms.waits.timeout, hook).await
    }

    /// Asks anything that the protocol has.
    ///
    /// What the server did not say it can do is not asked: the call fails with [`CallError::NotAllowed`]. What
    /// its revision does not have is left out, and fails the call in the same way where nothing would be left.
    pub fn call<M: Method + Narrow + HasMeta>(&self, request: M) -> Call<M> {
        Call::new(self.clone(), self.prepare(request), self.shared.terms.waits)
    }

    /// Completes when the server has closed its side, or is gone, with the reason where there is one.
    pub async fn closed(&self) -> Closed {
        self.peer.closed().await
    }

    /// How tasks are followed, if they are.
    pub(crate) fn tasks_settings(&self) -> Option<&Tasks> {
        self.shared.tasks.as_ref()
    }

    /// Which of the tools that were listed can run as tasks.
    pub(crate) fn supports(&self) -> &Supports {
        &self.shared.supports
    }

    pub(crate) fn progress_hooks(&self) -> &ProgressHooks {
        &self.shared.progress_hooks
    }

    /// Does something more for a call that nobody waits for any more.
    pub(crate) fn leave(&self, what: BoxFuture<'static, ()>) {
        self.shared.leave.leave(what);
    }

    /// How much memory what one message of the server's says may take.
    pub(crate) fn value_limit(&self) -> usize {
        self.shared.answers.value_limit
    }

    /// The same for the result of a call.
    pub(crate) fn limit_of(&self, options: &Options) -> usize {
        if options.as_text { usize::MAX } else { self.value_limit() }
    }

    /// How long requests wait that say nothing else.
    pub(crate) fn waits(&self) -> Waits {
        self.shared.terms.waits
    }

    /// Whether the client speaks that revision.
    pub(crate) fn speaks(&self, revision: Revision) -> bool {
        self.shared.terms.revisions.contains(&revision)
    }

    pub(crate) fn is_stateless(&self) -> bool {
        self.shared.terms.stateless.is_some()
    }

    /// What a request without a `_meta` says there, where no session remembers it.
    pub(crate) fn about(&self) -> Option<&RawValue> {
        self.shared.terms.stateless.as_ref().map(Stateless::text)
    }

    /// Writes the same into the `_meta` of a request, beside what else is there.
    pub(crate) fn stamp(&self, request: &mut impl HasMeta) {
        if let Some(stateless) = &self.shared.terms.stateless {
            stateless.stamp(request);
        }
    }

    /// What the client was given to answer with.
    pub(crate) fn answers(&self) -> &Answers {
        &self.shared.answers
    }

    /// Answers what the server asks by a result; none if there is nothing to answer it with.
    pub(crate) fn answer(&self, method: &str, params: Option<&RawJson>) -> Option<Answering> {
        self.shared.answers.answer(method, params, &self.shared.agreed)
    }

    /// What checks the result of a request; none where there is nothing to check.
    #[cfg(feature = "validate")]
    pub(crate) fn check<M: Method>(&self, request: &M) -> Option<Check> {
        self.shared.outputs.as_ref()?.check(self, request)
    }

    #[cfg(not(feature = "validate"))]
    pub(crate) fn check<M: Method>(&self, _: &M) -> Option<Check> {
        None
    }

    /// Where results are kept, if this is so.
    pub(crate) fn cache(&self) -> Option<&Arc<Connected>> {
        self.shared.cache.as_ref().filter(|_| self.is_stateless())
    }

    /// Asks for the results of these methods anew the next time.
    pub(crate) fn forget(&self, methods: &[&str]) {
        if let Some(cache) = self.cache() {
            cache.forget(methods);
        }
    }

    pub(crate) fn warn(&self, warning: Warning) {
        tell(&self.shared.on_warning, Some(warning));
    }

    /// A request in the terms that were agreed on, if it may be made.
    fn prepare<M: Method + Narrow + HasMeta>(&self, mut request: M) -> Result<M, CallError> {
        let Terms { revision, client_capabilities, .. } = &self.shared.terms;
        let Some(method) = MethodInfo::find_in(M::NAME, *revision) else {
            return Err(CallError::not_allowed(M::NAME, format!("revision {revision} does not have it")));
        };
        if !method.is_allowed(*revision, client_capabilities, self.capabilities()) {
            return Err(CallError::not_allowed(M::NAME, "the server did not say that it offers this"));
        }
        request.narrow(*revision);
        request.fits(*revision).map_err(|misfit| CallError::not_allowed(M::NAME, misfit.to_string()))?;
        if request.meta_ref().is_some() {
            self.stamp(&mut request);
        }
        Ok(request)
    }

    fn keeps_tool(&self, tool: &Tool) -> bool {
        #[cfg(feature = "validate")]
        if let Some(outputs) = &self.shared.outputs {
            outputs.learn(tool);
        }
        if self.shared.tasks.is_some() && self.revision().has_core_tasks() {
            self.shared.supports.learn(tool);
        }
        if self.is_stateless()
            && let Err(wrong) = tool.header_marks()
        {
            self.warn(Warning::ToolLeftOut { tool: tool.name.clone(), why: wrong.to_string() });
            return false;
        }
        true
    }

    fn refuse<M>(&self, error: CallError) -> Call<M> {
        Call::new(self.clone(), Err(error), Waits::default())
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("info", self.info())
            .field("revision", &self.revision())
            .finish_non_exhaustive()
    }
}

//! `RawCall`: a request as it passes the layers, with its method, its params as JSON text and its time limits.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use agentwire_jsonrpc::runtime::Members;
use agentwire_jsonrpc::{RawJson, RawObject, RequestMethod};
use agentwire_mcp_schema::{CallToolRequest, GetPromptRequest, ReadResourceRequest};
use agentwire_mcp_wire::meta::PROGRESS_TOKEN;
use bytestring::ByteString;

use crate::handler::hooks::{ProgressHook, ProgressRegistration};
use crate::result::ResultKind;
use crate::tasks::report::{Report, StartedTask, TaskHook};
use crate::tools::Tools;

/// The methods that run the server author's code. That code may take long, report progress and ask questions.
pub(crate) const ASKING: [&str; 3] =
    [CallToolRequest::NAME, GetPromptRequest::NAME, ReadResourceRequest::NAME];

/// How long a call waits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Waits {
    pub(crate) timeout: Option<Duration>,
    /// How long progress can extend the time-out; `None` for ever.
    pub(crate) progress_maximum: Option<Duration>,
}

impl Waits {
    pub(crate) fn apply<R>(self, mut call: agentwire_peer::Call<R>) -> agentwire_peer::Call<R> {
        if let Some(timeout) = self.timeout {
            call = call.timeout(timeout);
        }
        call.progress_maximum(self.progress_maximum.unwrap_or(Duration::MAX))
    }
}

/// How a call is made.
#[derive(Clone, Default)]
pub(crate) struct CallOptions {
    pub(crate) waits: Waits,
    pub(crate) on_progress: Option<ProgressHook>,
    pub(crate) on_task: Option<TaskHook>,
    pub(crate) task_ttl: Option<Duration>,
    /// Whether the caller wants the task itself instead of its result.
    pub(crate) starts_task: bool,
}

/// A request on its way through the [layers](crate::Client#layers): a method, its parameters as JSON text, and how long to
/// wait for the answer.
///
/// A clone is cheap, and calling it again makes another request with the same hooks for progress and tasks.
#[derive(Clone)]
pub struct RawCall {
    pub(crate) method: ByteString,
    pub(crate) params: RawJson,
    pub(crate) options: CallOptions,
    /// Whether `_meta` already has the members that a modern request requires.
    pub(crate) is_stamped: bool,
    /// Whether the caller or a layer has put something into `_meta`.
    pub(crate) has_own_meta: bool,
    /// Whether the call was already repeated after a refusal that named the remedy.
    pub(crate) is_recovered: bool,
    /// The facts about the server's tools, if the client keeps them.
    pub(crate) tools: Option<Arc<Tools>>,
}

impl RawCall {
    /// The method, for example `tools/call`.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The parameters, an object. Those of a modern request include the `_meta` with which it is sent, except for the
    /// progress token.
    pub fn params(&self) -> &RawJson {
        &self.params
    }

    /// Replaces the parameters, including `_meta`. The `_meta` members of every modern request are added when the request is
    /// sent.
    pub fn set_params(&mut self, params: RawObject) {
        self.has_own_meta = params.contains_key("_meta");
        self.is_stamped = false;
        self.params = params.into();
    }

    /// The member of `_meta` with that name.
    pub fn meta(&self, name: &str) -> Option<RawJson> {
        self.params.member("_meta")?.member(name)
    }

    /// Sets a member of `_meta`, for example `traceparent`. The revision, the capabilities and the name of the client stay
    /// those of the connection. A call with such a member is neither answered from the [cache](crate::Cache) nor kept in it.
    pub fn set_meta(&mut self, name: impl AsRef<str>, value: impl Into<RawJson>) {
        self.has_own_meta = true;
        self.is_stamped = false;
        self.params = with_meta(&self.params, name.as_ref(), value);
    }

    /// How long each request waits for its answer; `None` for ever.
    pub fn timeout(&self) -> Option<Duration> {
        self.options.waits.timeout
    }

    /// Whether progress can extend the call's time-out. Such a call requests progress even without a hook.
    pub(crate) fn is_extended_by_progress(&self) -> bool {
        let Waits { timeout, progress_maximum } = self.options.waits;
        let extends = timeout.is_some_and(|timeout| progress_maximum.is_none_or(|maximum| maximum > timeout));
        let has_token = || self.has_own_meta && self.meta(PROGRESS_TOKEN).is_some();
        extends && ASKING.contains(&&*self.method) && !has_token()
    }

    /// Sets how long each request waits for its answer; `None` for ever.
    pub fn set_timeout(&mut self, timeout: impl Into<Option<Duration>>) {
        self.options.waits.timeout = timeout.into();
    }

    /// The name of the tool that is called; `None` for any other method.
    pub fn tool(&self) -> Option<Cow<'_, str>> {
        if &*self.method != CallToolRequest::NAME {
            return None;
        }
        let (_, name) = Members::of(self.params.as_str()).find(|(name, _)| name == "name")?;
        match name.strip_prefix('"')?.strip_suffix('"')? {
            plain if !plain.contains('\\') => Some(Cow::Borrowed(plain)),
            _ => self.params.part(name).decode().ok().map(Cow::Owned),
        }
    }
}

impl fmt::Debug for RawCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawCall")
            .field("method", &self.method)
            .field("params", &self.params)
            .field("waits", &self.options.waits)
            .finish_non_exhaustive()
    }
}

/// Returns the parameters with a member of `_meta` set.
pub(crate) fn with_meta(params: &RawJson, name: &str, value: impl Into<RawJson>) -> RawJson {
    // Parameters are objects wherever they come from.
    let mut params = RawObject::try_from(params.clone()).unwrap_or_default();
    let meta = params.get("_meta").and_then(|meta| RawObject::try_from(meta).ok());
    let mut meta = meta.unwrap_or_default();
    meta.insert(name, value);
    params.insert("_meta", meta);
    params.into()
}

/// A successful answer on its way back through the [layers](crate::Client#layers): the result as JSON text.
#[derive(Debug)]
pub struct RawAnswer {
    pub(crate) result: RawJson,
    pub(crate) kind: ResultKind,
    /// How often the request was repeated with answers to the server's questions.
    pub(crate) rounds: usize,
    /// The task that a call started, where the caller wants the task.
    pub(crate) task: Option<Box<StartedTask>>,
}

impl RawAnswer {
    /// An answer with this result, for layers that answer without the server.
    pub fn new(result: impl Into<RawJson>) -> Self {
        Self { result: result.into(), kind: ResultKind::Complete, rounds: 0, task: None }
    }

    /// Creates the answer that started a task.
    pub(crate) fn of_task(
        result: RawJson,
        report: Report,
        registration: Option<ProgressRegistration>,
    ) -> Self {
        Self { task: Some(Box::new(StartedTask { report, registration })), ..Self::new(result) }
    }

    /// The result. For a call that [started](crate::Call::start) a task, this is the server's answer that created it.
    pub fn result(&self) -> &RawJson {
        &self.result
    }

    /// Takes the result out.
    pub fn into_result(self) -> RawJson {
        self.result
    }

    /// Replaces the result.
    pub fn set_result(&mut self, result: impl Into<RawJson>) {
        self.result = result.into();
    }
}
